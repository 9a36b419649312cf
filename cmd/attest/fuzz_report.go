package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/difffuzz"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// fuzzReport is the JSON of fuzz.
type fuzzReport struct {
	Device  string     `json:"device"`
	Against string     `json:"against"`
	Target  string     `json:"target"`
	Version string     `json:"version"`
	Seed    uint64     `json:"seed"`
	Next    uint64     `json:"next"`
	Kernels int        `json:"kernels"`
	Seconds float64    `json:"seconds"`
	Crashed []uint64   `json:"crashed"`
	Finds   []fuzzFind `json:"finds"`
}

type fuzzFind struct {
	Seed         uint64 `json:"seed"`
	Kind         string `json:"kind"`
	What         string `json:"what"`
	Block        int    `json:"block"`
	Thread       int    `json:"thread"`
	Reference    string `json:"reference"`
	Other        string `json:"other"`
	Instruction  string `json:"instruction"`
	Instructions int    `json:"instructions"`
	Repeats      int    `json:"repeats"`
	Seen         int    `json:"seen"`
	Runs         int    `json:"runs"`
	Cut          bool   `json:"cut"`
	Path         string `json:"path"`
}

// report says what was done and found.
func (z *fuzzing) report(s difffuzz.Stats, took time.Duration) {
	if z.env.JSON {
		z.env.Encode(z.json(s, took))
		return
	}
	style := z.env.OutStyle()
	for _, f := range s.Finds {
		fmt.Fprintf(z.env, "%s\n", f.Path)
		fmt.Fprintf(z.env, "  %s\n", firstLineOf(f.Difference.String()))
		if f.First != nil {
			fmt.Fprintf(z.env, "  first: %s\n", f.First)
		}
		fmt.Fprintf(z.env, "  seed %d, shrunk from %s to %d; %s of this cause\n", f.Seed, term.Count(f.Original.Size(), "instruction"), f.Kernel.Size(),
			term.Count(1+f.Repeats, "kernel"))
		fmt.Fprintf(z.env, "  %s\n", f.Again())
	}
	verdict := style.Green("ok")
	if len(s.Finds) > 0 {
		verdict = style.Red("bad")
	}
	if n := len(s.Crashed); n > 0 {
		fmt.Fprintf(z.env, "%s: on %s the compiler of %s crashed: seeds %v\n", style.Yellow("warning"), term.Count(n, "kernel"), z.deviceName, s.Crashed)
	}
	fmt.Fprintf(z.env, "%s: %s for %s on %s and %s: %s; the next seed is %d\n", verdict, term.Count(s.Kernels, "kernel"), z.options.Target,
		z.againstName, z.deviceName, term.Count(len(s.Finds), "difference"), s.Next)
}

func (z *fuzzing) json(s difffuzz.Stats, took time.Duration) *fuzzReport {
	r := &fuzzReport{
		Device: z.deviceName, Against: z.againstName, Target: z.options.Target.String(), Version: z.options.Version.String(),
		Seed: z.seed, Next: s.Next, Kernels: s.Kernels, Seconds: took.Seconds(), Crashed: append([]uint64{}, s.Crashed...), Finds: []fuzzFind{},
	}
	for _, f := range s.Finds {
		d := f.Difference
		j := fuzzFind{
			Seed: f.Seed, Kind: d.Kind, What: d.What, Block: d.Block, Thread: d.Thread, Reference: d.Reference, Other: d.Other,
			Instructions: f.Kernel.Size(), Repeats: f.Repeats, Seen: f.Seen, Runs: difffuzz.Runs, Cut: f.Cut, Path: f.Path,
		}
		if f.First != nil {
			j.Instruction = f.First.Inst
		}
		r.Finds = append(r.Finds, j)
	}
	return r
}

// firstLineOf leaves out what a driver's log adds below.
func firstLineOf(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
