package main

import (
	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/tune"
)

func tuneCommand(env *cli.Env) *cobra.Command {
	x := &tune.Driver{}
	c := &cobra.Command{
		Use:   "tune KERNEL",
		Short: "Search the configurations of a kernel for the fastest three",
		Long: `Search the configurations of a kernel for the fastest three.

  attest tune stage3b --shape long

The search starts from a preset and changes one decision at a time: tiles of rows and
keys, pipeline stages, producer warps and every toggle; for kernels for Hopper, tiles,
warpgroups, splits, toggles and the named designs. It always continues from the best
configuration, until the best three have no neighbour left that was not tried, or until
--budget configurations were tried.

A configuration must pass the gates of resources, defects and correctness by the smoke
plan of attest gate before its time counts. On a GPU times are measured, interleaved
with the preset. Without a GPU they are PREDICTED by the simulator of attest profile. Gate and
measure the best before you believe them.

Everything that was tried is in --state, which is written after each configuration; the
same command continues from there after Ctrl-C or a crash. --out writes the PTX of the best
three and their ABI files, ready for attest gate --ptx.

JSON: {"goal", "tried", "green", "spent", "start", "best": [{"name", "config",
"sha256", "us", "ratio"}], "state"}.`,
		Example: `  attest tune stage3b
  attest tune stage5 --shape long --budget 100 --device cuda:0
  attest tune stage3b --chip H200 --out best
  attest tune hopper --shape long --device cuda:0
  attest tune stage3b --json | jq -r '.best[].name'`,
		RunE: func(c *cobra.Command, args []string) error { return x.Run(c.Context(), env, args) },
	}
	formatFlags(c, &x.Selection)
	servingFlags(c, &x.Selection)
	deviceFlag(c, &x.Name)
	shapeFlag(c, &x.Shape, "mission", "shape that the kernel is made fast for")
	chipFlag(c, &x.Chip, "GPU to predict for", "one of the kernel's target")
	f := c.Flags()
	f.IntVar(&x.Budget, "budget", 60, "largest number of configurations to try")
	f.StringVar(&x.State, "state", "", "file that keeps what was tried; .attest/tune-KERNEL.json when empty")
	f.StringVar(&x.Out, "out", "", "folder to write the PTX and the ABI files of the best three to")
	return c
}
