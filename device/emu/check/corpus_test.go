package check_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// The corpus of PTX: testdata/ptx/NAME.txtar holds a kernel with a defect and its
// correct twin as one text. Lines marked
//
//	// [bug]      are in the kernel with the defect only
//	// [twin]     are in the correct one only
//	// <- here    are where the defect is reported
//	// <- other   are the other access of a race
//
// The comment says what is wrong, then
//
//	defect: KIND[|KIND] [warning|note|any]   what must be found first; it is an error
//	                                    unless said otherwise
//	also: KIND …                        what may be found as a consequence
//	clean                               or that there is no defect and no twin
//
// launch.json is a launch file, the other files what it names.

// expectation is the finding that a kernel of the corpus must have.
type expectation struct {
	kinds       []finding.Kind
	severity    finding.Severity // "" is any
	also        []finding.Kind
	here, other []string // lines of PTX, or of the source
	where       func(a *finding.Place) string
}

// sample is a kernel of the corpus.
type sample struct {
	files  map[string][]byte
	text   string
	expect *expectation // nil: clean
}

func readSample(t *testing.T, file string) *sample {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{files: map[string][]byte{}}
	for _, f := range a.Files {
		s.files[f.Name] = f.Data
	}
	s.text = string(s.files["kernel.ptx"])
	clean := false
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimSpace(line)
		if line == "clean" {
			clean = true
		} else if rest, ok := strings.CutPrefix(line, "defect: "); ok {
			s.expect = newExpectation(t, rest)
		} else if rest, ok := strings.CutPrefix(line, "also: "); ok {
			s.expect.also = kinds(t, strings.Fields(rest))
		}
	}
	if clean == (s.expect != nil) {
		t.Fatal("the comment must say either clean or defect")
	}
	if s.expect != nil {
		s.expect.here, s.expect.other = marks(s.text, "<- here"), marks(s.text, "<- other")
		s.expect.where = func(a *finding.Place) string { return fmt.Sprint(a.Pos.Line) }
		if len(s.expect.here) == 0 {
			t.Fatal("no line is marked <- here")
		}
	}
	return s
}

// newExpectation reads "KIND[|KIND] [warning|note|any]".
func newExpectation(t *testing.T, text string) *expectation {
	t.Helper()
	words := strings.Fields(text)
	e := &expectation{kinds: kinds(t, strings.Split(words[0], "|")), severity: finding.Error}
	if len(words) > 1 {
		e.severity = finding.Severity(words[1])
		if words[1] == "any" {
			e.severity = ""
		}
	}
	return e
}

func kinds(t *testing.T, words []string) (list []finding.Kind) {
	t.Helper()
	for _, w := range words {
		if !slices.Contains(check.Kinds(), finding.Kind(w)) {
			t.Fatalf("%q is not a kind", w)
		}
		list = append(list, finding.Kind(w))
	}
	return list
}

// marks returns the numbers of the lines that have a mark in their comment.
func marks(text, mark string) (lines []string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if _, c, ok := strings.Cut(line, "//"); ok && strings.Contains(c, mark) {
			lines = append(lines, fmt.Sprint(n))
		}
	}
	return lines
}

