package ada

import (
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestChoose: Choose returns a configuration that computes the problem, on chips with and without
// FP8 in their tensor cores.
func TestChoose(t *testing.T) {
	for _, d := range headDims {
		for _, widen := range []bool{false, true} {
			for _, heads := range []int{1, 8, 300, 65535} {
				for _, seq := range []int{1, 64, 257, 2048, 20000} {
					for _, causal := range []bool{false, true} {
						p := square(1, heads, seq, d, problem.E4M3)
						p.Causal, p.LSE = causal, causal
						c := Choose(p, l4SMs, widen)
						if err := c.Check(p); err != nil || c.Widen != widen {
							t.Errorf("%v, widen %t: %v, %v", p, widen, c, err)
						}
					}
				}
			}
		}
	}
	mission := Choose(named(t, "mission"), l4SMs, false)
	if mission.Rows != 80 || mission.Shares != 4 {
		t.Errorf("mission takes %v, want blocks of 80 rows and keys split over four warps", mission)
	}
	for _, shape := range []string{"big64", "big128", "huge128"} {
		p := named(t, shape)
		if got := Choose(p, l4SMs, false); got != Throughput(p.D, false) {
			t.Errorf("%s takes %v", shape, got)
		}
	}
}

// TestFamily: every design computes a problem on every chip from sm_80 on.
func TestFamily(t *testing.T) {
	f := Family{}
	for _, target := range []ptx.Target{{}, ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90, ptx.SM90a} {
		for _, d := range headDims {
			for _, v := range f.Variants() {
				p, chip := square(1, 8, 512, d, problem.E4M3), kernel.Chip{Target: target}
				config, err := f.Configure(v.Name, p, chip)
				if err == nil {
					err = f.Check(p, chip, config)
				}
				if err != nil {
					t.Errorf("%s on %v, D = %d: %v", v.Name, target, d, err)
				}
			}
		}
	}
	p := square(1, 8, 512, 64, problem.E4M3)
	config, err := f.Configure("ada", p, kernel.Chip{Target: ptx.SM89})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(p, kernel.Chip{Target: ptx.SM80}, config); err == nil {
		t.Error("FP8 products are not refused on sm_80")
	}
	t.Log(f.Explain(p, kernel.Chip{}))
}
