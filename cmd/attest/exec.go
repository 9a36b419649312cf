package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/execrun"
)

func execCommand(env *cli.Env) *cobra.Command {
	x := &execrun.Runner{}
	c := &cobra.Command{
		Use:   "exec FILE --launch LAUNCH.json",
		Short: "Run the kernels of a PTX file and compare what they write",
		Long: `Run the kernels of a PTX file as a launch file says, on the emulator or a GPU, and compare
the buffers that they write with what is expected.

  attest exec kernel.ptx --launch launch.json --check all

A launch file describes one launch, or a list of launches, in JSON:

  {"entry": "saxpy", "grid": [4], "block": [256], "shared": 0,
   "params": [
     {"buffer": "x.bin"},                      a device buffer with the bytes of a file
     {"buffer": "y.bin", "expect": "out.bin"}, and the bytes that it must hold afterwards
     {"f32": 2.5}, {"u32": 1024}]}             values; also "bytes": "hex"

{"zeros": N} and {"poison": N} are buffers of N bytes, {"tensormap": {…}} is a tensor map of
a buffer. A later launch uses a buffer with a "name" as {"ref": "name"}. A launch may also set
"globals" of the module, hold "buffers" that are no parameters, write "pointers" into buffers
and structures, and name another PTX file as its "module". "type", "abs", "rel" and "ulp"
set the tolerance of "expect", and "save": "file" writes the buffer to a file. Paths are
relative to the launch file. Only files in its folder, or in the folder that --root names,
are read and written. go doc github.com/GOATnote-Inc/attest/device/launchfile describes all
fields.

What a kernel prints goes to standard output. The exit code is 1 for a fault, a deadlock,
a mismatch, a defect that is an error, or bits that depend on the schedule. It is 2 when
the kernels cannot be run, and 3 when attest itself failed.

--check all watches the kernel on the emulator and finds defects that a GPU may show once in
a thousand runs. Each finding has its line, its threads and, for a race, the other access.
Errors make the exit code 1, warnings do not. These are the kinds of defects:

` + cli.KindsHelp() + `

--counters prints what the kernel did. --listing prints its PTX with counters beside each
line: how often warps executed it, the share of active lanes, bank conflicts, and sectors
of global memory per request. --sarif writes the defects for editors and CI.

PTX lets an assembler fuse mul and add or sub without a rounding modifier into an fma, which
rounds once. By default the emulator fuses them where NVIDIA's assembler does (the rule is in
DEVIATIONS.md, D3); --fma=written executes the text as it stands. If a mismatch disappears in
the other mode, the report says so.

The emulator runs the text on the least target that can; --device emu:sm_89 names one.

JSON: one object with these fields; go doc github.com/GOATnote-Inc/attest/cmd/attest explains
all of them:

  "device", "schedules"  where it ran, and in how many orders of warps
  "launches"             a list of {"entry", "module", "ok", "compared", "mismatches",
                         "buffers", "defects", "output", "stats", "counters"}
  "defects"              a list of {"kind", "severity", "message", "ptx_line", "source",
                         "block", "warp", "lanes", "address", "other", "why", "fix", …}
  "stats"                {"thread_instructions", "warp_instructions", "seconds"}`,
		Example: `  attest exec kernel.ptx --launch launch.json
  attest exec kernel.ptx --launch launch.json --check all --schedules 4
  attest exec kernel.ptx --launch launch.json --check shared-race,deadlock
  attest exec kernel.ptx --launch launch.json --counters --listing=kernel.lst
  attest exec kernel.ptx --launch launch.json --check all --sarif kernel.sarif
  attest exec kernel.ptx --launch launch.json --device emu:sm_89 --stats
  attest exec kernel.ptx --launch launch.json --json | jq '.launches[].ok'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 && x.Listing == execrun.Stdout {
				return errors.New("--listing takes its file with an equals sign: --listing=FILE")
			}
			if len(args) != 1 {
				return fmt.Errorf("%s given, want one; see %s --help", english.Are(len(args), "file"), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return x.Run(c.Context(), env, args[0]) },
	}
	f := c.Flags()
	f.StringVar(&x.Launch, "launch", "", "the launch file")
	f.StringVar(&x.Device, "device", "emu", "where to run: emu, emu:sm_89, cuda:0 …; emu is the emulator of the least target that runs the file")
	f.StringVar(&x.Check, "check", "none", "defects to look for, on the emulator: all, none or kinds with commas between them")
	f.StringVar(&x.SARIF, "sarif", "", "write the defects to this file as SARIF 2.1.0")
	f.BoolVar(&x.Counters, "counters", false, "print counts of instructions, bank conflicts, sectors, divergence and bytes (emulator)")
	f.StringVar(&x.Listing, "listing", "", "print the PTX with counters and defects at its lines; --listing=FILE writes it there (emulator)")
	f.Lookup("listing").NoOptDefVal = execrun.Stdout
	f.Uint64Var(&x.Schedule, "schedule", 0, "order in which warps run: 0 is the natural order, numbers below a million permute the warps, and attest gate names others")
	f.IntVar(&x.Schedules, "schedules", 1, "number of schedules to try; all must give the same bits")
	f.BoolVar(&x.Stats, "stats", false, "print the number of instructions and the time in seconds")
	f.DurationVar(&x.Timeout, "timeout", 5*time.Minute, "longest time that loading and each launch may take; 0 is no limit")
	x.Memory = 8 << 30
	f.Var(&x.Memory, "memory", "largest memory of the run, as in 512MiB; 0 is no limit")
	f.StringVar(&x.Root, "root", "", "the `folder` below which the files that the launch file names are read and written; its own folder when empty")
	f.Uint64Var(&x.MaxInstructions, "max-instructions", 0, "largest number of instructions that a warp may run; 0 is the limit of the emulator")
	f.StringVar(&x.FMA, "fma", execrun.FMAPtxas, "mul and add without a rounding modifier: ptxas fuses them by the rule of DEVIATIONS.md, D3, written does not (emulator)")
	completeDevices(c, "device")
	return c
}
