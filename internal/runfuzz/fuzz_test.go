package runfuzz

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/english"
)

// The default is small: CI runs FuzzRun, and -for, -mutants and -fuzz run for longer.
var (
	mutants = flag.Int("mutants", 1000, "number of mutants of TestMutants and TestCampaign; TestSameBits runs a tenth of them")
	full    = flag.Bool("full", false, "run all texts that mutants are made of")
	first   = flag.Uint64("first", 1, "seed of the first mutant; TestCampaign goes on after earlier campaigns in -out by default")
	last    = flag.Duration("for", 0, "how long TestCampaign runs; 0 skips it")
	workers = flag.Int("workers", 1, "number of mutants that TestCampaign runs at the same time")
	out     = flag.String("out", "", "folder of the failures that TestCampaign finds; the default is a temporary one")
	root    = flag.String("root", "../..", "folder of the repository, from which the texts of the tests are read")
)

// TestCampaign runs mutants for a given time.
func TestCampaign(t *testing.T) {
	if *last == 0 {
		t.Skip("no time is given: use -for 10m")
	}
	runtime.MemProfileRate = 0
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	c := campaign(t)
	c.For, c.Workers, c.Log, c.Every = *last, *workers, os.Stdout, 10*time.Second
	if *out != "" {
		c.Out = *out
	}
	c.First = 0
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "mutants":
			c.Count = uint64(*mutants)
		case "first":
			c.First = *first
		}
	})
	n, err := c.Run(t.Context())
	if err != nil || n > 0 {
		t.Errorf("%d failures, %v: see %s", n, err, c.Out)
	}
	total, campaigns, err := Total(c.Out)
	if err != nil {
		t.Error(err)
	}
	fmt.Printf("total of %s with seeds from %d to %d: %v\n", english.Count(campaigns, "campaign"), total.First, total.End-1, total)
}

// TestMutants runs a given number of mutants.
func TestMutants(t *testing.T) {
	c := campaign(t)
	c.Count = uint64(*mutants)
	n, err := c.Run(t.Context())
	if err != nil || n > 0 {
		t.Errorf("%d failures, %v", n, err)
	}
	if ran := c.outcomes[Ran].Load(); ran*5 < c.Count {
		t.Errorf("only %d of %d mutants are run", ran, *mutants)
	}
	if c.files.Load() == 0 {
		t.Error("no launch file was run")
	}
}

func campaign(t *testing.T) *Campaign {
	return &Campaign{Mutator: mutator(t), First: *first, Workers: 1, Out: t.TempDir(), Log: t.Output(), Every: time.Minute}
}

// TestCorpus runs the texts that mutants are made of.
func TestCorpus(t *testing.T) {
	ran, tried := 0, 0
	corpus, _ := texts(t)
	for i, text := range corpus {
		if i%24 != 0 && !*full {
			continue
		}
		tried++
		res, err := Run(t.Context(), text, fullSetting(uint64(i%5)))
		if err != nil {
			fail(t, uint64(i), text, err)
		}
		if res.Outcome == Ran {
			ran++
		}
	}
	if ran*10 < tried*8 {
		t.Errorf("%d of %d texts run", ran, tried)
	}
}

// FuzzRun loads and runs texts that Go's fuzzer and Mutate change.
func FuzzRun(f *testing.F) {
	corpus, _ := texts(f)
	for i, text := range corpus {
		if i%8 == 0 { // Go runs all of them again before it makes new ones
			f.Add(text, uint64(i))
		}
	}
	m := mutator(f)
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if seed != 0 {
			text = m.Mutate(text, seed)
		}
		if _, err := Run(t.Context(), text, settings(seed)); err != nil {
			fail(t, seed, text, err)
		}
	})
}

var prepared struct {
	once    sync.Once
	mutator *Mutator
}

// mutator returns the mutator of all tests: preparing its texts takes a while.
func mutator(t testing.TB) *Mutator {
	prepared.once.Do(func() { prepared.mutator = NewMutator(texts(t)) })
	return prepared.mutator
}

func texts(t testing.TB) (small, large []string) {
	t.Helper()
	small, large, err := Corpus(*root)
	if err != nil || len(small) < 300 || len(large) < 10 {
		t.Fatalf("%d texts and %d large ones, %v", len(small), len(large), err)
	}
	return small, large
}

// TestJoined: an operator that takes a word away leaves a line that other operators can change.
func TestJoined(t *testing.T) {
	l := joined([]string{"@", "%p", " ", "", ";"})
	if l.raw != "@%p ;" || slices.Contains(l.words, "") || l.op != -1 {
		t.Errorf("%+v", l)
	}
}

// TestTinyTexts: the mutator changes texts of which little or nothing is left.
func TestTinyTexts(t *testing.T) {
	m := mutator(t)
	for _, text := range []string{"", "\n", "ret", "ret;", "a b;", "@p bra x;", "{", ".reg .b32 a;"} {
		for seed := range uint64(2000) {
			m.Mutate(text, seed)
		}
	}
}
