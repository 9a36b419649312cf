package record_test

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestCaseOf: the sizes, the scale and the softcap of a case replace those of the kernel. The
// window and the lengths replace them only if the case has some.
func TestCaseOf(t *testing.T) {
	window, batch := problem.NewWindow(7, 0), problem.Batch{LengthsKV: "5"}
	small := problem.Square(1, 2, 40, 64)
	p := problem.Attention{Shape: problem.Shape{D: 64}, Format: problem.U8, Causal: true, Window: window, Batch: batch}
	c := record.Case{Shape: small, Scale: 0.5, Softcap: 30}
	want := problem.Attention{Shape: small, Format: problem.U8, Causal: true, Scale: 0.5, Softcap: 30, Window: window, Batch: batch}
	if got := c.Of(p); got != want {
		t.Errorf("a case without window and lengths is %+v, want %+v", got, want)
	}
	c.Window, c.Batch = problem.NewWindow(3, -1), problem.Batch{LengthsKV: "9"}
	want.Window, want.Batch = c.Window, c.Batch
	if got := c.Of(p); got != want {
		t.Errorf("a case with its own window and lengths is %+v, want %+v", got, want)
	}
}

// TestMinGain: a record without a requirement needs 10 %.
func TestMinGain(t *testing.T) {
	for _, c := range []struct {
		criteria *record.Criteria
		want     float64
	}{
		{nil, 0.10}, {&record.Criteria{}, 0.10}, {&record.Criteria{MinGain: 0.02}, 0.02}, {&record.Criteria{MinGain: -0.05}, -0.05},
	} {
		if got := (&record.Record{Criteria: c.criteria}).MinGain(); got != c.want {
			t.Errorf("%+v: %g, want %g", c.criteria, got, c.want)
		}
	}
}

func TestParseExpected(t *testing.T) {
	for _, c := range []struct {
		text string
		want record.Expected // the zero value is a refusal
	}{
		{"+10%", record.Expected{Conservative: 0.1, Realistic: 0.1, Optimistic: 0.1}},
		{"2%,10%,20%", record.Expected{Conservative: 0.02, Realistic: 0.1, Optimistic: 0.2}},
		{" 2, +10 ,20% ", record.Expected{Conservative: 0.02, Realistic: 0.1, Optimistic: 0.2}},
		{"-5,-5,10", record.Expected{Conservative: -0.05, Realistic: -0.05, Optimistic: 0.1}},
		{"1,5,5", record.Expected{Conservative: 0.01, Realistic: 0.05, Optimistic: 0.05}},
		{"2%,10%", record.Expected{}},
		{"1,2,3,4", record.Expected{}},
		{"", record.Expected{}},
		{"1,x,3", record.Expected{}},
		{"10,2,20", record.Expected{}},
		{"2,20,10", record.Expected{}},
	} {
		got, err := record.ParseExpected(c.text)
		if refused := c.want == (record.Expected{}); refused != (err != nil) || !refused && *got != c.want {
			t.Errorf("%q: %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func TestParseGain(t *testing.T) {
	refused := math.NaN()
	for text, want := range map[string]float64{
		"+10%": 0.1, "10%": 0.1, "10": 0.1, "-99.5": -0.995, "999999": 9999.99,
		"-100": refused, "-200": refused, "1000000": refused, "1e6%": refused, "NaN": refused, "ten": refused, "": refused,
	} {
		got, err := record.ParseGain(text)
		if math.IsNaN(want) != (err != nil) || err == nil && math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %g, %v, want %g", text, got, err, want)
		}
	}
}

func TestKernelContract(t *testing.T) {
	k := record.Kernel{Name: "k", Config: map[string]string{"stages": "3"}}
	if got := k.Contract("text"); got != nil {
		t.Errorf("a kernel whose call is not known has the contract %+v", got)
	}
	k.Call = &kernel.Kernel{Op: "attention"}
	got := k.Contract("text")
	if got == nil || got.Name != "k" || got.PTX != "text" || got.Config["stages"] != "3" || got.Op != "attention" {
		t.Errorf("contract %+v", got)
	}
	if k.Call.PTX != "" {
		t.Error("the text is written into the record's own call")
	}
}

func TestKernelSame(t *testing.T) {
	for _, c := range []struct {
		a, b record.Kernel
		want bool
	}{
		{record.Kernel{Identity: "i", SHA256: "a"}, record.Kernel{Identity: "i", SHA256: "b"}, true},
		{record.Kernel{Identity: "i", SHA256: "a"}, record.Kernel{Identity: "j", SHA256: "a"}, false},
		{record.Kernel{Identity: "i", SHA256: "a"}, record.Kernel{SHA256: "a"}, true},
		{record.Kernel{SHA256: "a"}, record.Kernel{Identity: "i", SHA256: "a"}, true},
		{record.Kernel{SHA256: "a"}, record.Kernel{SHA256: "b"}, false},
	} {
		if got := c.a.Same(&c.b); got != c.want {
			t.Errorf("%+v and %+v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestKernelComputes: the older field Format has the last word.
func TestKernelComputes(t *testing.T) {
	k := record.Kernel{Format: "e4m3", Problem: record.Problem{Attention: problem.Attention{Format: problem.U8, Causal: true}}}
	if got := k.Computes(); got.Format != problem.E4M3 || !got.Causal {
		t.Errorf("it computes %+v", got)
	}
}

// TestByHost: a candidate is timed by the host if any run of it was. A rival may be missing in a
// run.
func TestByHost(t *testing.T) {
	host := timing.Subject{Method: timing.Method{Clock: timing.HostClock}}
	times := record.Times{
		Names: []string{"kernel", "baseline", "rival"},
		Runs:  []timing.Run{{Candidates: []timing.Subject{host, {}, {}}}, {Candidates: []timing.Subject{{}, {}}}},
	}
	for name, want := range map[string]bool{"kernel": true, "baseline": false, "rival": false, "stranger": false} {
		if got := times.ByHost(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestEmulated(t *testing.T) {
	for driver, want := range map[string]bool{"emu": true, "cuda": false, "": false} {
		if got := (&record.Build{Device: device.Info{Driver: driver}}).Emulated(); got != want {
			t.Errorf("driver %q: %v, want %v", driver, got, want)
		}
	}
}

// TestOutcomes: only a rejected kernel is at fault, and only two outcomes need no more work.
func TestOutcomes(t *testing.T) {
	ready := map[record.Outcome]bool{record.Merge: true, record.NoChange: true}
	for _, o := range record.Outcomes() {
		v := record.Verdict{Outcome: o}
		if v.OK() != (o != record.Reject) || v.Ready() != ready[o] {
			t.Errorf("%s: OK %v, ready %v", o, v.OK(), v.Ready())
		}
	}
	if len(record.Outcomes()) != 6 {
		t.Errorf("%d outcomes", len(record.Outcomes()))
	}
}
