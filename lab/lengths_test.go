package lab

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// served returns a kernel of a serving system as a subject.
func served(t testing.TB, k *build.Kernel, call string) *Subject {
	t.Helper()
	parsed, err := abi.Parse("serve.json", []byte(call))
	if err != nil {
		t.Fatal(err)
	}
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	s, err := External("serve", text, parsed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lengthsAt is the parameter of scaledABI that points to the lengths of K and V.
const lengthsAt = 8

// TestTimedLengths times a kernel that reads lengths from memory. Timed launches have full
// sequences, so launches that treat all sequences as full give right outputs there; they are found
// by launches on drawn lengths.
func TestTimedLengths(t *testing.T) {
	perToken := strings.Replace(scaledABI, "SCALING", `"scaling": "per-token"`, 1)
	for _, c := range []struct {
		name    string
		shape   problem.Shape
		mode    timing.Mode
		cheat   func(*card)
		outcome record.Outcome
		why     string
		drawn   int
	}{
		{"honest", problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 2, Skv: 30}, timing.Graph, func(*card) {}, record.Defer, "the times are sound", 2},
		{"one sequence", problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 2, Skv: 30}, timing.Event, func(*card) {}, record.Defer, "the times are sound", 2},
		{"launches of graphs treat all sequences as full", problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 2, Skv: 30}, timing.Graph, func(c *card) { c.fills = true },
			record.Reject, "a launch on sequences of the lengths", 2},
		{"and one sequence", problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 2, Skv: 30}, timing.Graph, func(c *card) { c.fills = true }, record.Reject, "a launch on sequences of the lengths", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.shape.B == 1 && !*full {
				t.Skip("the same with one sequence: use -full")
			}
			gpu := newCard()
			c.cheat(gpu)
			p := timingPlan(gpu, timing.Method{Mode: c.mode, Cache: timing.Warm, Launches: 4})
			p.Times.Shapes, p.Times.Stop.Most = []problem.Named{{Name: "few", Shape: c.shape}}, 10
			p.Defects.Shapes, p.Cases, p.Counters, p.KeepGoing = nil, servingPlan().Cases[1:3], problem.Shape{}, true
			r, v := measure(t, served(t, scaledKernel(1, 1, ""), perToken), p)
			wants(t, v, c.outcome, c.why)
			if got := r.Performance.Shapes[0].Drawn; got != c.drawn {
				t.Errorf("%d launches with drawn lengths, want %d", got, c.drawn)
			}
		})
	}
}

// withFullLengths runs a launch as if all sequences were as long as the longest.
func (c *card) withFullLengths(l device.Launch, run func() error) error {
	addr := binary.LittleEndian.Uint64(l.Params[lengthsAt])
	for _, b := range c.buffers {
		if addr < b.Addr() || addr >= b.Addr()+uint64(b.Size()) {
			continue
		}
		at := int64(addr - b.Addr())
		was := make([]byte, 3*4) // no more sequences than the tests have
		if err := b.Read(at, was); err != nil {
			return err
		}
		most := uint32(0)
		for i := 0; i < len(was); i += 4 {
			if n := binary.LittleEndian.Uint32(was[i:]); n < 1<<16 { // what follows is a guard band
				most = max(most, n)
			}
		}
		full := make([]byte, 0, len(was))
		for range len(was) / 4 {
			full = binary.LittleEndian.AppendUint32(full, most)
		}
		if err := b.Write(at, full); err != nil {
			return err
		}
		if err := run(); err != nil {
			return err
		}
		return b.Write(at, was)
	}
	return run()
}

// TestWholeBatches judges a kernel that is wrong only if all sequences are full, and wants the plans to
// have such a case.
func TestWholeBatches(t *testing.T) {
	p := quickly()
	p.Defects.Shapes, p.Defects.PerShape, p.Counters = []problem.Shape{problem.Square(1, 2, 5, 0)}, 2, problem.Shape{}
	p.Cases = []Case{
		{Shape: problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 4, Skv: 270}, Seed: 1, Distribution: "normal"},
		{Shape: problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 4, Skv: 270}, Seed: 2, Distribution: "normal", Whole: true},
	}
	for _, c := range []struct {
		fault fault
		want  record.Outcome
	}{{"", record.Correct}, {"the first page only in full batches", record.Reject}} {
		s := served(t, pagedKernel(c.fault), pagedABI)
		r, v := measure(t, s, p)
		if v.Outcome != c.want {
			t.Errorf("%q: %s: %s", c.fault, v.Outcome, v.Why)
		}
		if got := r.Correctness.Cases[1].Batch.LengthsKV; got != "270,270,270" {
			t.Errorf("the lengths %s, want full sequences", got)
		}
	}
	whole := 0
	for _, p := range []Plan{Quick(), Full()} {
		for _, c := range p.Cases {
			if c.Whole && c.Shape.B > 1 {
				whole++
			}
		}
	}
	if whole != 2 {
		t.Errorf("%d cases of the plans have full batches, want one each", whole)
	}
}

// TestPadding judges kernels that recognise what they must not see by its content: rows after the end by
// NaN, and any row by zeros.
func TestPadding(t *testing.T) {
	p := servingPlan()
	p.Cases = nil
	for seed := range uint64(6) {
		p.Cases = append(p.Cases, Case{Shape: problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 4, Skv: 40}, Seed: seed, Distribution: "normal"})
	}
	p.Cases = append(p.Cases, Case{Shape: problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 4, Skv: 40}, Seed: 1, Distribution: "sparse"})
	for _, c := range []struct {
		fault fault
		wrong string // the distribution of wrong cases
	}{{"", ""}, {"NaN ends a sequence", "normal"}, {"zeros are padding", "sparse"}} {
		r, v := measure(t, served(t, pagedKernel(c.fault), pagedABI), p)
		if (v.Outcome == record.Correct) != (c.wrong == "") {
			t.Errorf("%q: %s: %s", c.fault, v.Outcome, v.Why)
		}
		right, wrong := 0, 0
		for i := range r.Correctness.Cases {
			switch one := &r.Correctness.Cases[i]; {
			case len(gate.Wrong(gate.Tolerance, r.Kernel.Computes(), one)) == 0:
				right++
			case one.Distribution == c.wrong:
				wrong++
			}
		}
		if right == 0 || (wrong > 0) != (c.wrong != "") {
			t.Errorf("%q: %d cases are right and %d of %s are wrong", c.fault, right, wrong, c.wrong)
		}
	}
}

// TestLongWindows wants windows over long sequences that show most keys, and narrow ones too.
func TestLongWindows(t *testing.T) {
	call := strings.NewReplacer(`{"u32": "max_pages"}`, `{"u32": "window_left"}`, `{"u32": "Skv"}`, `{"u32": "window_right"}`).Replace(pagedABI)
	m, err := newMeasurement(served(t, pagedKernel(""), call), quickly(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	wide, narrow := 0, 0
	for seed := range uint64(40) {
		one := m.masks(Case{Shape: problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: 1, Skv: 4000}, Seed: seed}, rand.New(rand.NewPCG(seed, 1)))
		switch left := one.vary.window.Left(); {
		case left < 0 || left >= 2000:
			wide++
		case left < 400:
			narrow++
		}
	}
	if wide < 15 || narrow < 8 || wide+narrow != 40 {
		t.Errorf("of 40 windows, %d are wide and %d are narrow", wide, narrow)
	}
}
