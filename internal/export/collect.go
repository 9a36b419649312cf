package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/expr"
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

// Collect builds every kernel that package kernels may choose for the problems, and adds its rule of
// the choice.
func Collect(ctx context.Context, r Request) (*Bundle, error) {
	c, err := chipOf(r.Chip)
	if err != nil {
		return nil, err
	}
	b := newBundle(r.Kind)
	b.Chip = Chip{r.Chip.Name, c.Target.String(), c.SMs, c.SharedMax, c.SharedPerSM}
	known := map[[sha256.Size]byte]int{} // index of the kernel by the hash of its JSON
	for _, p := range r.Problems {
		r.Say("choosing kernels for %s", p.String())
		before := len(b.Choices)
		for _, group := range []int{1, 2} {
			if err := b.candidates(ctx, like(p, group), c, known); err != nil {
				return nil, err
			}
		}
		if len(b.Choices) == before {
			q := p
			q.Shape = problem.Square(1, 8, 512, p.D)
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

// like returns a small problem that has the facts of p and as many query heads per head of K and V as
// group says. Every kernel for the facts computes it.
func like(p problem.Attention, group int) problem.Attention {
	const rows = 4
	p.Shape = problem.Shape{B: 1, Hq: group, Hkv: 1, Sq: rows, Skv: rows}.WithHeadDim(p.HeadDim())
	return p
}

// candidates adds the kernels for problems like p.
func (b *Bundle) candidates(ctx context.Context, p problem.Attention, c kernel.Chip, known map[[sha256.Size]byte]int) error {
	for _, one := range kernels.Candidates(p, c) {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, err := one.Build(p, c)
		if err != nil {
			return err
		}
		text, err := json.Marshal(k)
		if err != nil {
			return err
		}
		index, ok := known[sha256.Sum256(text)]
		if !ok {
			index = b.add(k)
			known[sha256.Sum256(text)] = index
		}
		when, err := expr.Parse(condition(p, one.When))
		if err != nil {
			return err
		}
		b.Choices = append(b.Choices, Choice{Kernel: index, Family: one.Family, When: when, Let: one.Let, Cost: one.Cost, Tiles: one.Tiles})
	}
	return nil
}

// condition returns when with what makes a problem like p, except for its facts, which a kernel states.
func condition(p problem.Attention, when expr.Expr) string {
	text := "H == Hkv"
	if p.Hq != p.Hkv {
		text = "H != Hkv"
	}
	if p.Ragged() { // other problems have no soft cap
		text += " && softcap == 0"
		if p.Softcap != 0 {
			text = strings.Replace(text, "softcap ==", "softcap !=", 1)
		}
	}
	if !when.IsZero() {
		text += " && (" + when.String() + ")"
	}
	return text
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
