package attention

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestRandomProblems runs random problems on GPUs from Ampere on: New refuses none of them, and
// Explain names the kernel.
func TestRandomProblems(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, target := range []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90} {
		dev := emulated(t, target)
		for i := range 8 {
			hkv := 1 + r.IntN(2)
			p := Problem{Shape: problem.Shape{B: 1 + r.IntN(2), Hq: hkv * (1 + r.IntN(3)), Hkv: hkv, Sq: 1 + r.IntN(140), Skv: 1 + r.IntN(140), D: []int{64, 96, 128, 256}[i%4]}, Causal: r.IntN(2) == 0, LSE: r.IntN(2) == 0}
			if r.IntN(3) == 0 {
				p.Format = problem.E5M2
			}
			if r.IntN(3) == 0 {
				p.Output = problem.BF16
			}
			op := newTestOp(t, dev, p, Options{})
			in := inputs(t, p)
			right(t, op, in, runFloats(t, op, in), ref.Options{})
			if why := op.Explain(); !strings.HasPrefix(why, op.Kernel().Name+", ") || !strings.Contains(why, op.Kernel().Config["config"]) {
				t.Errorf("%v gets %s: %s", p, op.Kernel().Name, why)
			}
		}
	}
}

// TestExplain: the reason names the design, its estimate and the families that do not run here.
func TestExplain(t *testing.T) {
	p := Problem{Shape: Square(1, 8, 512, 64)}
	op := newTestOp(t, emulated(t, ptx.SM89), p, Options{})
	for _, want := range []string{"ada, ", "µs", "next best", "not hopper: sm_89 does not run code for sm_90a"} {
		if got := op.Explain(); !strings.Contains(got, want) {
			t.Errorf("%s, want %q in it", got, want)
		}
	}
	op = newTestOp(t, emulated(t, ptx.SM89), p, Options{Kernel: "stage3b"})
	if got := op.Explain(); !strings.HasPrefix(got, "stage3b, ") || !strings.HasSuffix(got, "named by the caller") {
		t.Error(got)
	}
}
