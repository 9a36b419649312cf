package main

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/mutate"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func mutateCommand(env *cli.Env) *cobra.Command {
	x := &campaign.Mutate{}
	c := &cobra.Command{
		Use:   "mutate KERNEL…",
		Short: "Measure how many planted mistakes the gates find in a kernel",
		Long: `Measure how many planted mistakes the gates find in a kernel: its mutation score.

  attest mutate stage3b

A mutant is the kernel with one small mistake. Each mutant passes the verifier and runs
through the defects and the correctness gate on the emulator, until a gate is red: the
mutant is killed. A mutant that executes several times as many instructions as the kernel,
or whose threads wait for each other, is killed as a hang. The operators are:

` + operatorsHelp() + `
The sample has all mutants of the synchronisation, and --count others, drawn with --seed in
equal shares from the operators and the regions of the kernel: prologue, main loop and
epilogue. It is in random order. With --time, no mutant of a kernel starts after that time;
those that have started are judged to the end, and their score is kept.

A mutant that passes the gates is compared with the kernel on more sizes and inputs, and
runs under the checkers with more tiles of keys than the kernel's ring has stages:

  equivalent  the same bits everywhere: not proven wrong
  accurate    other bits, and errors against float64 of the same size
  wrong       larger errors, a race or a failure: the gates should have found it

  score = killed / (killed + wrong)

The exit code is 1 when a score is below --min-score, or when the emulator fails on a mutant
because of a mistake in attest. Ctrl-C prints the score of the mutants that were decided. That
score is not kept: mutants that pass the gates take longest, and those under way are missing.

JSON: one object per kernel with these fields:

  "kernel", "build"        the kernel, and the machine and the sources
  "plan", "seed"           the plan of the gates, and the seed of the sample
  "possible", "planned"    the number of mutants that the operators can make, and of the sample
  "tried", "sync"          how many were decided, and how many of those change the synchronisation
  "interrupted"            whether the command was interrupted
  "fates", "killers"       numbers of mutants by fate, and of killed ones by gate or "hang"
  "tallies"                a list of {"operator", "region", "fates"}
  "share", "interval"      the score from 0 to 1, and its 95 % interval
  "survivors"              the wrong and the accurate mutants and, of the synchronisation, the
                           equivalent ones: {"operator", "region", "part", "func", "line",
                           "source", "before", "after", "fate", "why", "at"}
  "failures"               mutants on which the emulator failed
  "min_score", "ok"        the least score in percent, and whether the exit code is 0
  "hash", "out"            of the score in the evidence; the folder of saved mutants`,
		Example: `  attest mutate stage3b
  attest mutate hopper-pair --count 300 --seed 7
  attest mutate stage3a+swizzle --plan full --min-score 95
  attest mutate mine.ptx                         mine.json says how it is called
  attest mutate stage5 --count 0                 only the synchronisation
  attest mutate decode --count 1000 --time 4m    as many mutants as 4 minutes allow
  attest mutate stage5 --json | jq '.survivors[] | select(.fate == "wrong")'`,
		RunE: func(c *cobra.Command, args []string) error { return x.Run(c.Context(), env, args) },
	}
	kernelFlags(c, &x.Selection)
	headDimFlag(c, &x.HeadDim)
	keepFlag(c, &x.Dir, evidence.Dir, "scores")
	f := c.Flags()
	f.StringVar(&x.Plan, "plan", "quick", "what the gates measure: smoke, quick or full")
	f.IntVar(&x.Count, "count", 100, "number of mutants to try beside those of the synchronisation")
	f.Uint64Var(&x.Seed, "seed", 1, "seed of the sample")
	f.DurationVar(&x.Time, "time", 0, "start mutants of each kernel for this long, and judge those that have started; 0 is no limit")
	f.IntVar(&x.Jobs, "jobs", runtime.NumCPU(), "number of mutants that run at once")
	f.Float64Var(&x.MinScore, "min-score", 99, "least score in percent")
	f.StringVar(&x.Out, "out", "mutants", "folder to write wrong survivors to; \"\" writes none")
	complete(c, "plan", campaign.PlanNames...)
	return c
}

// operatorsHelp returns one line of help per operator.
func operatorsHelp() string {
	var b strings.Builder
	t := term.Table{Indent: "  "}
	for _, o := range mutate.Operators {
		t.Row(o.Name, o.Doc)
	}
	t.WriteTo(&b)
	return b.String()
}
