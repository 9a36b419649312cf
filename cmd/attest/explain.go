package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/explain"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/profile"
	"github.com/GOATnote-Inc/attest/problem"
)

func explainCommand(env *cli.Env) *cobra.Command {
	x := &explainer{env: env}
	c := &cobra.Command{
		Use:   "explain KERNEL",
		Short: "Say which changes would make a kernel faster, and by how much",
		Long: `Say which changes of a kernel would make it faster, and by how much.

  attest explain stage2 --chip H200

The simulator of attest profile predicts the time of the kernel. Then it simulates the kernel
again with one change at a time and shows the three changes with the largest gain:

  bank conflicts     accesses of shared memory without bank conflicts
  coalescing         accesses of global memory that use all bytes that they move
  stages             one more stage in a ring that copies fill
  prefetch           a load that starts before its result is needed
  serial reduction   a loop of few threads as a tree over all threads of the block, or a
                     chain of dependent operations as four chains
  exponentials       a polynomial in place of every second exponential
  divisions          multiplications in place of integer divisions by a variable
  products           wgmma in place of mma.sync, on Hopper
  divergence         warps whose lanes take the same path
  occupancy          more blocks per SM
  last wave          a grid that keeps all SMs busy until the end
  imbalance          blocks that all have the same work
  atomics            atomics of lanes that update the same address, as if they took no time
  idle SMs           a grid with a block for every SM
  serial code        code of few threads that takes no time
  barrier            a barrier at which no warp waits
  instruction fetch  machine code that is always in the cache
  launches           one launch in place of several
  line               a line that takes no time

From imbalance on they are bounds ("at most"): no change of that part gives more. A bound ranks
behind a concrete change that gives at least half as much, and a line behind one that gives an
eighth, because it only says where the time goes. Without line information, the copies of an
instruction in a basic block count as one line. The changes are not made in the kernel, their
gains do not add up, and all times are PREDICTED: see attest profile --help.

KERNEL is a kernel of attest or a PTX file with its JSON file, as for attest profile. With
--launch, KERNEL is a PTX file, and the launch file says how to launch it, as for attest exec.
Only a few blocks run, so results that later launches depend on are incomplete.

The exit code is 0 whatever was found, and 2 when the kernel cannot be simulated.

JSON: {"kernel", "shape", "predicted": as in attest profile, "tried": the number of simulated
changes, "changes": a list of {"kind", "what", "launch", "source", "ptx_line", "us": the time
with the change, "gain": microseconds saved, "share": of the present time, "bound"}}.`,
		Example: `  attest explain stage2
  attest explain hopper --shape long --chip H200 --most 10
  attest explain mine.ptx --shape 1,8,512,64
  attest explain kernel.ptx --launch launch.json --chip H200
  attest explain stage3b --json | jq '.changes[0] | .what, .gain'`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args) },
	}
	kernelFlags(c, &x.Selection)
	shapeFlag(c, &x.shape, "mission", "what is computed")
	chipFlag(c, &x.chip, "GPU to predict for", "one of the kernel's target")
	launchFlag(c, &x.launch)
	c.Flags().IntVar(&x.most, "most", 3, "number of changes to show")
	return c
}

// launchFlag names a launch file, for commands that predict times.
func launchFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "launch", "", "launch file of a PTX file that computes anything: see attest exec --help")
}

// explainer is the explain command.
type explainer struct {
	env *cli.Env
	campaign.Selection
	shape        problem.Named
	chip, launch string
	most         int
}

// explained is the JSON of the command.
type explained struct {
	Kernel string `json:"kernel"`
	Shape  string `json:"shape"` // "" with a launch file
	*explain.Result
	title string
}

func (x *explainer) run(ctx context.Context, names []string) error {
	if x.most < 1 {
		return errors.New("--most must be at least 1")
	}
	progress := x.env.StartProgress()
	defer progress.Stop()
	progress.Say("building the kernel")
	e := &explained{}
	works, chip, err := x.works(ctx, names, e)
	if err != nil {
		return err
	}
	if e.Result, err = explain.Of(ctx, works, chip, x.most, func(what string) { progress.Say("simulating: %s", what) }); err != nil {
		return err
	}
	progress.Print(func() {
		if x.env.JSON {
			x.env.Encode(e)
			return
		}
		style := x.env.OutStyle()
		fmt.Fprintf(x.env, "%s  %s\n", style.Bold(e.Kernel), style.Dim(e.title))
		e.WriteText(x.env, style)
	})
	return nil
}

// works returns the launches to simulate and the chip.
func (x *explainer) works(ctx context.Context, names []string, e *explained) ([]predict.Work, chips.Chip, error) {
	if x.launch != "" {
		works, chip, err := launchedWorks(ctx, names, x.launch, x.chip)
		if err == nil {
			e.Kernel, e.title = filepath.Base(names[0]), filepath.Base(x.launch)
		}
		return works, chip, err
	}
	s, err := x.OneFor(x.shape, names)
	if err != nil {
		return nil, chips.Chip{}, err
	}
	chip, err := chipOf(x.chip, s.Target)
	if err != nil {
		return nil, chip, err
	}
	e.Kernel, e.Shape, e.title = s.Name, x.shape.Shape.String(), profile.Title(s, x.shape)
	works, err := profile.Works(ctx, s, x.shape, chip)
	return works, chip, err
}
