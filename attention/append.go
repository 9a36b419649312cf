package attention

import (
	"context"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/cache"
	"github.com/GOATnote-Inc/attest/problem"
)

// AppendProblem describes new keys and values of sequences and the cache that they are appended to. [AppendTo]
// makes one for the cache of an attention problem.
type AppendProblem = cache.Problem

// AppendTo returns the problem of appending up to tokens new tokens to each sequence of the cache of p. Keys and
// values of new tokens are in the format input, f16 or bf16. Set its further fields for new tokens that are
// packed, or to rotate keys.
func AppendTo(p Problem, input problem.Format, tokens int) AppendProblem {
	p = p.Filled()
	return AppendProblem{
		B: p.B, Hkv: p.Hkv, D: p.D, DV: p.DV, New: tokens, Skv: p.Skv, Pages: int(p.Names()["pages"].Int64()), PageSize: p.PageSize, Width: p.TableWidth,
		Input: input, Format: p.Format, Scaling: p.Scaling, Layout: p.Layout, Keys: p.Keys, Gaps: problem.Gaps{K: p.Gaps.K, V: p.Gaps.V},
	}
}

// AppendBuffers are the operands of [Append] in the memory of its device. Those that the problem does not have
// are nil.
type AppendBuffers struct {
	KNew, VNew       device.Buffer // elements in the input format, [B,New,Hkv,D], or [TotalNew,Hkv,D] if tokens are packed; V has its own D
	K, V             device.Buffer // the cache, as attention reads it
	Ks, Vs           device.Buffer // float32 scales of the cache: outputs if they are per token, otherwise inputs
	RopeCos, RopeSin device.Buffer // float32 [Positions,RopeDim/2], where K is rotated
	CacheSeqlens     device.Buffer // int32 [B], the lengths before the call
	CuSeqlensKNew    device.Buffer // int32 [B+1], where the new tokens of each sequence begin, if they are packed
	PageTable        device.Buffer // int32 [B,columns], where the cache is paged
}

func (b AppendBuffers) at(operand string) device.Buffer {
	return map[string]device.Buffer{
		"k_new": b.KNew, "v_new": b.VNew, "k": b.K, "v": b.V, "ks": b.Ks, "vs": b.Vs, "rope_cos": b.RopeCos, "rope_sin": b.RopeSin,
		"cache_seqlens": b.CacheSeqlens, "cu_seqlens_k_new": b.CuSeqlensKNew, "page_table": b.PageTable,
	}[operand]
}

// Append quantises new keys and values, rotates keys if the problem says so, and stores both behind the
// sequences of a cache. Several goroutines may use it.
type Append struct {
	*loaded
	problem AppendProblem
}

// NewAppend builds the kernel for a problem and loads it on the device.
func NewAppend(dev device.Device, p AppendProblem) (*Append, error) {
	k, err := cache.New(p, dev.Info().Target)
	if err != nil {
		return nil, wrap(err)
	}
	l, err := load(dev, k, p)
	if err != nil {
		return nil, wrap(err)
	}
	return &Append{l, p}, nil
}

// Kernel returns the kernel: its PTX and its call.
func (a *Append) Kernel() *kernel.Kernel { return a.program.Contract }

// Plan prepares a launch for a problem that differs from that of [NewAppend] only in sizes.
func (a *Append) Plan(p AppendProblem, b AppendBuffers) (*Plan, error) {
	if err := p.Check(); err != nil {
		return nil, wrap(err)
	}
	return a.plan(p, b.at)
}

// Launch appends to the cache and waits for the end.
func (a *Append) Launch(ctx context.Context, b AppendBuffers) error {
	return a.launch(ctx, a.problem, b.at)
}

// Close unloads the kernel. Later calls return an error, except Close, which has no effect then.
func (a *Append) Close() error { return a.close() }
