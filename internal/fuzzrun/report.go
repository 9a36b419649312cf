package fuzzrun

import (
	"fmt"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/difffuzz"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// Report is the JSON of attest fuzz.
type Report struct {
	Device  string   `json:"device"`
	Against string   `json:"against"`
	Target  string   `json:"target"`
	Version string   `json:"version"`
	Seed    uint64   `json:"seed"`
	Next    uint64   `json:"next"`
	Kernels int      `json:"kernels"`
	Seconds float64  `json:"seconds"`
	Crashed []uint64 `json:"crashed"`
	Finds   []Find   `json:"finds"`
}

// Find is a kernel on which the devices differ.
type Find struct {
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

// show prints the finds and a summary.
func (x *Runner) show(env *cli.Env, s difffuzz.Stats, took time.Duration) {
	if env.JSON {
		env.Encode(x.report(s, took))
		return
	}
	style := env.OutStyle()
	for _, f := range s.Finds {
		fmt.Fprintf(env, "%s\n", f.Path)
		fmt.Fprintf(env, "  %s\n", firstLine(f.Difference.String()))
		if f.First != nil {
			fmt.Fprintf(env, "  first: %s\n", f.First)
		}
		fmt.Fprintf(env, "  seed %d, shrunk from %s to %d; %s with this cause\n", f.Seed, english.Count(f.Original.Size(), "instruction"), f.Kernel.Size(),
			english.Count(1+f.Repeats, "kernel"))
		fmt.Fprintf(env, "  %s\n", f.Reproducibility())
	}
	verdict := style.Green("ok")
	if len(s.Finds) > 0 {
		verdict = style.Red("bad")
	}
	if n := len(s.Crashed); n > 0 {
		fmt.Fprintf(env, "%s: the compiler of %[3]s crashed on %[2]s: seeds %[4]v\n", style.Yellow("warning"), english.Count(n, "kernel"), x.deviceName, s.Crashed)
	}
	fmt.Fprintf(env, "%s: %s for %s on %s and %s: %s; the next seed is %d\n", verdict, english.Count(s.Kernels, "kernel"), x.options.Target,
		x.againstName, x.deviceName, english.Count(len(s.Finds), "difference"), s.Next)
}

// report returns the JSON.
func (x *Runner) report(s difffuzz.Stats, took time.Duration) *Report {
	r := &Report{
		Device: x.deviceName, Against: x.againstName, Target: x.options.Target.String(), Version: x.options.Version.String(),
		Seed: x.Seed, Next: s.Next, Kernels: s.Kernels, Seconds: took.Seconds(), Crashed: append([]uint64{}, s.Crashed...), Finds: []Find{},
	}
	for _, f := range s.Finds {
		d := f.Difference
		j := Find{
			Seed: f.Seed, Kind: d.Kind, What: d.What, Block: d.Block, Thread: d.Thread, Reference: d.Reference, Other: d.Other,
			Instructions: f.Kernel.Size(), Repeats: f.Repeats, Seen: f.Reproduced, Runs: difffuzz.Runs, Cut: f.Interrupted, Path: f.Path,
		}
		if f.First != nil {
			j.Instruction = f.First.Inst
		}
		r.Finds = append(r.Finds, j)
	}
	return r
}

// firstLine returns the first line of s, without the log that a driver adds below it.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
