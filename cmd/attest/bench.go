package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
)

func benchCommand(env *cli.Env) *cobra.Command {
	x := &campaign.Bench{}
	c := &cobra.Command{
		Use:   "bench KERNEL…",
		Short: "Time kernels against each other and against libraries, on a GPU",
		Long: `Time kernels against each other and against libraries, on this machine's GPU.

  attest bench stage3b hopper --against torch,fa3

The first kernel is the baseline. Each of the other kernels is timed interleaved with it and
with the libraries of --against, in one process and in random order; --processes repeats that
in other processes. A kernel whose output is wrong is not timed, and the outputs of timed
launches are checked.

Each number is the time of one launch in microseconds. "graph" replays many launches in a
graph and divides by their number; "event" times one launch between two events. "warm" uses
the same buffers again, "cold" uses other buffers. Ratios are ratios of medians with a 95 %
interval; below 1 the kernel is faster. TFLOP/s count 4·B·H·Sq·Skv·D operations, half of that
for causal.

A kernel is written for one head dimension, and hopper is written for a shape. Shapes
that need other texts are timed one group after the other, each with all kernels. A
kernel that does not support a shape is left out there, and so is a kernel whose text is
the baseline's.

--sweep N times N random shapes instead of --shape: 1 to 512 heads, 64 to 131072 keys, grouped
heads and odd lengths among them. Every other shape is causal; with --causal, all are. For a
kernel that supports only a few queries, such as decode, it draws 1 to 4 queries and up to 256
sequences. The record has the seed; --seed with that number draws the same shapes. Each shape
prints one line and has its own record, which is kept as soon as the shape is timed: after an
interrupt, or after the time of --limit, the records of all earlier shapes are there. A sweep
saves time around its measurements: the warm-up is 30 ms, a kernel computes few cases before it
is timed, and outputs of long sequences are compared with the reference on fewer rows, but on
at least 64. attest report --sweep draws the result as a heat map.

--distribution LIST compares errors instead of times: on each shape and each of these
distributions of the inputs, the kernels and the libraries of --against compute from the same
bytes with the same scales, one per head. "total" is the root mean square error against float64
on the inputs before quantisation, and "added" is that on the quantised inputs. The rows that
are compared are spread evenly over the sequence: 1024, or fewer of long sequences, but at
least 64. FlashAttention-3 writes bf16; --output bf16 makes the kernels do the same.

Without a GPU there is nothing to time: the command says so and exits with 0. The exit
code is 1 when a kernel is wrong. --evidence keeps records of what was measured, but no
verdicts: attest gate judges.

JSON, one object per kernel and group of shapes: {"kernel", "baseline", "shapes",
"skipped", "wrong", "performance": every sample and the ceilings of the card, "accuracy": the
errors, with --distribution, "record": its hash}.`,
		Example: `  attest bench stage3b
  attest bench stage2 stage3b stage5 --shape mission,long
  attest bench stage3b --against torch,triton --processes 5
  attest bench hopper --against torch,fa3,triton,jax --shape mission,long,big64,big128 --json
  attest bench hopper --causal --shape big64,huge128
  attest bench hopper --sweep 60 --limit 5m --against fa3,torch,triton --time 150ms
  attest bench hopper hopper-pair hopper-latency --shape 1,8,777,64 --evidence .attest
  attest bench hopper --shape 1,8,512,64,1,1,16384,128 --distribution normal,outliers --against fa3 --output bf16
  attest bench stage3b --mode graph --cache warm,cold --json | jq '.performance.shapes[].summaries[0].p50'`,
		RunE: func(c *cobra.Command, args []string) error { return x.Run(c.Context(), env, args) },
	}
	kernelFlags(c, &x.Selection)
	headDimFlag(c, &x.HeadDim)
	deviceFlag(c, &x.Name)
	againstFlags(c, &x.Campaign)
	shapesFlag(c, &x.Shapes, "what is timed (default mission)")
	methodFlags(c, &x.Modes, &x.Caches, "warm", "cold")
	keepFlag(c, &x.Dir, "", "records")
	f := c.Flags()
	f.IntVar(&x.Samples, "samples", 500, "largest number of samples per candidate")
	f.DurationVar(&x.Energy, "energy", 0, "also run each candidate alone for this long, at least 2s, and show its energy by the GPU's counter; 0 does not")
	f.IntVar(&x.Sweep, "sweep", 0, "time this many random shapes instead of --shape")
	f.StringSliceVar(&x.Distributions, "distribution", nil, "compare the errors on inputs of these distributions with those of --against, instead of timing; attest list distributions shows them")
	f.DurationVar(&x.Limit, "limit", 0, "stop after the shape in which this much time has passed; 0 does not stop")
	f.DurationVar(&x.Time, "time", 20*time.Second, "longest time for each shape and method")
	f.Uint64Var(&x.Seed, "seed", 0, "seed of the inputs and of the order of candidates, to repeat a measurement; 0 draws it at random")
	complete(c, "distribution", campaign.Distributions()...)
	return c
}
