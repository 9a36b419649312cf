package mutation

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/GOATnote-Inc/attest/internal/mutate"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// tiny returns a small kernel.
func tiny(t testing.TB) *lab.Subject {
	t.Helper()
	text, err := os.ReadFile("testdata/tiny.ptx")
	if err != nil {
		t.Fatal(err)
	}
	call, err := os.ReadFile("testdata/tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	a, err := abi.Parse("tiny.json", call)
	if err != nil {
		t.Fatal(err)
	}
	s, err := lab.External("tiny", string(text), a)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// thin is a plan with one head: the gates cannot see a wrong head.
func thin() lab.Plan {
	return lab.Plan{
		Defects: lab.Defects{Shapes: []problem.Shape{problem.Square(1, 1, 5, 0)}, Schedules: []uint64{0, 1}},
		Cases: []lab.Case{
			{Shape: problem.Square(1, 1, 32, 0), Seed: 0, Distribution: "normal"},
			{Shape: problem.Square(1, 1, 17, 0), Seed: 1, Distribution: "rising"},
		},
	}
}

// fateOf judges the mutant of the tiny kernel that makes a change.
func fateOf(t *testing.T, r *run, change string) (found record.Mutant) {
	t.Helper()
	for _, m := range r.program.Mutants() {
		if m.Change() != change {
			continue
		}
		if err := r.program.Check(m); err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		r.score, r.waiting = record.Score{}, nil
		if err := r.one(t.Context(), 0, m); err != nil {
			t.Fatal(err)
		}
		for _, g := range grouped(r.waiting) {
			if err := r.group(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		for fate := range r.score.Fates {
			found.Fate = fate
		}
		for by := range r.score.Killers {
			found.By = by
		}
		return found
	}
	t.Fatalf("no mutant: %s", change)
	return found
}

func newRun(t *testing.T) *run {
	t.Helper()
	s := tiny(t)
	p, err := mutate.Parse(s.Name, s.PTX)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := lab.NewTrials(t.Context(), s, thin(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &run{Options: Options{Progress: func(Progress) {}}, program: p, trials: trials}
}

// TestFates wants each kind of mutant to be told from the others.
func TestFates(t *testing.T) {
	r := newRun(t)
	for _, c := range []struct {
		change string
		fate   record.Fate
		by     string
	}{
		{"max.f32 %f8, %f2, %f5; becomes min.f32 %f8, %f2, %f5;", record.Killed, "correctness"},
		{"setp.lt.u32 %p1, %r8, %r1; becomes setp.le.u32 %p1, %r8, %r1;", record.Killed, "correctness"},
		{"add.u32 %r10, %r10, 1; becomes add.u32 %r10, %r10, 0;", record.Killed, "hang"},
		// A wrong survivor of this plan: with one head, its number is 0.
		{"mul.lo.u32 %r7, %r4, %r1; becomes mul.hi.u32 %r7, %r4, %r1;", record.Survived, ""},
		{"mov.f32 %f2, 0fFF800000; becomes mov.f32 %f2, 0f7F800000;", record.Killed, "correctness"},
		{"sub.rn.f32 %f9, %f2, %f8; becomes sub.rn.ftz.f32 %f9, %f2, %f8;", record.Equivalent, ""},
		{"fma.rn.f32 %f3, %f3, %f9, %f10; becomes fma.rz.f32 %f3, %f3, %f9, %f10;", record.Accurate, ""},
	} {
		m := fateOf(t, r, c.change)
		if m.Fate != c.fate || m.By != c.by {
			t.Errorf("%s: %s by %q, want %s by %q", c.change, m.Fate, m.By, c.fate, c.by)
		}
	}
}

// TestScore wants the score of a fixed sample: the barrier that is needed is killed, the other
// one is equivalent and does not count, and the wrong survivors are reported and saved.
func TestScore(t *testing.T) {
	if testing.Short() {
		t.Skip("judges many mutants")
	}
	var saved []string
	o := Options{
		Plan: thin(), PlanName: "thin", Count: 24, Seed: 1, Jobs: 2,
		Save: func(m record.Mutant, text, _ string) error {
			if !strings.Contains(text, m.After) {
				t.Errorf("the text lacks %s", m.After)
			}
			saved = append(saved, m.Change())
			return nil
		},
	}
	score, err := Run(t.Context(), tiny(t), o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[record.Fate]int{record.Killed: 18, record.Survived: 1, record.Equivalent: 5, record.Accurate: 2}
	if !reflect.DeepEqual(score.Fates, want) {
		t.Errorf("%v, want %v", score.Fates, want)
	}
	if score.Sync != 2 || score.Tried != 26 {
		t.Errorf("%d of the synchronisation, %d tried", score.Sync, score.Tried)
	}
	var wrong []string
	for _, m := range score.Survivors {
		if m.Fate == record.Survived {
			wrong = append(wrong, m.Change())
		}
	}
	slices.Sort(saved)
	slices.Sort(wrong)
	if !slices.Equal(saved, wrong) || len(wrong) != score.Fates[record.Survived] {
		t.Errorf("wrong survivors %q, saved %q", wrong, saved)
	}
	sync := score.Tallies[0]
	if sync.Operator != "sync-remove" || sync.Fates[record.Killed] != 1 || sync.Fates[record.Equivalent] != 1 {
		t.Errorf("%+v", sync)
	}
	killed, all := score.Fates[record.Killed], score.Fates[record.Killed]+score.Fates[record.Survived]
	if share := float64(killed) / float64(all); score.Share != share || !score.Interval.Contains(share) {
		t.Errorf("share %v in %v, want %v", score.Share, score.Interval, share)
	}
}

// TestRedundant wants the reason of a mutant without a barrier to name the operation that orders the
// same accesses: another barrier, or the barrier after it.
func TestRedundant(t *testing.T) {
	if testing.Short() {
		t.Skip("judges many mutants")
	}
	s := tiny(t)
	k := *s.Kernel
	k.PTX = strings.Replace(k.PTX, "\tbar.sync 0;\n", "\tbar.sync 0;\n\tbar.sync 1;\n", 1)
	s.Kernel = &k
	score, err := Run(t.Context(), s, Options{Plan: thin(), Seed: 1, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	why := map[int]string{}
	for _, m := range score.Survivors {
		why[m.Line] = m.Why
	}
	for line, want := range map[int]string{
		37: "redundant: no access needs it, without any one of the 2 nearest other operations either",
		41: "redundant: bar.sync 1; at line 42 orders the same accesses (line 40 before line 56)",
		42: "redundant: bar.sync 0; at line 41 orders the same accesses (line 40 before line 56)",
	} {
		if why[line] != want {
			t.Errorf("line %d: %q, want %q", line, why[line], want)
		}
	}
}

// TestInterrupted wants the mutants that were judged before the end.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	o := Options{Plan: thin(), Count: 100, Seed: 1, Jobs: 1, Progress: func(p Progress) {
		if p.Done == 3 {
			stop()
		}
	}}
	score, err := Run(ctx, tiny(t), o)
	if err == nil || score == nil || !score.Interrupted || score.Tried < 3 || score.Tried > 4 {
		t.Fatalf("%+v, %v", score, err)
	}
}

// TestTime wants no mutant to start when the time is up, those that have started to be judged, and
// the size of the whole sample to be known.
func TestTime(t *testing.T) {
	if testing.Short() {
		t.Skip("judges many mutants")
	}
	r := newRun(t)
	all := r.program.Mutants()
	var sample []*mutate.Mutant
	for m := range r.program.Pick(all, 40, 1) {
		sample = append(sample, m)
	}
	synctest.Test(t, func(t *testing.T) {
		started := 0 // until the second one is decided
		r.Options = Options{Count: 40, Seed: 1, Jobs: 1, Progress: func(p Progress) {
			if p.Done == 2 {
				started = p.Done + len(r.waiting)
				time.Sleep(time.Minute)
			}
		}}
		r.end = time.Now().Add(time.Second)
		if err := r.run(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if r.score.Planned != len(sample) || r.score.Tried != started || started >= len(sample)/2 {
			t.Errorf("%d of %d mutants were tried, want %d of %d", r.score.Tried, r.score.Planned, started, len(sample))
		}
	})
	want := map[[2]string]int{}
	for _, m := range sample[:r.score.Tried] {
		want[[2]string{m.Operator, string(m.Region)}]++
	}
	for _, tally := range r.score.Tallies {
		for _, n := range tally.Fates {
			want[[2]string{tally.Operator, tally.Region}] -= n
		}
	}
	for stratum, n := range want {
		if n != 0 {
			t.Errorf("%v: the tried mutants are not the first of the sample", stratum)
		}
	}
}

// TestNoTime wants no mutant to start if the original takes all the time.
func TestNoTime(t *testing.T) {
	score, err := Run(t.Context(), tiny(t), Options{Plan: thin(), Count: 10, Seed: 1, Time: 1})
	if err != nil || score.Tried != 0 || score.Planned != 12 || score.Interrupted {
		t.Fatalf("%+v, %v", score, err)
	}
}

// TestRedOriginal refuses a kernel that fails the gates itself.
func TestRedOriginal(t *testing.T) {
	s := tiny(t)
	k := *s.Kernel
	k.PTX = strings.Replace(k.PTX, "max.f32", "min.f32", 1)
	s.Kernel = &k
	_, err := Run(t.Context(), s, Options{Plan: thin()})
	if err == nil || !strings.Contains(err.Error(), "fails the correctness gate itself") {
		t.Error(err)
	}
}
