package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/shapes"
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

// TestLatestSweep wants only the shapes of a kernel's latest sweep, not those of an earlier one, and not a few
// that were timed later.
func TestLatestSweep(t *testing.T) {
	from := func(commit string, heads, shapes int) *record.Record {
		r := recordtest.New("hopper")
		recordtest.OnGPU(r)
		r.Build.Git.Commit, r.Kernel.SHA256 = commit, commit
		r.Kernel.Config = map[string]string{"chosen": "by shape", "config": commit}
		for i := range shapes {
			recordtest.Timed(r, problem.Square(1, heads, 64<<i, 64), warm, 100, 0, map[string]float64{"triton e4m3": 120})
		}
		return r
	}
	v := view(t, one(from("first", 1, 13), ""), one(from("second", 2, 12), ""), one(from("third", 3, 2), ""))
	all := v.Sweep()
	if len(all) != 12 {
		t.Errorf("%d shapes, want 12", len(all))
	}
	for _, x := range all {
		if x.Shape.Shape.Hq != 2 {
			t.Errorf("%v is of another sweep", x.Shape.Shape)
		}
	}
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

// TestSweepOfManyRecords draws a sweep as attest bench keeps it: a record for each of 120 shapes, of a few
// kernels, half of them causal, and 12 shapes of decode.
func TestSweepOfManyRecords(t *testing.T) {
	v := view(t, func(to recordtest.Adder) error {
		for i, n := range append(shapes.Draw(120, 5, problem.HeadDim{}), shapes.DrawDecode(12, 5, problem.HeadDim{})...) {
			r := recordtest.New(fmt.Sprintf("hopper-%d", i%7))
			recordtest.OnGPU(r)
			r.Kernel.Problem.Causal = i < 120 && i%2 == 1
			recordtest.Timed(r, n.Shape, warm, 100, 0, map[string]float64{"triton e4m3": 90 + float64(i)})
			if _, err := to.AddRecord(r); err != nil {
				return err
			}
		}
		return nil
	})
	if got := len(v.Sweep()); got != 132 {
		t.Fatalf("%d shapes", got)
	}
	if s := v.SweepSummary(); !strings.HasPrefix(s, "120 shapes on synthetic GPU: ") || !strings.Contains(s, "; 12 shapes of decode on synthetic GPU: ") {
		t.Error(s)
	}
	var picture, page bytes.Buffer
	if err := errors.Join(v.WriteSweep(&picture), v.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"D = 64", "D = 64 causal", "D = 128", "D = 128 causal", "D = 256", "D = 256 causal", "decode, D = 64", "decode, D = 128", "decode, D = 256"} {
		if want := ">" + title + "</text>"; !strings.Contains(picture.String(), want) || !strings.Contains(page.String(), want) {
			t.Errorf("there is no field %s", title)
		}
	}
	if strings.Contains(picture.String(), "NaN") {
		t.Error("the picture has a place that is no number")
	}
	if got := v.Results(); got != report.NoResults+"\n" {
		t.Errorf("the table of a README shows a sweep, which is not judged:\n%s", got)
	}
}
