package runfuzz

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTotal runs campaigns with the same folder: they run different seeds, and their counts add up.
func TestTotal(t *testing.T) {
	dir := t.TempDir()
	run := func(count uint64) *Campaign {
		c := campaign(t)
		c.First, c.Count, c.Out, c.Workers = 0, count, dir, 2
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := run(100)
	b := run(70)
	if a.First != 1 || b.First <= 100 {
		t.Errorf("the campaigns begin at %d and %d", a.First, b.First)
	}
	total, n, err := Total(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n != 2 || total.Mutants != 170 || total.Launches != a.launches.Load()+b.launches.Load() || total.Launches < 100 ||
		total.Refused+total.Unloaded+total.Ran != 170 || total.Files < 2 {
		t.Errorf("%d campaigns: %+v", n, total)
	}

	// A process that was killed leaves the seed of its batch.
	mark := markOf(dir, "7")
	if err := os.WriteFile(mark, []byte("90000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c := run(1); c.First != 90000+batch {
		t.Errorf("after a batch that began at 90000: %d", c.First)
	}
	if _, err := os.Stat(filepath.Join(dir, "unended-90000.seed")); err != nil {
		t.Error(err)
	}

	again := Counts{First: total.End - 1, End: total.End, Mutants: 1}
	if err := again.write(dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Total(dir); err == nil || !strings.Contains(err.Error(), "the same seeds") {
		t.Errorf("a seed was counted twice: %v", err)
	}
}

// TestSave checks that every failure is counted and the first ones of a kind are saved.
func TestSave(t *testing.T) {
	c := campaign(t)
	c.kinds = map[string]int{}
	for seed := range uint64(5) {
		c.save(seed, "a text", errors.New("made up"))
	}
	files, err := filepath.Glob(filepath.Join(c.Out, "seed-*.txt"))
	if err != nil || len(files) != mostSaved {
		t.Errorf("%q, %v", files, err)
	}
	if n := c.counts(time.Now()); n.Failures != 5 {
		t.Errorf("%d failures of 5", n.Failures)
	}
}
