package evidence

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/recordtest"
)

var full = flag.Bool("full", false, "let every operation on files fail, not only some")

// step is the distance between the operations that fail.
func step() int {
	if *full {
		return 1
	}
	return 5
}

var errInjected = errors.New("injected")

// failAt lets the n-th operation on files of a store fail, and all after it if always is set. It
// returns whether one failed, and which.
func failAt(s *Store, n int, always bool) (failed func() string) {
	count, what := 0, ""
	s.faults = func(operation string) error {
		count++
		if count == n+1 || always && count > n {
			what = operation
			return fmt.Errorf("%s: %w", operation, errInjected)
		}
		return nil
	}
	return func() string { return what }
}

// withRecord returns a store with one record.
func withRecord(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.TempDir())
	if err == nil {
		_, err = addRecord(s, "stage0")
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// addRecord adds a record of a kernel.
func addRecord(s *Store, name string) (string, error) {
	if _, err := s.AddText("// the PTX of " + name); err != nil {
		return "", err
	}
	return s.AddRecord(recordtest.New(name))
}

// intact wants a store without damage, whatever failed.
func intact(t *testing.T, s *Store, after string) {
	t.Helper()
	s.faults = nil
	if c := s.Verify(); !c.OK() {
		t.Errorf("after a failure of %q: %v", after, c.Problems)
	}
}

// TestFaults lets every operation on files fail in turn, once or from then on, while a record is
// added. The store stays intact, and the next attempt succeeds.
func TestFaults(t *testing.T) {
	for _, always := range []bool{false, true} {
		for n := 0; ; n += step() {
			s := withRecord(t)
			failed := failAt(s, n, always)
			_, err := addRecord(s, "stage1")
			if failed() == "" {
				if err != nil || n < 15 {
					t.Errorf("%d operations, %v", n, err)
				}
				break
			}
			if err != nil && !errors.Is(err, errInjected) && !strings.Contains(err.Error(), "injected") {
				t.Errorf("a failure of %q is reported as %v", failed(), err)
			}
			if err == nil && failed() != "read" { // what cannot be read is written again
				t.Errorf("a failure of %q is not reported", failed())
			}
			intact(t, s, failed())
			if _, err := addRecord(s, "stage1"); err != nil {
				t.Errorf("after a failure of %q: %v", failed(), err)
			}
			intact(t, s, failed())
			if c := s.Verify(); c.Records != 2 {
				t.Errorf("after a failure of %q there are %d records", failed(), c.Records)
			}
		}
	}
}

// TestImportFaults is TestFaults for an import: failures of the store that grows, and of the store
// that is read.
func TestImportFaults(t *testing.T) {
	for _, source := range []bool{false, true} {
		for n := 0; ; n += step() {
			from, to := withRecord(t), withRecord(t)
			if _, err := addRecord(from, "stage1"); err != nil {
				t.Fatal(err)
			}
			broken := to
			if source {
				broken = from
			}
			failed := failAt(broken, n, false)
			_, err := to.Import(from)
			if failed() == "" {
				if err != nil || n < 10 {
					t.Errorf("%d operations, %v", n, err)
				}
				break
			}
			from.faults = nil
			intact(t, to, failed())
			if _, err := to.Import(from); err != nil {
				t.Errorf("after a failure of %q: %v", failed(), err)
			}
			intact(t, to, failed())
			if c := to.Verify(); c.Records != 2 {
				t.Errorf("after a failure of %q there are %d records", failed(), c.Records)
			}
		}
	}
}
