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

fuzz does not generate code that ptxas is known to compile wrongly. DEVIATIONS.md explains
each case under its number. Of the 87,378 opcodes of PTX 9.0 on sm_90a, fuzz never
generates these:

  7,488  ld.acquire with a cache hint                           D32
  1,320  set with a float result                                D21
    200  atom and red that add f16x2 outside of global memory   D15

It generates others only where ptxas compiles them correctly:

  atomics that spin       not in branches and loops             D26
  set, testp              not under a guard                     D21, D22
  shifts                  not with a large constant count       D23
  approximate functions   not with a constant operand           D24
  matrix products         not with one register twice           D25, D28
  wgmma                   not twice with the same operands      D38
  predicates              not live from one part of a kernel    D33, D35, D36
                          to the next

It also hides from ptxas which instruction wrote a register, because ptxas sometimes draws
wrong conclusions from it (D27, D37).

JSON: one object with these fields:

  "device", "against"    the two devices
  "target", "version"    the target and the PTX version of the kernels
  "seed", "next"         the seed of the first kernel, and the seed to continue with
  "kernels", "seconds"   the number of kernels and the time
  "crashed"              a list of the seeds that crashed the compiler
  "finds"                a list of the kernels on which the devices differ:
      "seed", "kind", "what"         the kernel and the difference
      "block", "thread"              where the outputs differ
      "reference", "other"           the two outputs
      "instruction", "instructions"  the instruction that differs, and the number of
                                     instructions that are left
      "repeats"                      the number of other kernels with the same difference
      "runs", "seen"                 the number of runs alone, and how many differed
      "cut"                          true if time ran out while the kernel was shrunk
      "path"                         the folder of the kernel`,
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
