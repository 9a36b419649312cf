package lab

import (
	"context"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestFreshSeed wants seeds that differ and that JSON readers of other languages keep.
func TestFreshSeed(t *testing.T) {
	a, b := FreshSeed(), FreshSeed()
	if a == b || a == 0 || a >= 1<<seedBits {
		t.Errorf("%d and then %d", a, b)
	}
}

// TestFreshCases wants cases that depend on the seed of the plan alone, and every plan to have
// them.
func TestFreshCases(t *testing.T) {
	resolve := func(seed uint64) (list []Case) {
		m := &measurement{s: &Subject{Kernel: &kernel.Kernel{}}, p: Plan{Seed: seed}, heads: problem.HeadDim{D: 64}}
		for _, c := range freshCases {
			list = append(list, m.resolved(c))
		}
		return list
	}
	a, again, b := resolve(5), resolve(5), resolve(6)
	if !slices.Equal(a, again) {
		t.Error("the same seed gives other cases")
	}
	for i := range a {
		if a[i].Seed == b[i].Seed || a[i].Seed >= 1<<seedBits {
			t.Errorf("seeds %d and %d", a[i].Seed, b[i].Seed)
		}
		if scaled := a[i].vary.scale != 0; scaled != a[i].Scaled || scaled && (a[i].vary.scale == b[i].vary.scale || a[i].vary.scale > 0.09 && a[i].vary.scale < 0.16) {
			t.Errorf("scales %v and %v", a[i].vary.scale, b[i].vary.scale)
		}
	}
	for _, p := range []Plan{Smoke(), Quick(), Full()} {
		for what, is := range map[string]func(Case) bool{
			"fresh":  func(c Case) bool { return c.Fresh },
			"scaled": func(c Case) bool { return c.Scaled && !c.Optional },
			"heads":  func(c Case) bool { return c.Distribution == "heads" && !c.Optional },
		} {
			if !slices.ContainsFunc(p.Cases, is) {
				t.Errorf("the plan %s has no %s case", p.Name, what)
			}
		}
	}
}

// TestFreshPower wants fresh cases to catch all impostors, whatever the seed.
func TestFreshPower(t *testing.T) {
	seeds := uint64(12)
	if !*full {
		seeds = 2
	}
	for _, f := range []problem.Format{problem.U8, problem.E4M3, problem.F16} {
		for _, causal := range []bool{false, true} {
			s := &Subject{Kernel: &kernel.Kernel{}, Problem: problem.Attention{Format: f, Causal: causal}.Filled()}
			for seed := range seeds {
				m := &measurement{s: s, p: Plan{Seed: 1 + seed}, heads: problem.HeadDim{D: 64}}
				for _, c := range freshCases {
					c = m.resolved(c)
					c.Shape.D = 64
					one := s.varied(c.vary)
					in, err := newInputs(one, c)
					if err != nil {
						t.Fatal(err)
					}
					r, err := newReference(context.Background(), one, c, in, 0)
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range r.powers {
						if p.Why == "" && !p.Caught {
							t.Errorf("%s, causal %v, seed %d, %v, %s: the impostor %s passes", f, causal, seed, c.Shape, c.Distribution, p.Name)
						}
					}
					judged := r.blank(c)
					p, err := newPlain(context.Background(), one, in, r.quantised.Rows)
					if err != nil {
						t.Fatal(err)
					}
					if err := r.judge(&judged, p); err != nil {
						t.Fatal(err)
					}
					if why := gate.Within(gate.Tolerance, s.Problem, &judged); len(why) > 0 {
						t.Errorf("%s, causal %v, seed %d, %v, %s: the plain computation fails: %s", f, causal, seed, c.Shape, c.Distribution, why[0])
					}
				}
			}
		}
	}
}
