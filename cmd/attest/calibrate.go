package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/calibrate"
	"github.com/GOATnote-Inc/attest/internal/cli"
)

func calibrateCommand(env *cli.Env) *cobra.Command {
	x := &calibrate.Command{Now: time.Now}
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the latencies and throughputs of a GPU, for predictions",
		Long: `Measure the latencies and throughputs of this machine's GPU with small kernels, one per
number, and compare them with what attest knows of the chip.

  attest calibrate --out h200.json

The numbers are what attest profile predicts times from. Each kernel is a loop between two
readings of the clock; the difference between a short and a long run is free of everything
outside the loop. A run takes about a minute.

--out writes a JSON file with all results and with the chip's numbers, in which the measured
ones replace the older ones. Without a GPU the command is refused. --device emu runs the
kernels on the emulator, but the times mean nothing.

JSON: {"device", "time", "results": [{"name", "value", "unit", "doc", "cycles", "error"}],
"numbers": the numbers of the chip by name, each {"value", "basis", "source"}}.`,
		Example: `  attest calibrate
  attest calibrate --device cuda:0 --out h200.json
  attest calibrate --json | jq '.results[] | select(.name == "mufu_interval")'`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return x.Run(c.Context(), env) },
	}
	deviceFlag(c, &x.Name)
	c.Flags().StringVar(&x.Out, "out", "", "file to write the results to")
	return c
}
