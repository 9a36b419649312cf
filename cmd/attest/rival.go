package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/rivalrun"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/problem"
)

func rivalCommand(env *cli.Env) *cobra.Command {
	x := &rivalrun.Runner{}
	var modes, caches []string
	var source, cutlass string
	c := &cobra.Command{
		Use:   "rival " + strings.Join(rival.Libraries, "|"),
		Short: "Time the attention of another library on this GPU",
		Long: `Time the attention of another library on this machine's GPU, through the Python that is
installed.

  attest rival torch --shape mission

torch is PyTorch (SDPA: flash, cudnn, efficient, math). fa3 is FlashAttention-3 (its
flash_attn_interface, in 16 bits and FP8). triton is a fused kernel that comes with
attest, in 16 bits and FP8. jax is JAX (cuDNN, in 16 bits and FP8). ATTEST_PYTHON names a
Python other than the one on PATH.

FlashAttention-3 depends on its compiler: nvcc 13 makes it up to 10 % faster than earlier
ones. --build compiles its FP8 forward kernels from a checkout with this machine's nvcc and
PyTorch, in two minutes on 16 cores, into a folder of the user's cache (or $ATTEST_FA3).
All commands that time fa3 use it from then on, and their records name the revision and the
compiler.

All implementations are timed interleaved in random order, in one process. Each number is the
time of one launch in microseconds. "graph" replays many launches in a graph and divides by
their number; "event" times one launch between two events. "warm" uses the same buffers again;
"cold" uses others, or flushes the L2 cache. JAX has neither graphs nor events: its "graph" is a
compiled loop, timed by the host's clock. Inputs are N(0,1). The error is the largest one
against float64 on the inputs as the library got them. TFLOP/s count 4·B·H·Sq·Skv·D,
half of that for causal.

Without Python, the library or a GPU there is nothing to time: the command says so and
exits with 0. A library that does not support a case says why. The exit code is 1 when
one failed where it should not have.

JSON: one object per shape with these fields:

  "library", "skipped", "hello"      the library, why it did not run, what it said of itself
  "shape", "causal", "seed"          the problem
  "results"                          a list of {"implementation", "dtype", "mode", "cache",
                                     "note", "why", "summary", "tflops", "max_error",
                                     "mean_error"}
  "run"                              every sample, in the order taken`,
		Example: `  attest rival torch --shape 1,8,512,64
  attest rival triton --shape mission --shape long --dtype e4m3,e5m2
  attest rival fa3 --shape big128 --shape 4,32/4,4096,128 --causal
  attest rival fa3 --build ~/src/flash-attention
  attest rival jax --shape big128 --mode graph --json | jq '.results[].tflops'
  ATTEST_PYTHON=~/venv/bin/python attest rival torch --shape long --cache warm,cold`,
		ValidArgs: rival.Libraries,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(rival.Libraries, args[0]) {
				return fmt.Errorf("name one library: %s; see %s --help", strings.Join(rival.Libraries, ", "), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			switch {
			case source != "" && args[0] != "fa3":
				return errors.New("--build is for fa3 only; the other libraries come installed")
			case source != "":
				return buildFA3(c.Context(), env, source, cutlass)
			case cutlass != "":
				return errors.New("--cutlass goes with --build")
			}
			if x.Methods, err = campaign.Methods(modes, caches); err != nil {
				return err
			}
			if len(x.Shapes) == 0 {
				x.Shapes = shapes.List{shapes.Default(problem.HeadDim{})}
			}
			return x.Run(c.Context(), env, args[0])
		},
	}
	shapesFlag(c, &x.Shapes, "what is timed (default mission)")
	methodFlags(c, &modes, &caches, "warm")
	f := c.Flags()
	f.BoolVar(&x.Causal, "causal", false, "mask the keys after each query")
	f.StringSliceVar(&x.Implementations, "implementation", nil, "only these implementations")
	f.StringSliceVar(&x.DTypes, "dtype", nil, "only these types: f16, bf16, e4m3, e5m2")
	f.Uint64Var(&x.Seed, "seed", 0, "seed of the inputs and of the order")
	f.IntVar(&x.Samples, "samples", 100, "largest number of samples per candidate")
	f.DurationVar(&x.Time, "time", 20*time.Second, "longest time for each shape")
	f.DurationVar(&x.Timeout, "timeout", 5*time.Minute, "longest time that Python may take for one answer")
	f.StringVar(&source, "build", "", "build FlashAttention-3 from this checkout and time nothing")
	f.StringVar(&cutlass, "cutlass", "", "checkout of CUTLASS for --build (default: the submodule of the checkout)")
	complete(c, "dtype", "f16", "bf16", "e4m3", "e5m2")
	return c
}

// buildFA3 builds FlashAttention-3 and says where it is.
func buildFA3(ctx context.Context, env *cli.Env, source, cutlass string) error {
	progress := env.StartProgress()
	defer progress.Stop()
	progress.Say("building FlashAttention-3")
	var last string
	err := rival.BuildFA3(ctx, source, cutlass, func(line string) {
		last = line
		progress.Say("%s", line)
	})
	if err != nil {
		return err
	}
	dir, err := rival.FA3Dir()
	progress.Print(func() {
		if env.JSON {
			env.Encode(map[string]string{"built": last, "dir": dir})
		} else {
			fmt.Fprintf(env, "%s, in %s\n", last, dir)
		}
	})
	return err
}
