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
		Short: "Run a kernel once: how far it is from float64, and how long it takes",
		Long: `Run a kernel on one shape, seed and distribution, and say how far its output is from
attention in float64 and how long it takes.

  attest run stage3b --shape mission

Errors are given against float64 on the inputs as they were and as they were quantised,
each beside the error of a plain computation in the same precision.

On a GPU the time of one launch is measured, in a replayed graph and between events,
with a warm cache. On the emulator it is PREDICTED; attest profile says more. A wrong
output is not timed. Nothing is judged or kept: attest gate does that. The exit code is
1 when the output is outside of the tolerance, or when memory or inputs were changed.

JSON: {"kernel", "shape", "case": the errors, as in the evidence, "wrong": [why],
"performance": the times, as in the evidence, or null, "predicted": {"chip",
"low_us", "high_us", …} or null}.`,
		Example: `  attest run stage3b --shape mission
  attest run stage3b --shape 2,3,100,64 --seed 7 --distribution one-hot --format u8
  attest run hopper --shape 1,32/4,512/2048,128 --lse
  attest run --ptx mine.ptx --abi mine.json --shape 1,8,512,64 --json | jq .case.errors.max`,
		RunE: func(c *cobra.Command, args []string) error { return x.Run(c.Context(), env, args) },
	}
	kernelFlags(c, &x.Selection)
	deviceFlag(c, &x.Name)
	shapeFlag(c, &x.Shape, "small", "what is computed")
	f := c.Flags()
	f.Uint64Var(&x.Seed, "seed", 0, "seed of the inputs")
	f.StringVar(&x.Distribution, "distribution", "normal", "distribution of the inputs; attest list distributions")
	f.StringVar(&x.Check, "check", "none", "defects to look for, on the emulator: all, none or kinds with commas; attest exec --help lists them")
	complete(c, "distribution", campaign.Distributions()...)
	return c
}
