package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// servingSubject returns decode with pages, windows, a soft cap and packed queries.
func servingSubject(t *testing.T) *Subject {
	t.Helper()
	s, err := Preset("decode", problem.Attention{
		Shape: problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 2, Skv: 100, D: 64}, Window: problem.NewWindow(0, 0), Softcap: 1,
		Queries: problem.Packed, Keys: problem.Paged,
	}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGivenArguments runs a case with the arguments that a subject was given, and one with drawn
// arguments.
func TestGivenArguments(t *testing.T) {
	s := servingSubject(t)
	shape := problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 2, Skv: 300, D: 64}
	given := Arguments{Window: problem.NewWindow(70, 0), Softcap: 12, Scale: 0.25, PageSize: 32, Shape: shape, LengthsQ: "2,1", LengthsKV: "300,17"}
	if err := s.Give(given); err != nil {
		t.Fatal(err)
	}
	p := Plan{Cases: []Case{{Shape: shape, Seed: 1, Distribution: "normal", Own: true}, {Shape: shape, Seed: 1, Distribution: "normal"}}}
	r, err := Measure(t.Context(), s, p, nil)
	if err != nil || len(r.Correctness.Cases) != 2 {
		t.Fatal(err)
	}
	own, drawn := r.Correctness.Cases[0], r.Correctness.Cases[1]
	if own.Shape != shape || own.Window != given.Window || own.Softcap != 12 || own.Scale != 0.25 || own.Batch.PageSize != 32 || own.Batch.LengthsQ != "2,1" || own.Batch.LengthsKV != "300,17" {
		t.Errorf("the case has %v, %+v", own.Shape, own)
	}
	if drawn.Window == given.Window || drawn.Softcap == 12 || drawn.Scale == 0.25 || drawn.Batch.LengthsKV == "300,17" || drawn.Shape.B != fewestSequences {
		t.Errorf("a drawn case has %v, %+v", drawn.Shape, drawn)
	}
}

// TestTouchedBytes counts the bytes of K and V that a window and short sequences leave.
func TestTouchedBytes(t *testing.T) {
	shape := problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 4096, D: 64}
	bytes := func(a Arguments) int64 {
		s := servingSubject(t)
		if err := s.Give(a); err != nil {
			t.Fatal(err)
		}
		c, err := Count(t.Context(), s, shape, 4)
		if err != nil {
			t.Fatal(err)
		}
		return c.Bytes
	}
	row := int64(2 * 2 * 64) // of K and V in two heads
	all := bytes(Arguments{Window: problem.NewWindow(-1, 0)})
	for _, one := range []struct {
		a    Arguments
		rows int64
	}{
		{Arguments{Window: problem.NewWindow(127, 0)}, 2 * 128},
		{Arguments{Window: problem.NewWindow(-1, 0), Shape: shape, LengthsKV: "4096,16"}, 4096 + 16},
	} {
		saved := all - bytes(one.a)
		if want := row * (2*4096 - one.rows); saved < want*99/100 || saved > want*101/100+1<<16 {
			t.Errorf("%+v saves %d bytes, want about %d", one.a, saved, want)
		}
	}
}

// TestRefusedArguments gives a kernel what it does not take.
func TestRefusedArguments(t *testing.T) {
	plain, err := Preset("decode", problem.Attention{Shape: problem.Shape{B: 2, Hq: 1, Hkv: 1, Sq: 1, Skv: 100, D: 64}}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	for want, a := range map[string]Arguments{
		"takes no window":             {Window: problem.NewWindow(1, 0)},
		"takes no soft cap":           {Softcap: 3},
		"takes no page size":          {PageSize: 16},
		"takes no lengths of queries": {LengthsQ: "1,1"},
		"takes no lengths of keys":    {LengthsKV: "1,1"},
	} {
		if err := plain.Give(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", a, err, want)
		}
	}
	shape := problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 100, D: 64}
	for want, a := range map[string]Arguments{
		"3 lengths of K and V for a batch of 2": {Shape: shape, LengthsKV: "1,2,3"},
		"lengths are from 0 to 100":             {Shape: shape, LengthsKV: "1,101"},
	} {
		if err := servingSubject(t).Give(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", a, err, want)
		}
	}
}
