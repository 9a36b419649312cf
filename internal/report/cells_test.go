package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
)

// TestTexts wants the exact text of numbers and names at the limits of their forms.
func TestTexts(t *testing.T) {
	goal := func(gap, relative float64, unit string) *Goal {
		return &Goal{Gap: &gap, Unit: unit, relative: relative}
	}
	for _, c := range []struct{ got, want string }{
		{Counter(1234567), "1 234 567"}, {Counter(0), "0"}, {Counter(1.5), "1.50"}, {Counter(-2), "-2.00"}, {Counter(1 << 53), "9007199254740992"},
		{kib(1023), "1023 B"}, {kib(1024), "1 KiB"}, {kib(1536), "1.5 KiB"}, {kib(65536), "64 KiB"},
		{clip("kernel", 6), "kernel"}, {clip("kernels", 6), "kerne…"}, {clip("ααα", 3), "ααα"}, {clip("αααα", 3), "αα…"},
		{tick(9999), "9999"}, {tick(10000), "10k"}, {tick(12345), "12.3k"}, {tick(0.001), "0.001"}, {tick(0.000999), "0.001"}, {tick(0.000123), "0.00012"}, {tick(0.5), "0.5"},
		{anchor("azAZ09-_ /{`@["), "azAZ09-_------"},
		{agree(1, "mutant", "was", "were"), "1 mutant was"}, {agree(2, "mutant", "was", "were"), "2 mutants were"},
		{amount(3, "µs"), "3 µs"}, {amount(3.25, "µs"), "3.25 µs"}, {amount(2, "x"), "2x"}, {amount(2048, "bytes"), "2 KiB"}, {amount(7, ""), "7"},
		{gapText(goal(2, 0.5, "µs")), "+2 µs (+50.0 %)"}, {gapText(goal(-2, -0.25, "µs")), "-2 µs (-25.0 %)"}, {gapText(goal(0, 0, "µs")), "0 µs"},
		{short("0123456789abc"), "0123456789"}, {short("01"), "01"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestApartAtTheEnds(t *testing.T) {
	for _, c := range []struct{ at, want []float64 }{
		{nil, nil},
		{[]float64{100}, []float64{100}},
		{[]float64{101}, []float64{100}},
		{[]float64{95, 96, 97}, []float64{80, 90, 100}},
		{[]float64{0, 10, 20}, []float64{0, 10, 20}},
	} {
		if got := apart(c.at, 10, 100); !slices.Equal(got, c.want) {
			t.Errorf("%v becomes %v, want %v", c.at, got, c.want)
		}
	}
}

// TestRemark names each fault of a case, and cases counts the cases with one.
func TestRemark(t *testing.T) {
	right := record.Case{InputsKept: true, Repeatable: true, Errors: &ref.Errors{}, Powers: []record.Power{{Name: "zeros", Caught: true}, {Name: "tail", Why: "one row"}}}
	for want, change := range map[string]func(*record.Case){
		"":                                     func(*record.Case) {},
		"no memory":                            func(c *record.Case) { c.Failure, c.InputsKept, c.Repeatable = "no memory", false, false },
		"1 element not written":                func(c *record.Case) { c.Unwritten, c.Repeatable = 1, false },
		"wrote outside of its buffers":         func(c *record.Case) { c.Overrun = true },
		"changed its inputs":                   func(c *record.Case) { c.InputsKept = false },
		"a second run gave a different output": func(c *record.Case) { c.Repeatable = false },
		"not finite":                           func(c *record.Case) { c.Errors = &ref.Errors{NotFinite: 1} },
		"the impostor zeros passes":            func(c *record.Case) { c.Powers = []record.Power{{Name: "zeros"}} },
		"the mask":                             func(c *record.Case) { c.Cause, c.Map = "the mask", []record.Tile{{}} },
		"fails":                                func(c *record.Case) { c.Map = []record.Tile{{}} },
	} {
		c := right
		change(&c)
		if got := remark(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	bad := right
	bad.Overrun = true
	for want, list := range map[string][]record.Case{"2": {right, right}, "3, 2 bad": {bad, right, bad}} {
		if got := cases(&record.Record{Correctness: &record.Correctness{Cases: list}}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	varies := record.Kernel{Call: &kernel.Kernel{Claims: map[string]string{"deterministic": "false"}}}
	if got := cases(&record.Record{Kernel: varies, Correctness: &record.Correctness{Cases: []record.Case{right}}}); got != "1, bits vary" {
		t.Errorf("a kernel that declares that it is not deterministic: %s", got)
	}
	if got := cases(&record.Record{}); got != none {
		t.Errorf("without cases: %s", got)
	}
}

// TestErrorCells: the error of a record is the worst on ordinary inputs, of one shape or of all, and the
// ratio to the plain computation is the worst of all cases.
func TestErrorCells(t *testing.T) {
	a, b := problem.Square(1, 1, 32, 64), problem.Square(1, 1, 64, 64)
	one := func(s problem.Shape, distribution string, max, rmse, plain float64) record.Case {
		return record.Case{Shape: s, Distribution: distribution, Errors: &ref.Errors{Max: max, RMSE: rmse}, Plain: &ref.Errors{RMSE: plain}}
	}
	r := &record.Record{Correctness: &record.Correctness{Cases: []record.Case{
		one(a, "normal", 0.01, 0.002, 0.001), one(b, "normal", 0.02, 0.003, 0.001), one(b, "outliers", 0.5, 0.1, 0),
	}}}
	for shape, want := range map[problem.Shape]float64{a: 0.01, b: 0.02, {}: 0.02} {
		if got, ok := worstErrorOn(r, shape); !ok || got != want {
			t.Errorf("%v: %g, %v, want %g", shape, got, ok, want)
		}
	}
	if got, want := ofPlain(r), times(3); got != want {
		t.Errorf("%s of the plain computation, want %s", got, want)
	}
	if got := ofPlain(&record.Record{}); got != none {
		t.Errorf("without cases: %s", got)
	}
	if got := worstCase(&record.Correctness{Tolerance: record.Tolerance{Max: 0.06}, Cases: []record.Case{
		{}, {Errors: &ref.Errors{Max: 0.01, ByHead: []ref.Part{{}}}}, {Errors: &ref.Errors{Max: 0.04, ByHead: []ref.Part{{}}}}, {Errors: &ref.Errors{Max: 0.9}},
	}}); got != 2 {
		t.Errorf("the worst case is %d, want 2", got)
	}
}

// TestUse: shared memory is that of the text plus that of the launch, of the target that needs most.
func TestUse(t *testing.T) {
	figure := func(n int) resources.Figure { return resources.Figure{Value: n, Source: resources.Ptxas} }
	r := &record.Resources{Dynamic: 40 << 10, Usage: []resources.Usage{
		{Registers: figure(90), Shared: figure(8 << 10), SpillStores: figure(4), SpillLoads: figure(12)}, {Registers: figure(120), Shared: figure(100)},
	}}
	if u := usage(r); u.shared != 48<<10 || u.registers.Value != 120 || u.spills.Value != 12 {
		t.Errorf("%+v", u)
	}
	if got := originalBudget(r).Text; got == "1 B over" || got == "0 B over" {
		t.Errorf("48 KiB: %s", got)
	}
	r.Dynamic++
	if got := originalBudget(r).Text; got != "1 B over" {
		t.Errorf("48 KiB and a byte: %s", got)
	}
	if got := caught([]record.Power{{Caught: true}, {Caught: true, Why: "x"}, {Why: "one head"}, {}}); got != "2 of 3" {
		t.Errorf("%s impostors caught, want 2 of 3", got)
	}
}

// TestRivalSpeedup takes the fastest rival whose name has the text, and none without a ratio.
func TestRivalSpeedup(t *testing.T) {
	rival := func(name string, ratio float64) record.Rival {
		return record.Rival{Name: name, Comparison: stats.Comparison{Ratio: ratio}}
	}
	m := &Mark{Times: &record.Times{Floor: 2, Rivals: []record.Rival{rival("fa3 f16", 0.5), rival("fa3 e4m3", 0.8), rival("fa3 none", 0), rival("cudnn", 2)}}}
	m.Summary.P50 = 5
	for name, want := range map[string]float64{"fa3": 1.25, "f16": 2, "cudnn": 0.5, "triton": math.NaN(), "none": math.NaN()} {
		if got, ok := m.overRival(name); ok == math.IsNaN(want) || ok && got != want {
			t.Errorf("%s: %g, %v, want %g", name, got, ok, want)
		}
	}
	if got, want := m.ofFloor(), times(2.5); got != want {
		t.Errorf("%s of the floor, want %s", got, want)
	}
	m.Times.Floor = 0
	if got := m.ofFloor(); got != none {
		t.Errorf("without a floor: %s", got)
	}
}

// TestGatesCell: one mark per gate, in the order of the verdict.
func TestGatesCell(t *testing.T) {
	v := &record.Verdict{Gates: []record.Gate{
		{Name: record.ResourcesGate, Status: record.Green}, {Name: record.DefectsGate, Status: record.Void},
		{Name: record.CorrectnessGate, Status: record.Red}, {Name: record.PerformanceGate, Status: record.Skipped}, {Name: "new", Status: "new"},
	}}
	c := gatesCell(&evidence.Judgement{Verdict: v})
	if c.Text != "✓∅✗·?" || len(c.Gates) != 5 || c.Gates[1].Name != record.DefectsGate {
		t.Errorf("%q, %+v", c.Text, c.Gates)
	}
	if got := gatesCell(nil).Text; got != none {
		t.Errorf("without a verdict: %q", got)
	}
}

// TestDeclaredBits wants texts to say that a kernel declares that it is not deterministic, and to tell
// bits that vary as declared from those that must not.
func TestDeclaredBits(t *testing.T) {
	declared := record.Kernel{Call: &kernel.Kernel{Claims: map[string]string{"deterministic": "false"}}}
	for _, c := range []struct {
		name string
		r    record.Record
		want string
		fact bool
	}{
		{"a usual kernel", record.Record{Defects: &record.Defects{}}, "", false},
		{"it depends on the schedule", record.Record{Defects: &record.Defects{Depends: true}}, "the output depends on the schedule", false},
		{"as it declares", record.Record{Kernel: declared, Defects: &record.Defects{Depends: true}}, "the last bits of the output depend on the schedule, as the kernel declares", true},
		{"and is wrong", record.Record{Kernel: declared, Defects: &record.Defects{Wrong: "max error 9"}}, "the output is wrong in some schedule: max error 9", true},
	} {
		var said []string
		for _, d := range defects(&c.r)[1:] {
			said = append(said, d.Text)
		}
		if got := strings.Join(said, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := slices.ContainsFunc(facts(&c.r), func(f [2]string) bool { return f[0] == "bits" }); got != c.fact {
			t.Errorf("%s: a fact about bits: %v", c.name, got)
		}
	}
}
