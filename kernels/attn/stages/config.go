package stages

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Config describes a kernel, one field per decision. The text of a kernel depends only on
// its Config, the facts of the problem and the target.
type Config struct {
	TileM int // query rows per block
	TileN int // keys per KV tile

	// Stages is the number of tiles of K and V that cp.async loads ahead: 1, 2 or 3. With 0,
	// threads load the bytes through registers.
	Stages int
	// VectorDequant decodes 16 bytes at a time instead of 4.
	VectorDequant bool
	// Swizzle permutes the units of 16 bytes in a row of a shared tile instead of padding
	// the rows.
	Swizzle bool
	// LUT decodes K and V through a table of 256 f16 values in shared memory.
	LUT bool

	TensorQK bool // Q·Kᵀ on tensor cores
	TensorPV bool // P·V on tensor cores, P rounded to f16

	// ReuseScores makes P overwrite the scores instead of having its own buffer.
	ReuseScores bool
	// FusedSoftmax keeps scores and P in the registers of the one warp that owns
	// their rows.
	FusedSoftmax bool
	// Producers is the number of warps that only load and decode: 0, 1 or 2. With 2, one
	// loads K and the other V.
	Producers int
	// Persistent blocks compute one tile of queries after the other.
	Persistent bool
	// FastExp computes powers of two by a polynomial on the FMA units.
	FastExp bool
}

// String lists the fields that are set.
func (c Config) String() string {
	on := []string{fmt.Sprintf("%dx%d", c.TileM, c.TileN)}
	add := func(is bool, name string) {
		if is {
			on = append(on, name)
		}
	}
	add(c.Stages > 0, fmt.Sprintf("cp-async-%d", c.Stages))
	add(c.VectorDequant, "vector-dequant")
	add(c.Swizzle, "swizzle")
	add(c.LUT, "lut")
	add(c.TensorQK, "tensor-qk")
	add(c.TensorPV, "tensor-pv")
	add(c.ReuseScores, "reuse-scores")
	add(c.FusedSoftmax, "fused-softmax")
	add(c.Producers > 0, fmt.Sprintf("producers-%d", c.Producers))
	add(c.Persistent, "persistent")
	add(c.FastExp, "fast-exp")
	return strings.Join(on, " ")
}

// Check returns the reason why a kernel of this Config cannot compute the problem on the
// target, or nil.
func (c Config) Check(p problem.Attention, t ptx.Target) error {
	p = p.Filled()
	if err := checkProblem(p); err != nil {
		return err
	}
	if err := attn.CheckRules(rules(), p); err != nil {
		return err
	}
	if err := c.checkToggles(); err != nil {
		return err
	}
	if err := c.checkTiles(); err != nil {
		return err
	}
	switch limit := sharedLimit(t); {
	case t.SM < 80:
		return fmt.Errorf("%s has neither cp.async nor mma.sync.m16n8k16: the least is sm_80", t)
	case p.Format == problem.E4M3 && t.SM < 89:
		return fmt.Errorf("%s cannot convert e4m3: the least is sm_89", t)
	case c.plan(p.D).total > limit:
		return fmt.Errorf("head dimension %d with tiles of %dx%d and %s needs %d bytes of shared memory, but %s has only %d per block",
			p.D, c.TileM, c.TileN, english.Count(c.Stages, "stage"), c.plan(p.D).total, t, limit)
	}
	return nil
}

// checkToggles refuses combinations of fields that contradict each other.
func (c Config) checkToggles() error {
	switch {
	case c.Stages < 0 || c.Stages > 3:
		return fmt.Errorf("%d stages: use 1, 2 or 3, or 0 to load without cp.async", c.Stages)
	case c.Producers < 0 || c.Producers > 2:
		return fmt.Errorf("%d producer warps: use 0, 1 or 2", c.Producers)
	case c.FusedSoftmax && !(c.TensorQK && c.TensorPV):
		return fmt.Errorf("fused softmax without tensor cores for both products: scores in registers are fragments of mma.sync")
	case c.ReuseScores && c.FusedSoftmax:
		return fmt.Errorf("score reuse with fused softmax: there is no score buffer")
	case c.ReuseScores && !c.TensorPV:
		return fmt.Errorf("score reuse without tensor cores for P·V: P is f32 then and always overwrites the scores")
	case c.Producers > 0 && !c.FusedSoftmax:
		return fmt.Errorf("producer warps without fused softmax: compute warps that share scores need barriers of the whole block, at which producers do not wait")
	case c.Producers > 0 && c.Stages == 0:
		return fmt.Errorf("producer warps without cp.async stages: give them at least 1")
	}
	return nil
}

// checkTiles refuses tiles that cannot be divided among the warps.
func (c Config) checkTiles() error {
	switch {
	case c.FusedSoftmax && (c.TileM < 16 || c.TileM > 128 || c.TileM%16 != 0):
		return fmt.Errorf("%d query rows with fused softmax: use 16 to 128 in steps of 16, because a warp owns 16 rows", c.TileM)
	case !c.FusedSoftmax && c.TileM != 32 && c.TileM != 64:
		return fmt.Errorf("%d query rows: use 32 or 64, which four warps share", c.TileM)
	case c.TileN < 32 || c.TileN > 128 || c.TileN%32 != 0:
		return fmt.Errorf("KV tiles of %d: use 32, 64, 96 or 128", c.TileN)
	case c.Swizzle && c.TileN&(c.TileN-1) != 0:
		return fmt.Errorf("KV tiles of %d with the swizzle: use a power of two", c.TileN)
	}
	return nil
}

// sharedLimit returns the bytes of shared memory that a block may have.
func sharedLimit(t ptx.Target) int {
	switch {
	case t.SM >= 90:
		return 227 << 10
	case t.SM == 80:
		return 163 << 10
	}
	return 99 << 10
}

// computeWarps returns the number of warps that compute.
func (c Config) computeWarps() int {
	if c.FusedSoftmax {
		return c.TileM / 16
	}
	return 4
}

func (c Config) threads() int { return 32 * (c.computeWarps() + c.Producers) }
