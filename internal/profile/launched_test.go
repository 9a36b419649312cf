package profile

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
)

// uneven has one block, number 77, that does much more work than the others.
const uneven = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 extra)
{
	.reg .b32 %r<4>;
	.reg .f32 %f<2>;
	.reg .pred %p<2>;
	mov.u32 %r1, %ctaid.x;
	setp.eq.u32 %p1, %r1, 77;
	mov.u32 %r2, 100;
	@%p1 ld.param.u32 %r2, [extra];
loop:
	fma.rn.f32 %f1, %f1, %f1, %f1;
	add.u32 %r2, %r2, -1;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra loop;
	ret;
}
`

func worksOf(t *testing.T, text, launch string) predict.Work {
	t.Helper()
	file, err := launchfile.Parse("launch.json", []byte(launch))
	if err != nil {
		t.Fatal(err)
	}
	works, err := launchedWorks(t.Context(), "k.ptx", text, file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return works[0]
}

// TestUnevenBlocks wants the time of a launch to be that of its longest block, which no sample would hit.
func TestUnevenBlocks(t *testing.T) {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	micros := func(extra int) float64 {
		w := worksOf(t, uneven, fmt.Sprintf(`{"entry": "k", "grid": [132], "block": [128], "params": [{"u32": %d}]}`, extra))
		return predict.Of(w, chip).Micros - chip.Get("launch_us")
	}
	if even, long := micros(100), micros(3200); !(long > 25*even) || !(long < 35*even) {
		t.Errorf("%.3g µs, and %.3g µs with one block that does 32 times the work", even, long)
	}
}

// TestLargeLaunchIsSampled wants a few clusters of a launch whose record would take too much memory.
func TestLargeLaunchIsSampled(t *testing.T) {
	w := worksOf(t, uneven, `{"entry": "k", "grid": [20000], "block": [128], "params": [{"u32": 100}]}`)
	if n := len(w.Trace.Clusters); n != launchedSamples || w.Trace.Count != 20000 {
		t.Errorf("%d of %d clusters are recorded", n, w.Trace.Count)
	}
}
