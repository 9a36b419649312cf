package main

import (
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/fuzzrun"
	"github.com/GOATnote-Inc/attest/internal/version"
)

func fuzzCommand(env *cli.Env) *cobra.Command {
	x := &fuzzrun.Runner{}
	var worker bool
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "Compare two devices on random kernels, to the bit",
		Long: `Compare two devices on random kernels, to the bit.

  attest fuzz --duration 10m --out finds

fuzz generates small kernels from the instruction table, runs each on both devices and
compares their output. A kernel on which the devices differ is shrunk to the few
instructions that matter and written to a folder of its own, with a launch file for
attest exec and a README that says what differs. It then runs several times alone, and the
report says how often it differed. A kernel that does not differ again still counts.

The devices are --device (a GPU when there is one) and --against (the emulator). When
both are the emulator, one of them runs the warps in another order and launches one more
block; neither may change a result. Kernels are made for --target; a seed always gives
the same kernel. Ctrl-C ends the command after the current batch. The exit code is 1 when
the devices differ.

A kernel that crashes the compiler of the device is counted, but is not a difference.

fuzz avoids what assemblers are known to get wrong; DEVIATIONS.md has the entries. Of the
87,378 opcodes of PTX 9.0 on sm_90a it never generates 7,488 of ld.acquire with a
cache hint (D32), 1,320 of set with a float result (D21) and 200 of atom and red that add
f16x2 outside of global memory (D15). Others are not made in the places where assemblers
fail: atomics that spin, in branches and loops (D26); guards on set and testp (D21, D22);
large shift counts and approximate functions of constants (D23, D24); one register twice
in a product (D25, D28). Predicates are kept in registers between the parts of a kernel
(D33, D35, D36), and the assembler cannot see where a result comes from (D27, D37), nor
that two products of wgmma are the same (D38).

JSON: {"device", "against", "target", "version", "seed", "next", "kernels", "seconds",
"crashed": [seed], "finds": [{"seed", "kind", "what", "block", "thread", "reference",
"other", "instruction", "instructions", "repeats", "seen", "runs", "cut", "path"}]}.
Of "runs" runs alone, "seen" differed; "cut" says that time ran out while it was shrunk.`,
		Example: `  attest fuzz --duration 10m --out finds
  attest fuzz --device cuda:0 --target sm_90a --ptx 8.7
  attest fuzz --device emu --seed 1234 --kernels 1`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if worker {
				return x.Serve(env.In, env.Out)
			}
			return x.Run(c.Context(), env)
		},
	}
	f := c.Flags()
	f.StringVar(&x.Device, "device", "", "device to test: cuda:0, emu …; the default is a GPU if there is one, else emu")
	f.StringVar(&x.Against, "against", "emu", "device to compare with")
	f.StringVar(&x.Target, "target", "sm_90a", "target of the kernels: "+strings.Join(version.Targets(), ", "))
	f.StringVar(&x.Version, "ptx", "8.4", "PTX version of the kernels")
	f.Uint64Var(&x.Seed, "seed", 1, "seed of the first kernel")
	f.DurationVar(&x.Duration, "duration", time.Minute, "longest time to run; 0 is no limit")
	f.IntVar(&x.Kernels, "kernels", 0, "largest number of kernels to try; 0 is no limit")
	f.IntVar(&x.Batch, "batch", 32, "number of kernels per module")
	f.IntVar(&x.Workers, "workers", runtime.NumCPU(), "number of modules that run at once")
	f.StringVar(&x.Out, "out", "finds", "folder to write differences to")
	f.BoolVar(&worker, "worker", false, "run the batches that arrive on standard input")
	f.Lookup("worker").Hidden = true // only attest starts it, as the process that drives a GPU
	completeDevices(c, "device")
	completeDevices(c, "against")
	complete(c, "target", version.Targets()...)
	return c
}
