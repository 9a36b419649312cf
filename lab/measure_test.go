package lab

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

var full = flag.Bool("full", false, "everything, which takes minutes: every preset in every format on all shapes of the quick plan, every design, every hidden size")

// clone returns a record after a round trip through JSON.
func clone(t testing.TB, r *record.Record) *record.Record {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c := &record.Record{}
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPresets judges every preset without a GPU and wants CORRECT.
func TestPresets(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	names := []string{"stage0", "stage1", "stage2", "stage3a", "xor-swizzle", "stage3b", "stage4", "stage5", "stage5-persistent"}
	for i, name := range names {
		for j, f := range []problem.Format{problem.U8, problem.E4M3, problem.E5M2} {
			if i%3 != j && !*full {
				continue
			}
			t.Run(name+"/"+string(f), func(t *testing.T) {
				c := problem.Attention{Format: f, LSE: i%2 == 0, Shape: problem.Shape{D: 64 << (i % 4 / 3)}}
				if j == 1 {
					c.Output = "bf16"
				}
				s, err := Preset(name, c, kernel.Chip{})
				if err != nil {
					t.Fatal(err)
				}
				p := quickly()
				if !*full {
					p = smaller(p)
				}
				r, v := measure(t, s, p)
				wants(t, v, record.Correct, "no GPU")
				if again := gate.Judge(clone(t, r)); again.Outcome != v.Outcome || again.Why != v.Why {
					t.Errorf("from JSON: %s, %s", again.Outcome, again.Why)
				}
			})
		}
	}
}

// smaller returns a shorter plan: a few cases, and two schedules of one shape.
func smaller(p Plan) Plan {
	p.Cases = []Case{p.Cases[2], p.Cases[6], p.Cases[8], p.Cases[9]}
	p.Defects = Defects{Shapes: p.Defects.Shapes[1:], Schedules: p.Defects.Schedules[:2]}
	return p
}

// TestProgress wants steps that only increase and reach the end.
func TestProgress(t *testing.T) {
	var last Progress
	sections := map[string]bool{}
	_, err := Measure(context.Background(), preset(t, "stage3b"), smaller(quickly()), func(p Progress) {
		if p.Done < last.Done || p.Share < last.Share || p.Share > 1 || p.Done > p.Total || p.Total == 0 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
		sections[p.Section] = true
	})
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != last.Total-1 || len(sections) != 4 {
		t.Errorf("%+v, sections %v", last, sections)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Measure(ctx, preset(t, "stage0"), smaller(quickly()), func(p Progress) {
		if p.Section == "correctness" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestRepeatable wants the same record twice, except for its time.
func TestRepeatable(t *testing.T) {
	p := smaller(quickly())
	a, _ := measure(t, preset(t, "stage4"), p)
	b, _ := measure(t, preset(t, "stage4"), p)
	b.Build.Time = a.Build.Time
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		t.Error("two records of one kernel differ")
	}
}

// TestTargets: resources are measured for the target that the PTX is written for, and for
// later targets of the plan.
func TestTargets(t *testing.T) {
	for own, want := range map[string]string{
		"sm_80": "sm_80 sm_89 sm_90", "sm_89": "sm_89 sm_90", "sm_90": "sm_90", "sm_90a": "sm_90a", "sm_100": "sm_100",
	} {
		target, err := ptx.ParseTarget(own)
		if err != nil {
			t.Fatal(err)
		}
		m := &measurement{s: &Subject{Target: target}, p: Quick()}
		if got := term.List(m.targets(), " "); got != want {
			t.Errorf("%s: %s, want %s", own, got, want)
		}
	}
}
