package main

import (
	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
)

func runCommand(env *cli.Env) *cobra.Command {
	x := &campaign.Once{}
	c := &cobra.Command{
		Use:   "run KERNEL",
		Short: "Run a kernel on one case and show its errors and its time",
		Long: `Run a kernel on one shape, seed and distribution, and show its errors and its time.

  attest run stage3b --shape mission

The output is compared with attention in float64, computed twice: from the inputs before
and after their quantisation. Each error stands above the error of a plain computation in
the same precision.

On a GPU, run measures the time of one launch in microseconds, in a replayed graph and
between events, with a warm cache. On the emulator the time is PREDICTED; attest profile
explains it. A wrong output is not timed.

--check all also runs the kernel under the checkers of the emulator, in two orders of its
warps, and shows each race, deadlock or other defect with its line, cause and fix.

run keeps no evidence and gives no verdict: attest gate does. The exit code is 1 when the
output is outside the tolerance, when the kernel changed its inputs or memory around its
buffers, or when a checker finds an error.

JSON: one object with these fields; the evidence has the same names:

  "kernel", "shape", "device"  what ran, and where
  "case"                       the errors
  "wrong"                      the reasons for a red result
  "defects"                    what --check found, or null
  "performance"                the times on a GPU, or null
  "predicted"                  {"chip", "low_us", "high_us", …} without a GPU, or null`,
		Example: `  attest run stage3b --shape mission
  attest run stage3b --shape 2,3,100,64 --seed 7 --distribution one-hot --format u8
  attest run hopper --shape 1,32/4,512/2048,128 --lse
  attest run decode --shape 16,32/8,1/8192,128 --page-size 64 --window 128,0 --softcap 30 --sinks
  attest run decode --shape 3,8/2,1/700,64 --seqlens-k 700,1,50 --check all
  attest run mine.ptx --shape 1,2,100,64 --check all
  attest run mine.ptx --shape 1,8,512,64 --json | jq .case.errors.max`,
		RunE: func(c *cobra.Command, args []string) error { return x.Run(c.Context(), env, args) },
	}
	kernelFlags(c, &x.Selection)
	lengthFlags(c, &x.Selection)
	deviceFlag(c, &x.Name)
	shapeFlag(c, &x.Shape, "small", "what is computed")
	f := c.Flags()
	f.Uint64Var(&x.Seed, "seed", 0, "seed of the inputs")
	f.StringVar(&x.Distribution, "distribution", "normal", "distribution of the inputs; attest list distributions shows them")
	f.StringVar(&x.Check, "check", "none", "defects to look for, on the emulator: all, none or kinds with commas; attest exec --help lists them")
	complete(c, "distribution", campaign.Distributions()...)
	return c
}