// without blanks the lines that have a mark, so that the others keep their numbers.
func without(text, mark string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if _, c, ok := strings.Cut(line, "//"); ok && strings.Contains(c, mark) {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func (s *sample) read(name string) ([]byte, error) {
	data, ok := s.files[name]
	if !ok {
		return nil, fmt.Errorf("%s is not in the archive", name)
	}
	return data, nil
}

// watched is the result of a launch with checkers.
type watched struct {
	defects []finding.Finding
	fault   error
}

// watch runs the launches of a file with all checkers.
func watch(t *testing.T, text string, launches *launchfile.File, read func(string) ([]byte, error), schedule uint64) watched {
	t.Helper()
	m, err := parse.Parse("kernel.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	c := check.New()
	dev, err := emu.New(m.Target, emu.Options{Observer: c, GuardShared: true, KeepGoing: true, Schedule: schedule, MaxInstructions: 1 << 23, Output: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := dev.Load("kernel.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	r := launchfile.Runner{Device: dev, Module: mod, Read: read, Timeout: 2 * time.Minute}
	var w watched
	err = r.Run(context.Background(), launches, func(res *launchfile.Result) {
		w.fault = res.Fault
		for _, cmp := range res.Comparisons {
			if cmp.Mismatches > 0 && w.fault == nil {
				w.fault = fmt.Errorf("%s: %v", res.Entry, cmp)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	w.defects = c.Findings()
	return w
}

// TestCorpus: each defect is the first finding and is reported at its line. The twins have no
// findings.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("blocks that race on purpose race in the emulator too, where the race detector sees them")
	}
	files, err := filepath.Glob("testdata/ptx/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := readSample(t, file)
			launches, err := launchfile.Parse("launch.json", s.files["launch.json"])
			if err != nil {
				t.Fatal(err)
			}
			for _, schedule := range []uint64{0, 5} {
				if s.expect != nil {
					s.expect.judge(t, schedule, watch(t, without(s.text, "[twin]"), launches, s.read, schedule))
				}
				noAlarm(t, schedule, watch(t, without(s.text, "[bug]"), launches, s.read, schedule))
			}
		})
	}
}

// judge checks that the defect is found first, and that all other findings are consequences.
func (e *expectation) judge(t *testing.T, schedule uint64, w watched) {
	t.Helper()
	found := false
	for i := range w.defects {
		d := &w.defects[i]
		switch {
		case e.matches(d):
			found = true
		case d.Severity != finding.Error && e.severity == finding.Error || slices.Contains(e.also, d.Kind):
		default:
			t.Errorf("schedule %d: %s", schedule, describe(d))
		}
		if first := w.defects[0]; i == 0 && !e.matches(&first) && first.Severity == finding.Error {
			t.Errorf("schedule %d: the first defect is not the cause: %s", schedule, describe(d))
		}
	}
	if !found {
		t.Errorf("schedule %d: want %v at %v, other access at %v: not found; the launch gave %v", schedule, e.kinds, e.here, e.other, w.fault)
	}
}

// matches compares a defect with what is expected. Which access of a race comes
// second depends on the schedule.
func (e *expectation) matches(d *finding.Finding) bool {
	if !slices.Contains(e.kinds, d.Kind) || e.severity != "" && d.Severity != e.severity {
		return false
	}
	at := e.where(&d.Place)
	if slices.ContainsFunc(d.Waiters, func(w finding.Waiter) bool { return slices.Contains(e.here, e.where(&w.Place)) }) {
		return true
	}
	if len(e.other) == 0 || d.Other == nil {
		return slices.Contains(e.here, at)
	}
	other := e.where(d.Other)
	return slices.Contains(e.here, at) && slices.Contains(e.other, other) ||
		slices.Contains(e.here, other) && slices.Contains(e.other, at)
}

func describe(d *finding.Finding) string {
	s := fmt.Sprintf("%v; %s by %s at %s", d, d.Action, d.Who(), d.Address)
	if d.Source != "" {
		s += " (" + d.Source + ")"
	}
	if d.Other != nil {
		s += fmt.Sprintf("; the other access: line %d %s by %s %s", d.Other.Pos.Line, d.Other.Inst, d.Other.Who(), d.Other.Source)
	}
	return s
}

// noAlarm checks that a kernel runs and has no findings.
func noAlarm(t *testing.T, schedule uint64, w watched) {
	t.Helper()
	if w.fault != nil {
		t.Errorf("twin, schedule %d: %v", schedule, w.fault)
	}
	for i := range w.defects {
		t.Errorf("twin, schedule %d: %s", schedule, describe(&w.defects[i]))
	}
}

// TestCorpusAssembles: ptxas accepts both texts of every archive.
func TestCorpusAssembles(t *testing.T) {
	if testing.Short() {
		t.Skip("ptxas takes a while over the corpus")
	}
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas on the PATH")
	}
	files, err := filepath.Glob("testdata/ptx/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := readSample(t, file)
			for _, mark := range []string{"[bug]", "[twin]"} {
				text := without(s.text, mark)
				m, err := parse.Parse("kernel.ptx", text)
				if err != nil {
					t.Fatal(err)
				}
				in := filepath.Join(t.TempDir(), "kernel.ptx")
				if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(ptxas, "-arch="+m.Target.String(), "-O0", "-o", in+".cubin", in).CombinedOutput()
				if err != nil {
					t.Errorf("without %s: %v\n%s", mark, err, out)
				}
			}
		})
	}
}
