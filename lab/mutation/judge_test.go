package mutation

import (
	"reflect"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/mutate"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// candidateOf returns the mutant of the tiny kernel that makes a change, with a fate so far.
func candidateOf(t *testing.T, p *mutate.Program, change string, fate record.Fate) candidate {
	t.Helper()
	for i, m := range p.Mutants() {
		if m.Change() == change {
			return candidate{mutant: m, place: i, same: lab.Comparison{Likeness: lab.Likeness(fate)}, found: record.Mutant{Fate: fate}}
		}
	}
	t.Fatalf("no mutant: %s", change)
	return candidate{}
}

// Two mutants of the tiny kernel that are equivalent, and one that is wrong.
const (
	flushed  = "sub.rn.f32 %f9, %f2, %f8; becomes sub.rn.ftz.f32 %f9, %f2, %f8;"
	flushed2 = "sub.rn.f32 %f10, %f5, %f8; becomes sub.rn.ftz.f32 %f10, %f5, %f8;"
	tooFar   = "setp.lt.u32 %p1, %r8, %r1; becomes setp.le.u32 %p1, %r8, %r1;"
)

// TestGroup wants one wrong mutant in a group to be found, and the others to keep their fate.
func TestGroup(t *testing.T) {
	r := newRun(t)
	var g []candidate
	for _, change := range []string{flushed, tooFar, flushed2} {
		g = append(g, candidateOf(t, r.program, change, record.Equivalent))
	}
	if err := r.group(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	want := map[record.Fate]int{record.Killed: 1, record.Equivalent: 2}
	if !reflect.DeepEqual(r.score.Fates, want) {
		t.Errorf("%v, want %v", r.score.Fates, want)
	}
}

// TestGrouped wants groups of one fate that change different instructions, control flow apart.
func TestGrouped(t *testing.T) {
	s := tiny(t)
	p, err := mutate.Parse(s.Name, s.PTX)
	if err != nil {
		t.Fatal(err)
	}
	one := candidateOf(t, p, flushed, record.Equivalent)
	other := candidateOf(t, p, flushed2, record.Equivalent)
	accurate := candidateOf(t, p, flushed2, record.Accurate)
	control := candidateOf(t, p, tooFar, record.Equivalent)
	jump := *control.mutant
	jump.Part = mutate.Control
	control.mutant = &jump
	for _, c := range []struct {
		name    string
		waiting []candidate
		want    []int // sizes
	}{
		{"two instructions", []candidate{one, other}, []int{2}},
		{"one instruction twice", []candidate{one, one}, []int{1, 1}},
		{"two fates", []candidate{one, accurate}, []int{1, 1}},
		{"control flow", []candidate{one, control, other}, []int{2, 1}},
	} {
		var sizes []int
		for _, g := range grouped(c.waiting) {
			sizes = append(sizes, len(g))
		}
		if !reflect.DeepEqual(sizes, c.want) {
			t.Errorf("%s: groups of %v, want %v", c.name, sizes, c.want)
		}
	}
}
