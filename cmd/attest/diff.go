package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/kerneldiff"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

func diffCommand(env *cli.Env) *cobra.Command {
	x := &differ{env: env}
	c := &cobra.Command{
		Use:   "diff A [B]",
		Short: "Find the first intermediate value in which two kernels differ",
		Long: `Find the first intermediate value in which two kernels differ: the logits S, the maximum m,
the row sum l, the weights P or the output O. Without B, the kernel A is compared with the
float64 reference.

  attest diff mine.ptx
  attest diff stage3b mine.ptx

It works with any kernel, because it looks only at outputs. It runs the kernel once with the
real V, and then once for each D keys with a V that is a part of the identity matrix. The
output is then the matrix of weights P/l, and its pattern shows the wrong value:

  all weights of a row are off by one factor         the row sum l
  the weights before a tile are off by one factor    the rescaling by the maximum m
  single weights are wrong                           the logits S
  the weights are right, but O is wrong              the product with V

The map shows tiles of rows (down) and of keys (across). A dot means that the tile agrees, an
x that it differs. The exit code is 1 if the kernels differ by more than rounding.

JSON: {"a", "b", "shape", "device", "tile_q", "tile_kv", "bad_weights", "bad_outputs", "first":
{"value", "batch", "head", "row", "key", "why"} or null, "tiles": [{"batch", "head", "row",
"keys"}]}.`,
		Example: `  attest diff mine.ptx --shape 1,1,70,64
  attest diff stage3b mine.ptx --shape 1,2,200,64 --seed 3
  attest diff mine.ptx --schedule 3
  attest diff mine.ptx --json | jq -r .first.why`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args) },
	}
	kernelFlags(c, &x.Selection)
	deviceFlag(c, &x.Name)
	shapeFlag(c, &x.shape, "1,1,100,64", "what is computed")
	f := c.Flags()
	f.Uint64Var(&x.seed, "seed", 0, "seed of the inputs")
	f.StringVar(&x.distribution, "distribution", "normal", "distribution of the inputs; attest list distributions shows them")
	f.Uint64Var(&x.schedule, "schedule", 0, "order in which warps run on the emulator: 0 is the natural order; a race differs only in some orders")
	complete(c, "distribution", campaign.Distributions()...)
	return c
}

// differ is the diff command.
type differ struct {
	env *cli.Env
	campaign.Selection
	machine.Machine
	shape        problem.Named
	seed         uint64
	schedule     uint64 // the schedule of the emulator
	distribution string
}

func (x *differ) run(ctx context.Context, names []string) error {
	if x.PTX != "" {
		names, x.PTX = append(names, x.PTX), ""
	}
	if len(names) == 0 || len(names) > 2 {
		return fmt.Errorf("%s given, want one or two; see attest diff --help", english.Are(len(names), "kernel"))
	}
	progress := x.env.StartProgress()
	defer progress.Stop()
	if err := x.Open(); err != nil {
		return err
	}
	defer x.Close()
	x.On(&x.Machine)
	var sides []*kerneldiff.Side
	var in *kerneldiff.Inputs
	var first *lab.Subject
	for _, name := range names {
		s, err := x.OneFor(x.shape, []string{name})
		if err != nil {
			return err
		}
		if err := s.ServesShape(x.shape.Shape); err != nil {
			return fmt.Errorf("--shape: %w", err)
		}
		p := s.At(x.shape.Shape)
		if in == nil {
			if in, err = kerneldiff.NewInputs(p, x.distribution, x.seed); err != nil {
				return err
			}
			first = s
		} else if a, b := first.At(x.shape.Shape), p; !sameProblem(a, b) {
			return fmt.Errorf("%s computes %s and %s computes %s: give both the same format and mask", names[0], a, names[1], b)
		}
		side, err := x.observe(ctx, s, in, func(done, of int) { progress.Say("%s: key %d of %d", name, done, of) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		side.Name = name
		sides = append(sides, side)
	}
	if len(sides) == 1 {
		sides = append(sides, kerneldiff.Reference(in))
	}
	tileQ, tileKV := tiles(first)
	r := kerneldiff.Compare(sides[0], sides[1], first.At(x.shape.Shape), tileQ, tileKV)
	r.Device = x.Where()
	progress.Print(func() { x.show(r) })
	if r.First != nil {
		return cli.Exit(cli.Red)
	}
	return nil
}

// sameProblem reports whether two kernels compute the same weights.
func sameProblem(a, b problem.Attention) bool {
	a.Output, b.Output = "", ""
	return a.String() == b.String()
}

// observe runs a kernel on the device, or on the emulator of its own target.
func (x *differ) observe(ctx context.Context, s *lab.Subject, in *kerneldiff.Inputs, say func(done, of int)) (*kerneldiff.Side, error) {
	if _, err := x.Fitting([]*lab.Subject{s}, false); err != nil {
		return nil, err
	}
	dev := x.Device
	if dev == nil {
		target, err := emu.TargetFor(s.Target)
		if err != nil {
			return nil, err
		}
		own, err := emu.New(target, emu.Options{Schedule: x.schedule})
		if err != nil {
			return nil, err
		}
		defer own.Close()
		dev = own
	}
	return kerneldiff.Observe(ctx, dev, s.Kernel, s.At(x.shape.Shape).Filled().Output, in, say)
}

// tiles returns the tiles of a kernel, or common ones if it does not name them.
func tiles(s *lab.Subject) (q, kv int) {
	q, kv = 16, 32
	if n := s.Structure["tile_q"]; n > 0 {
		q = n
	}
	if n := s.Structure["tile_kv"]; n > 0 {
		kv = n
	}
	return q, kv
}

func (x *differ) show(r *kerneldiff.Report) {
	if x.env.JSON {
		x.env.Encode(r)
		return
	}
	style := x.env.OutStyle()
	fmt.Fprintf(x.env, "%s and %s, shape %s, on %s\n", term.Clean(r.A), term.Clean(r.B), r.Shape, r.Device)
	if r.First == nil {
		fmt.Fprintln(x.env, "ok: all weights and outputs agree, except for rounding")
		return
	}
	d := r.First
	fmt.Fprintf(x.env, "  first difference  %s, batch %d, head %d, row %d", style.Red(d.Value), d.Batch, d.Head, d.Row)
	if d.Key >= 0 {
		fmt.Fprintf(x.env, ", key %d", d.Key)
	}
	fmt.Fprintf(x.env, "\n  %s\n", term.Clean(d.Why))
	fmt.Fprintf(x.env, "  %s of P and %s of O differ by more than rounding\n", english.Count(r.Weights, "element"), english.Count(r.Outputs, "element"))
	if r.Weights == 0 {
		return
	}
	fmt.Fprintf(x.env, "  weights by tile of %d rows (down) and %d keys (across); . agrees, x differs\n", r.TileQ, r.TileKV)
	const most = 24
	for i, t := range r.Tiles {
		if i == most {
			fmt.Fprintf(x.env, "    and %s more\n", english.Count(len(r.Tiles)-most, "tile"))
			break
		}
		fmt.Fprintf(x.env, "    batch %d, head %d, rows from %-5d %s\n", t.Batch, t.Head, t.Row, clip(t.Keys, 80))
	}
}

// clip shortens a line of a map.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
