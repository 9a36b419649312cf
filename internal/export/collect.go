package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/occupancy"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
)

// Request says which kernels an export needs.
type Request struct {
	Kind     string
	Chip     chips.Chip
	Problems []problem.Attention // the problems; of their sizes only D is set
	Evidence *evidence.Store     // the store in which records of the kernels are looked up, or nil
	Say      func(format string, args ...any)
}

// The samples: sizes for which a kernel is chosen. Between them, the nearest sample counts.
var (
	sampleHeads = []int{1, 4, 8, 16, 32, 64, 128, 512}
	sampleRows  = []int{1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 16384}
	sampleKeys  = []int{128, 1024, 4096, 16384}
	sampleGroup = []int{1, 4}
)

// Collect builds the kernels that are the best for a sample of any problem.
func Collect(ctx context.Context, r Request) (*Bundle, error) {
	c, err := chipOf(r.Chip)
	if err != nil {
		return nil, err
	}
	b := newBundle(r.Kind)
	b.Chip = Chip{r.Chip.Name, c.Target.String(), c.SMs, c.SharedMax, c.SharedPerSM}
	known := map[string]int{} // index of the kernel by its problem and configuration
	for _, p := range r.Problems {
		r.Say("choosing kernels for %s", p.String())
		before := len(b.Choices)
		if err := b.sample(ctx, p, c, known); err != nil {
			return nil, err
		}
		if len(b.Choices) == before {
			q := withSizes(p, 8, 1, 512, 512)
			_, err := kernels.Choose(q, c)
			return nil, fmt.Errorf("no kernel on %s computes %s: %w", r.Chip.Name, q, err)
		}
	}
	return b, b.prove(r.Evidence)
}

func newBundle(kind string) *Bundle {
	v := version.This()
	return &Bundle{Schema: Schema, Kind: kind, Licence: "Apache-2.0", Attest: v.Version, Revision: v.Revision}
}

// Single returns the bundle of one kernel.
func Single(kind string, k *kernel.Kernel, s *evidence.Store) (*Bundle, error) {
	b := newBundle(kind)
	t, err := k.Target()
	if err != nil {
		return nil, err
	}
	b.Chip = Chip{Target: t.String()}
	b.add(k)
	return b, b.prove(s)
}

// add adds a kernel and returns its index.
func (b *Bundle) add(k *kernel.Kernel) int {
	sum := sha256.Sum256([]byte(k.PTX))
	b.Kernels = append(b.Kernels, Kernel{Kernel: *k, Identity: k.Identity(), SHA256: hex.EncodeToString(sum[:]), Proofs: []Proof{}})
	return len(b.Kernels) - 1
}

// chipOf returns what a kernel may know of a chip.
func chipOf(c chips.Chip) (kernel.Chip, error) {
	sm, ok := occupancy.Of(c.Target)
	if !ok {
		return kernel.Chip{}, fmt.Errorf("the limits of %s are not known", c.Target)
	}
	return kernel.Chip{Target: c.Target, SMs: c.SMs, SharedMax: sm.SharedMax, SharedPerSM: sm.Shared}, nil
}

func withSizes(p problem.Attention, heads, group, rows, keys int) problem.Attention {
	p.Shape = problem.Shape{B: 1, Hq: heads, Hkv: heads / group, Sq: rows, Skv: keys, D: p.D}
	return p
}

// sample adds the kernels for the sizes of a problem.
func (b *Bundle) sample(ctx context.Context, p problem.Attention, c kernel.Chip, known map[string]int) error {
	for _, heads := range sampleHeads {
		for _, group := range sampleGroup {
			for _, rows := range sampleRows {
				for _, keys := range append([]int{rows}, sampleKeys...) {
					if err := ctx.Err(); err != nil {
						return err
					}
					if heads%group != 0 || p.Causal && keys < rows {
						continue
					}
					at := [4]int{heads, group, rows, keys}
					if err := b.choose(withSizes(p, heads, group, rows, keys), c, at, known); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// choose adds the sample of one problem. A problem that no kernel computes adds nothing.
func (b *Bundle) choose(p problem.Attention, c kernel.Chip, at [4]int, known map[string]int) error {
	name, err := kernels.Choose(p, c)
	if err != nil {
		return nil
	}
	config, err := kernels.Configure(name, p, c)
	if err != nil {
		return err
	}
	key := fmt.Sprint(name, config, p.Facts(), p.Hq != p.Hkv, p.Softcap != 0)
	index, ok := known[key]
	if !ok {
		k, err := kernels.Build(name, p, c)
		if err != nil {
			return err
		}
		index = b.add(k)
		known[key] = index
	}
	b.Choices = append(b.Choices, Choice{index, at})
	return nil
}

// prove adds the newest judged record of each kernel.
func (b *Bundle) prove(s *evidence.Store) error {
	if s == nil {
		return nil
	}
	c := s.Load()
	if len(c.Check.Problems) > 0 {
		return &evidence.Damage{Dir: s.Path(), Problems: c.Check.Problems}
	}
	for i := range b.Kernels {
		k := &b.Kernels[i]
		for j := len(c.Items) - 1; j >= 0 && len(k.Proofs) == 0; j-- {
			if p, ok := proof(c.Items[j], k); ok {
				k.Proofs = append(k.Proofs, p)
			}
		}
	}
	return nil
}

// proof returns the proof that a record gives for a kernel.
func proof(item *evidence.Item, k *Kernel) (p Proof, ok bool) {
	v := item.Verdict()
	if v == nil || item.Kernel.Identity != k.Identity {
		return p, false
	}
	return Proof{item.Hash, string(v.Outcome), item.Build.Device.Name, item.Build.Time.UTC()}, true
}
