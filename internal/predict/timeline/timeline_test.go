package timeline

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestWrite checks the events of a short replay: runs are merged, waits stand alone, and the file
// is JSON.
func TestWrite(t *testing.T) {
	in := func(op, source string) observe.Inst {
		return observe.Inst{Bound: isa.Bound{Inst: &ptx.Inst{Op: ptx.NewOpcode(op)}}, Source: source}
	}
	x := &Timeline{Chip: "H200", MHz: 1000, Program: []observe.Inst{in("add.u32", "a/one.go:3:1"), in("ex2.approx.ftz.f32", "a/two.go:4:1")}}
	x.Issue(0, 0, 2, 0, 0, 0, machine.Issue)
	x.Issue(0, 0, 2, 0, 1, 1, machine.Issue)
	x.Issue(0, 0, 2, 1, 2, 102, machine.Special)
	x.Phase(0, &warptrace.Phase{Mbarrier: true, At: 64}, 90)
	x.Work(0, 2, 1, 5, 80)
	x.Block(0, 0, 0, 103)
	var out bytes.Buffer
	if err := x.Write(&out); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Name, Ph string
			Ts, Dur  float64
			Tid      int
		}
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatalf("%v in\n%s", err, &out)
	}
	want := []struct {
		name, ph string
		ts, dur  float64
	}{
		{"process_name", "M", 0, 0}, {"thread_name", "M", 0, 0}, {"thread_name", "M", 0, 0}, {"one.go", "X", 0, 0.002}, {"special functions", "X", 0.002, 0.1}, {"mbarrier at 64", "C", 0.09, 0},
		{"ex2.approx.ftz.f32", "b", 0.005, 0}, {"ex2.approx.ftz.f32", "e", 0.08, 0}, {"block", "X", 0, 0.103}, {"two.go", "X", 0.102, 0.001}, {"end", "M", 0, 0},
	}
	if len(file.TraceEvents) != len(want) {
		t.Fatalf("%d events, want %d:\n%s", len(file.TraceEvents), len(want), &out)
	}
	for i, w := range want {
		if e := file.TraceEvents[i]; e.Name != w.name || e.Ph != w.ph || e.Ts != w.ts || e.Dur != w.dur {
			t.Errorf("event %d is %+v, want %+v", i, e, w)
		}
	}
}
