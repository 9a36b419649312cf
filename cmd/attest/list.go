package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/gpus"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// listed is what list can show.
var listed = []string{"kernels", "presets", "shapes", "distributions", "devices"}

func listCommand(env *cli.Env) *cobra.Command {
	x := &lister{env: env}
	c := &cobra.Command{
		Use:   "list [kernels|presets|shapes|distributions|devices]",
		Short: "What there is to gate, run, bench, profile and tune",
		Long: `List the kernels with the idea of each and the one it builds on (kernels), their
toggles and what they take (presets), the shapes with names, the distributions of
inputs, and the devices of this machine: emulators, GPUs, and the chips whose
throughputs are known to profile and tune. Without an argument: all of it.

JSON: {"kernels": [{"name", "base", "idea"}], "presets": [{"name", "head_dim",
"config", "threads", "shared", "target"}], "shapes": [{"name", "shape",
"gflop"}], "distributions": [{"name", "what"}], "devices": [{"name", "what"}],
"chips": [{"name", "target", "sms", "mhz"}]}, those that were asked for.`,
		Example: `  attest list
  attest list kernels
  attest list presets --json | jq -r '.presets[] | [.name, .config] | @tsv'`,
		ValidArgs: listed,
		Args: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if !slices.Contains(listed, a) {
					hint := "there are " + strings.Join(listed, ", ")
					if near := term.Nearest(a, listed); near != "" {
						hint = fmt.Sprintf("did you mean %q?", near)
					}
					return fmt.Errorf("no list of %q; %s", a, hint)
				}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return x.run(args) },
	}
	return c
}

// lister is the list command.
type lister struct{ env *cli.Env }

// catalogue is the JSON of list.
type catalogue struct {
	Kernels       []listedKernel `json:"kernels,omitempty"`
	Presets       []listedPreset `json:"presets,omitempty"`
	Shapes        []listedShape  `json:"shapes,omitempty"`
	Distributions []listedWord   `json:"distributions,omitempty"`
	Devices       []listedWord   `json:"devices,omitempty"`
	Chips         []listedChip   `json:"chips,omitempty"`
}

type listedKernel struct {
	Name string `json:"name"`
	Base string `json:"base"` // the preset that it builds on, or ""
	Idea string `json:"idea"`
}

type listedPreset struct {
	Name    string `json:"name"`
	HeadDim int    `json:"head_dim"`
	Config  string `json:"config"`
	Threads int    `json:"threads"`
	Shared  int    `json:"shared"` // bytes
	Target  string `json:"target"`
}

type listedShape struct {
	Name  string  `json:"name"`
	Shape string  `json:"shape"`
	GFLOP float64 `json:"gflop"`
}

type listedWord struct {
	Name string `json:"name"`
	What string `json:"what"`
}

type listedChip struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	SMs    int    `json:"sms"`
	MHz    int    `json:"mhz"`
}

func (x *lister) run(args []string) error {
	if len(args) == 0 {
		args = listed
	}
	var c catalogue
	for _, a := range args {
		switch a {
		case "kernels":
			c.Kernels = kernelsListed()
		case "presets":
			var err error
			if c.Presets, err = presetsListed(); err != nil {
				return err
			}
		case "shapes":
			for _, n := range problem.Shapes() {
				c.Shapes = append(c.Shapes, listedShape{n.Name, n.Shape.String(), n.Shape.FLOP() / 1e9})
			}
		case "distributions":
			for _, d := range ref.Distributions() {
				c.Distributions = append(c.Distributions, listedWord{d.Name, d.Doc})
			}
		case "devices":
			c.Devices = devicesListed()
			for _, p := range predict.Chips {
				c.Chips = append(c.Chips, listedChip{p.Name, p.Target.String(), p.SMs, p.MHz})
			}
		}
	}
	if x.env.JSON {
		x.env.Encode(c)
	} else {
		c.print(x.env, len(args) > 1)
	}
	return nil
}

func kernelsListed() (list []listedKernel) {
	for _, name := range presetNames() {
		list = append(list, listedKernel{name, lab.BuildsOn(name), lab.Idea(name)})
	}
	return list
}

func presetsListed() (list []listedPreset, err error) {
	for _, d := range []int{64, 128} {
		for _, name := range presetNames() {
			s, err := lab.Preset(name, lab.Choice{HeadDim: d})
			if err != nil && d > 64 {
				continue // some designs are for heads of 64
			}
			if err != nil {
				return nil, err
			}
			l, err := s.ABI.Extents(abi.Vars{Shape: problem.Square(1, 1, 1, d), SMs: 1, BlocksPerSM: 1})
			if err != nil {
				return nil, err
			}
			list = append(list, listedPreset{
				Name: name, HeadDim: d, Config: s.Config["config"], Threads: l.Block.Norm().Count(), Shared: l.Shared, Target: s.Target.String(),
			})
		}
	}
	return list, nil
}

// devicesListed are what --device may name here.
func devicesListed() (list []listedWord) {
	for _, t := range version.Targets() {
		list = append(list, listedWord{"emu:" + t, "emulator"})
	}
	if gpus.List == nil {
		return list
	}
	cards, err := gpus.List()
	if err != nil {
		return list // doctor says why
	}
	for _, g := range cards {
		list = append(list, listedWord{fmt.Sprintf("cuda:%d", g.Index), fmt.Sprintf("%s, %s", g.Name, g.Target)})
	}
	return list
}

// print writes the lists, each with its heading where there are several.
func (c *catalogue) print(env *cli.Env, titles bool) {
	s := env.OutStyle()
	first := true
	section := func(title string, n int, right string, head []string, row func(i int) []any) {
		if n == 0 {
			return
		}
		t := term.Table{Right: right, Style: s}
		if titles {
			if !first {
				fmt.Fprintln(env)
			}
			first = false
			fmt.Fprintln(env, s.Bold(title))
			t.Indent = "  "
		}
		t.Head(head...)
		for i := range n {
			t.Row(row(i)...)
		}
		t.WriteTo(env)
	}
	section("kernels", len(c.Kernels), "", []string{"name", "over", "idea"}, func(i int) []any {
		k := c.Kernels[i]
		return []any{k.Name, k.Base, k.Idea}
	})
	section("presets", len(c.Presets), "lrrrl", []string{"name", "D", "threads", "shared", "target", "config"}, func(i int) []any {
		p := c.Presets[i]
		return []any{p.Name, p.HeadDim, p.Threads, p.Shared, p.Target, p.Config}
	})
	section("shapes", len(c.Shapes), "llr", []string{"name", "B,H,S,D", "GFLOP"}, func(i int) []any {
		n := c.Shapes[i]
		return []any{n.Name, n.Shape, fmt.Sprintf("%.4g", n.GFLOP)}
	})
	section("distributions", len(c.Distributions), "", []string{"name", "what it is for"}, func(i int) []any {
		return []any{c.Distributions[i].Name, c.Distributions[i].What}
	})
	section("devices", len(c.Devices), "", []string{"--device", "what"}, func(i int) []any {
		return []any{c.Devices[i].Name, c.Devices[i].What}
	})
	section("chips", len(c.Chips), "llrr", []string{"--chip", "target", "SMs", "MHz"}, func(i int) []any {
		p := c.Chips[i]
		return []any{p.Name, p.Target, p.SMs, p.MHz}
	})
}
