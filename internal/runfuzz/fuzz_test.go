package runfuzz

import (
	"flag"
	"testing"
	"time"
)

// mutants is small by default: CI runs FuzzRun, and -mutants and -fuzz run for longer.
var mutants = flag.Int("mutants", 200, "number of mutants of TestMutants")

var full = flag.Bool("full", false, "run all texts that mutants are made of")

// first is the first seed of TestMutants.
var first = flag.Uint64("first", 1, "seed of the first mutant of TestMutants")

// TestMutants runs mutants without the bookkeeping of Go's fuzzing, which takes longer than most
// of them.
func TestMutants(t *testing.T) {
	corpus := texts(t)
	var outcomes [3]int
	start := time.Now()
	for i := range *mutants {
		seed := *first + uint64(i)
		text := Mutate(corpus[seed%uint64(len(corpus))], seed, corpus)
		out, err := Run(t.Context(), text, seed%5)
		outcomes[out]++
		if err != nil {
			fail(t, seed, text, err)
		}
	}
	t.Logf("%d mutants in %v: %d refused, %d not loaded, %d run", *mutants, time.Since(start).Round(time.Second), outcomes[Refused], outcomes[Unloaded], outcomes[Ran])
	if outcomes[Ran]*20 < *mutants {
		t.Errorf("only %d of %d mutants are run", outcomes[Ran], *mutants)
	}
}

// TestCorpus runs the texts that mutants are made of.
func TestCorpus(t *testing.T) {
	ran, tried := 0, 0
	corpus := texts(t)
	for i, text := range corpus {
		if i%8 != 0 && !*full {
			continue
		}
		tried++
		out, err := Run(t.Context(), text, uint64(i%5))
		if err != nil {
			fail(t, uint64(i), text, err)
		}
		if out == Ran {
			ran++
		}
	}
	if ran*10 < tried*8 {
		t.Errorf("%d of %d texts run", ran, tried)
	}
}

// FuzzRun loads and runs texts that Go's fuzzer and Mutate change.
func FuzzRun(f *testing.F) {
	corpus := texts(f)
	for i, text := range corpus {
		f.Add(text, uint64(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if seed != 0 {
			text = Mutate(text, seed, corpus)
		}
		if _, err := Run(t.Context(), text, seed%5); err != nil {
			fail(t, seed, text, err)
		}
	})
}

func texts(t testing.TB) []string {
	t.Helper()
	corpus, err := Corpus("../..")
	if err != nil || len(corpus) < 300 {
		t.Fatalf("%d texts, %v", len(corpus), err)
	}
	return corpus
}
