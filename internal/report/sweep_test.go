package report_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// swept returns a record of a bench, without a verdict: 12 shapes on which the kernel is 1 % slower to
// 10 % faster than its fastest rival.
func swept() *record.Record {
	r := recordtest.New("hopper")
	recordtest.OnGPU(r)
	for i := range 12 {
		recordtest.Timed(r, problem.Square(1, 1<<(i%4), 64<<i, 64), warm, 100, 0, map[string]float64{"triton e4m3": 99 + float64(i), "torch flash f16": 300})
	}
	return r
}

func TestSweep(t *testing.T) {
	v := view(t, one(swept(), ""))
	all := v.Sweep()
	if len(all) != 12 || !(all[0].Speedup > 0.985 && all[0].Speedup < 0.995) || all[0].Rival != "triton e4m3" || all[0].Shape.Shape.Skv != 64 {
		t.Fatalf("%d shapes, the first %+v", len(all), all[0])
	}
	want := "12 shapes on synthetic GPU: geometric mean of the speedups 1.04×, lowest 0.99× (1,1,64,64, triton e4m3), below 1 on 1 (8 %)"
	if got := v.SweepSummary(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var picture, page bytes.Buffer
	if err := errors.Join(v.WriteSweep(&picture), v.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"picture": picture.String(), "page": page.String()} {
		for _, want := range []string{`class="s1"`, `>0.99</text>`, `class="s3"`, `>1.10</text>`, "D = 64", ">128k</text>", "12 shapes on synthetic GPU"} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s lacks %s", name, want)
			}
		}
		if strings.Contains(text, `class="s0"`) {
			t.Errorf("the %s has a cell below 0.97", name)
		}
	}
}

// TestSweepLeavesOut wants kernels that were rejected, that were not timed beside a rival, or whose outputs
// were wrong to be left out.
func TestSweepLeavesOut(t *testing.T) {
	alone, wrong := recordtest.New("hopper"), swept()
	recordtest.OnGPU(alone)
	recordtest.Timed(alone, problem.Square(1, 1, 64, 64), warm, 100, 0, nil)
	for i := range wrong.Performance.Shapes {
		wrong.Performance.Shapes[i].OutputsOK = false
	}
	for name, v := range map[string]*report.View{
		"rejected": view(t, one(swept(), record.Reject)), "alone": view(t, one(alone, "")), "wrong": view(t, one(wrong, "")),
	} {
		if n := len(v.Sweep()); n != 0 {
			t.Errorf("%s: %d shapes", name, n)
		}
		if err := v.WriteSweep(new(bytes.Buffer)); !errors.Is(err, report.ErrNoSweep) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := report.New(&evidence.Contents{Check: &evidence.Check{}}).SweepSummary(); s != "" {
		t.Error(s)
	}
}
