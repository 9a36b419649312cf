package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/kernels"
)

func gateCommand(env *cli.Env) *cobra.Command {
	x := &campaign.Gate{}
	c := &cobra.Command{
		Use:   "gate [KERNEL…]",
		Short: "Judge whether kernels are right and fast enough to be merged",
		Long: `Judge whether kernels are right and fast enough to be merged, and keep the evidence.

  attest gate                                  all kernels of attest
  attest gate mine.ptx                         a kernel of any compiler; mine.json says how
                                               it is called
  attest gate ./mypkg.Kernel                   a kernel of a Go package, which returns a
                                               kernel.Kernel (examples/flash)

Four gates run in this order. A gate that is red stops the kernel.

  resources    registers, shared memory and spills stay within the budget, by ptxas, the
               driver's compiler or an estimate
  defects      the emulator's checkers find no race, missing fence, read of unwritten
               memory or deadlock in several schedules, and all schedules give the same bits.
               The gate is void if less than 90 % of the kernel's lines ran
  correctness  the output is near float64 on many shapes, seeds and distributions; inputs
               and guard bands are unchanged, and a second run gives the same bits. On the
               same inputs, wrong outputs (zeros, the mean of V, swapped heads, a missing
               last tile …) must fail, or the gate is void
  performance  on a GPU, timed interleaved with the baseline and the rivals; the outputs of
               timed launches are checked, and no time may beat physics

Each kernel gets one verdict:

  MERGE           all gates are green, and the kernel is faster than its baseline
  CORRECT         correct, not timed, because there is no GPU. With a baseline the predicted
                  times follow, and "cannot pay" if the kernel would miss the minimum speedup
                  even if its changed part took no time
  NO-CHANGE       the kernel is the same as its baseline
  VALID-NEGATIVE  correct and timed, but not faster by enough
  DEFER           the run could not decide
  REJECT          a gate is red or void

A verdict belongs to the chip that it was measured on. Where more or fewer blocks fit on an
SM of another chip, relative to the baseline, the line "other chips" says so.

The exit code is 1 when a kernel gets REJECT. With --strict, meant for CI, it is 1 unless
every kernel gets MERGE or NO-CHANGE. attest evidence and attest report show what
--evidence keeps.

Without a KERNEL, gate judges the ladder from stage0 to hopper (attest list) as far as
the format and the device allow. Each kernel is compared with the one that it builds on;
designs for Hopper are compared with the last stage. On a machine with a GPU, cases run
there; without one they run on the emulator, and performance is skipped.

Each kernel of a PTX file or a Go package is judged in its own process. A kernel that hangs,
crashes or exceeds --memory or --timeout gets REJECT with the reason, and gate continues with
the next kernel.

A kernel is written for one head dimension, and hopper is written for a shape (mission
without --shape). Where the shapes need several texts, each text is judged on its own
shapes.

The plan decides how much is measured, and the record names it. Each plan adds shapes that
follow from the kernel: its tiles and pipeline stages, and the code that no shape has reached.

  --plan smoke  for the loop of editing and trying: every ring of pipeline stages is filled
                twice, and the kernel is led to the code behind comparisons of sizes, such
                as S > 1000
  --plan quick  also tile edges, remainders from all parts of a tile, more than 64 blocks,
                grouped heads and different lengths with B > 1. Judges the ladder in minutes
                without a GPU
  --plan full   also the named shapes up to long, all distributions, more remainders and
                schedules; meant for a GPU

--shape, --case-seed and --distribution add cases to those of the plan. --shape also decides
what is timed, and the checkers and counters run it too: a large shape with fewer batches,
heads, rows or keys, but the same remainders. Of outputs with more than 4096 rows, 4096 rows
are compared.

--format e4m3 is the default of every command. --format u8 is the simulated FP8 of the
original effort: one byte u in 0..255 means (u-128)/127*448*scale.

Some cases and all timed inputs come from a seed that is drawn at random, so that no kernel
can know them. The record holds it. --seed, or ATTEST_SEED in the environment, repeats a
measurement with the same inputs.

JSON: one object per kernel with these fields; the record itself is in the evidence:

  "kernel", "baseline"      the kernel and what it must beat
  "device", "seed"          where it ran, and the seed of the inputs that no kernel can know
  "verdict"                 {"outcome", "why", "gates"}; a gate is {"name", "status",
                            "summary", "reasons"}
  "record", "verdict_hash"  their hashes in the evidence
  "evidence"                the folder
  "parity"                  {"with", "same", "of"}: cases with the bits of the baseline
  "other_chips"             chips on which the verdict may not hold`,
		Example: `  attest gate
  attest gate stage3b stage4
  attest gate stage3b --plan smoke --evidence ""
  attest gate stage5 --baseline stage3b --format u8 --shape mission --case-seed 0,1,2
  attest gate one.ptx two.ptx stage5 --baseline none
  attest gate prefill --shape 4,8/2,100/300,128 --page-size 64 --window 128,0 --sinks
  attest gate mine.ptx --entry attn --abi calls/mine.json
  attest gate mine.ptx --registers 255 --shared 101376
  attest gate --against torch,fa3,triton,jax --time 2s
  attest gate --plan full --processes 5 --against torch,triton
  attest gate hopper --plan smoke --shape mission,long,big64,big128 --against torch,jax
  attest gate --json | jq -r '[.kernel.name, .verdict.outcome] | @tsv'`,
		RunE: func(c *cobra.Command, args []string) error { return x.Run(c.Context(), env, args) },
	}
	kernelFlags(c, &x.Selection)
	headDimFlag(c, &x.HeadDim)
	deviceFlag(c, &x.Name)
	againstFlags(c, &x.Campaign)
	shapesFlag(c, &x.Shapes, "judge and time these shapes too")
	keepFlag(c, &x.Dir, evidence.Dir, "records and verdicts")
	f := c.Flags()
	f.StringVar(&x.Plan, "plan", "quick", "how much is measured: smoke, quick or full")
	f.Uint64Var(&x.Seed, "seed", 0, "seed of what no kernel may predict, to repeat a measurement; 0 draws it at random")
	f.StringSliceVar(&x.CaseSeeds, "case-seed", nil, "seeds of the inputs of --shape; 0,1 when empty")
	f.StringSliceVar(&x.Distributions, "distribution", nil, "distributions of the inputs of --shape; normal when empty; attest list distributions")
	f.DurationVar(&x.Time, "time", 0, "how long each shape and method is timed at most; 0 is 5s, and 20s with --plan full")
	f.StringSliceVar(&x.Modes, "mode", nil, "how launches are timed: graph, event; the plan decides if --cache is empty too")
	f.StringSliceVar(&x.Caches, "cache", nil, "state of the L2 cache of timed launches: warm, cold; the verdict needs graph and warm")
	complete(c, "mode", "graph", "event")
	complete(c, "cache", "warm", "cold")
	f.IntVar(&x.Registers, "registers", 0, "registers that a thread may use; 0 is 128, or 168 for code of one architecture such as sm_90a")
	f.IntVar(&x.Shared, "shared", 0, "bytes of shared memory that a block may use; 0 is 65536, or 232448 for code of one architecture")
	f.StringVar(&x.Baseline, "baseline", "", "the kernel to beat, or none; the one that a kernel builds on when empty")
	f.StringVar(&x.MinGain, "min-gain", "", "speedup over the baseline that MERGE requires, such as 5%; 10% when empty")
	f.StringVar(&x.Expect, "expect", "", "predicted speedup, +10% or conservative,realistic,optimistic as in 2%,10%,20%; the report compares it with the result")
	f.StringSliceVar(&x.Tolerance, "tolerance", nil, "stricter limits on errors: max=X, mean=X, bad-share=X, relative=X; looser ones are refused")
	f.StringVar(&x.Tag, "tag", "", "git tag to set on the current commit when every verdict is MERGE")
	f.BoolVar(&x.Strict, "strict", false, "exit with 1 unless every verdict is MERGE or NO-CHANGE, for CI")
	f.DurationVar(&x.Timeout, "timeout", 30*time.Minute, "longest time for each kernel of a PTX file; 0 is no limit")
	x.Memory = 8 << 30
	f.Var(&x.Memory, "memory", "largest memory of the process that judges a kernel of a PTX file, as in 512MiB; 0 is no limit")
	complete(c, "plan", campaign.PlanNames...)
	complete(c, "baseline", append([]string{"none"}, kernels.Names()...)...)
	complete(c, "distribution", campaign.Distributions()...)
	return c
}
