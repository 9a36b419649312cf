package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/difffuzz"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

func fuzzCommand(env *cli.Env) *cobra.Command {
	z := &fuzzing{env: env}
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "Compare two devices on random kernels",
		Long: `Make random small kernels from the instruction table, run each on two devices and
compare what they write, to the bit. A kernel on which they differ is shrunk to the
few instructions that matter and written to a folder of its own, with a launch file
for attest exec to replay and a README that says what differs. It is run again, alone:
how often it then differs is told, and one that never does counts all the same.

The devices are --device, a GPU when there is one, and --against, the emulator. When
both are the emulator, one runs the warps in another order and has a block more, and
neither may matter. Kernels are for --target; a seed always gives the same kernel.

Ctrl-C ends it after the batch at hand. Something differs: exit code 1.

A kernel that the device's own compiler crashes on is counted and no difference.

What assemblers are known to get wrong is left out, by its entry in DEVIATIONS.md. Of
the 87,378 opcodes of PTX 9.0 on sm_90a these are never made: 7,488 of ld.acquire with a
cache hint (D32), 1,320 of set with a float result (D21) and 200 of atom and red that add
f16x2 other than in global memory (D15). Others are made, but not where it matters:
atomics that spin, in branches and loops (D26); guards on set and testp (D21, D22); large
shift counts and approximate functions of constants (D23, D24); registers that are twice
in a product (D25, D28). Predicates live in registers between pieces (D33, D35, D36), and
an assembler cannot tell where a result comes from (D27, D37), nor that two products of
wgmma are the same (D38).

JSON: {"device", "against", "target", "version", "seed", "next", "kernels", "seconds",
"crashed": [seed], "finds": [{"seed", "kind", "what", "block", "thread", "reference",
"other", "instruction", "instructions", "repeats", "seen", "runs", "cut", "path"}]}:
of "runs" runs alone it was "seen" to differ, "cut" is that time was up while it shrank.`,
		Example: `  attest fuzz --duration 10m --out finds
  attest fuzz --device cuda:0 --target sm_90a --ptx 8.7
  attest fuzz --device emu --seed 1234 --kernels 1`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q is given; it takes only flags, see %s --help", args[0], c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return z.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&z.device, "device", "", "the device to try: cuda:0, emu …; a GPU if there is one, else emu")
	f.StringVar(&z.against, "against", "emu", "the device to compare it with")
	f.StringVar(&z.target, "target", "sm_90a", "what kernels are made for: sm_80, sm_86, sm_89, sm_90 or sm_90a")
	f.StringVar(&z.ptx, "ptx", "8.4", "the PTX version of the kernels")
	f.Uint64Var(&z.seed, "seed", 1, "the seed of the first kernel")
	f.DurationVar(&z.duration, "duration", time.Minute, "how long to go on; 0 is for ever")
	f.IntVar(&z.kernels, "kernels", 0, "how many kernels to try at most; 0 is no limit")
	f.IntVar(&z.batch, "batch", 32, "how many kernels a module has")
	f.IntVar(&z.workers, "workers", runtime.NumCPU(), "how many modules are under way at once")
	f.StringVar(&z.out, "out", "finds", "the folder that finds are written to")
	f.BoolVar(&z.worker, "worker", false, "run the batches that come on standard input")
	f.Lookup("worker").Hidden = true // the other half of a fuzzer with a GPU
	return c
}

// fuzzing is the fuzz command.
type fuzzing struct {
	env                               *cli.Env
	device, against, target, ptx, out string
	seed                              uint64
	duration                          time.Duration
	kernels, batch, workers           int
	worker                            bool
	options                           difffuzz.Options
	deviceName, againstName           string
}

func (z *fuzzing) run(ctx context.Context) error {
	if z.worker {
		return difffuzz.Serve(os.Stdin, z.env.Out, func() (device.Device, error) { return device.Open(z.device) })
	}
	if err := z.misuse(); err != nil {
		return err
	}
	if err := z.choose(); err != nil {
		return err
	}
	start := time.Now()
	stats, err := z.fuzz(ctx, start)
	if err != nil {
		return fmt.Errorf("%w; go on with --seed %d", err, stats.Next)
	}
	z.report(stats, time.Since(start))
	if len(stats.Finds) > 0 {
		return cli.Exit(cli.Red)
	}
	return nil
}

// fuzz runs the fuzzer with a line that says how far it is.
func (z *fuzzing) fuzz(ctx context.Context, start time.Time) (difffuzz.Stats, error) {
	if z.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, z.duration)
		defer cancel()
	}
	progress := term.StartProgress(z.env.Err)
	defer progress.Stop()
	f := &difffuzz.Fuzzer{
		Options: z.options, Seed: z.seed, Batch: z.batch, Kernels: z.kernels, Workers: z.workers, Open: z.open,
		Found: func(find *difffuzz.Find) error {
			if err := find.Write(z.out); err != nil {
				return fmt.Errorf("writing what was found: %w", err)
			}
			progress.Print(func() { fmt.Fprintf(z.env.Err, "%s: %s\n", find.Path, firstLineOf(find.Difference.String())) })
			return nil
		},
		Progress: func(s difffuzz.Stats) {
			rate := float64(s.Kernels) / time.Since(start).Seconds()
			progress.Say("%s, %.1f per second, %s", term.Count(s.Kernels, "kernel"), rate, term.Count(len(s.Finds), "difference"))
		},
	}
	return f.Run(ctx)
}

func (z *fuzzing) misuse() error {
	t, err := ptx.ParseTarget(z.target)
	if err != nil {
		return fmt.Errorf("--target: %w", err)
	}
	var v ptx.Version
	if n, err := fmt.Sscanf(z.ptx, "%d.%d", &v.Major, &v.Minor); n != 2 || err != nil || v.String() != z.ptx {
		return fmt.Errorf("--ptx %s is no version such as 8.4", z.ptx)
	}
	least := max(t.SM, 80)
	switch {
	case !slices.Contains(emu.Targets(), t):
		return fmt.Errorf("--target %s: there are kernels for sm_80, sm_86, sm_89, sm_90 and sm_90a", z.target)
	case v.Less(ptx.Version{Major: 7, Minor: 8}) || v.Less(t.MinVersion()):
		return fmt.Errorf("--ptx %s: kernels for sm_%d need 7.8 at least, those for sm_90a 8.0", z.ptx, least)
	case z.duration < 0 || z.kernels < 0:
		return errors.New("--duration and --kernels must not be negative")
	case z.batch < 1 || z.workers < 1:
		return errors.New("--batch and --workers must be at least 1")
	}
	z.options = difffuzz.Options{Target: t, Version: v}
	return nil
}
