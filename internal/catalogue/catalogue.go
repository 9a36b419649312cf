package catalogue

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/gpus"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// Lists are the names of the lists, in the order in which they are printed.
var Lists = []string{"kernels", "presets", "toggles", "shapes", "distributions", "devices"}

// Catalogue is the JSON of attest list. It has the lists that were asked for.
type Catalogue struct {
	Kernels       []Kernel `json:"kernels,omitempty"`
	Presets       []Preset `json:"presets,omitempty"`
	Toggles       []Toggle `json:"toggles,omitempty"`
	Shapes        []Shape  `json:"shapes,omitempty"`
	Distributions []Word   `json:"distributions,omitempty"`
	Devices       []Word   `json:"devices,omitempty"`
	Chips         []Chip   `json:"chips,omitempty"` // listed together with the devices
}

// Kernel is a kernel by its name.
type Kernel struct {
	Name string `json:"name"`
	Base string `json:"base"` // the preset that it builds on, or ""
	Idea string `json:"idea"`
}

// Preset is a kernel for one head dimension.
type Preset struct {
	Name    string `json:"name"`
	HeadDim int    `json:"head_dim"`
	Config  string `json:"config"`
	Threads int    `json:"threads"` // per block
	Shared  int    `json:"shared"`  // bytes per block
	Target  string `json:"target"`
}

// Toggle is a decision of a family's kernels that a name can change: stage3a+swizzle.
type Toggle struct {
	Family string `json:"family"`
	Name   string `json:"name"`
	Values string `json:"values"` // "on, off", or the numbers that tuning tries
	What   string `json:"what"`
}

// Shape is a shape with a name.
type Shape struct {
	Name  string  `json:"name"`
	Shape string  `json:"shape"`
	GFLOP float64 `json:"gflop"`
}

// Word is a name with its description.
type Word struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// Chip is a GPU whose throughputs are known.
type Chip struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	SMs    int    `json:"sms"`
	MHz    int    `json:"mhz"`
}

// New makes the named lists. say is told which kernel is built, since building all of them
// takes seconds on a busy machine.
func New(say func(format string, args ...any), lists ...string) (*Catalogue, error) {
	c := &Catalogue{}
	for _, name := range lists {
		switch name {
		case "kernels":
			for _, name := range kernels.Names() {
				_, v, _ := kernels.Find(name)
				c.Kernels = append(c.Kernels, Kernel{name, v.Base, v.Idea})
			}
		case "presets":
			var err error
			if c.Presets, err = presets(say); err != nil {
				return nil, err
			}
		case "toggles":
			c.Toggles = toggles()
		case "shapes":
			for _, n := range problem.Shapes() {
				c.Shapes = append(c.Shapes, Shape{n.Name, n.Shape.String(), n.Shape.FLOP() / 1e9})
			}
		case "distributions":
			for _, d := range ref.Distributions() {
				c.Distributions = append(c.Distributions, Word{d.Name, d.Doc})
			}
		case "devices":
			say("looking for GPUs")
			c.Devices = Devices()
			for _, p := range chips.All {
				c.Chips = append(c.Chips, Chip{p.Name, p.Target.String(), p.SMs, p.MHz})
			}
		default:
			return nil, fmt.Errorf("there is no list of %q", name)
		}
	}
	return c, nil
}

func toggles() (list []Toggle) {
	for _, f := range kernels.Families() {
		for _, a := range f.Axes() {
			t := Toggle{Family: f.Name(), Name: a.Name, Values: "on, off", What: a.What}
			if !a.Switch() {
				t.Values = strings.Trim(strings.ReplaceAll(fmt.Sprintf("%s", a.Values), " ", ", "), "[]")
			}
			list = append(list, t)
		}
	}
	return list
}

func presets(say func(string, ...any)) (list []Preset, err error) {
	for _, d := range []int{64, 128} {
		for _, name := range kernels.Names() {
			say("building %s for D = %d", name, d)
			s, err := lab.Preset(name, problem.Attention{Shape: problem.Shape{D: d}}, kernel.Chip{})
			if err != nil && d > 64 {
				continue // some designs support only a head dimension of 64
			}
			if err != nil {
				return nil, err
			}
			plan, err := s.Bind(s.At(problem.Square(1, 1, 1, d)), kernel.Chip{}, kernel.Options{})
			if err != nil {
				return nil, err
			}
			l := plan.Steps[0]
			list = append(list, Preset{
				Name: name, HeadDim: d, Config: s.Config["config"], Threads: l.Block[0] * l.Block[1] * l.Block[2], Shared: l.Shared, Target: s.Target.String(),
			})
		}
	}
	return list, nil
}

// Devices returns what --device may name on this machine. attest doctor says why a GPU is
// missing here.
func Devices() (list []Word) {
	for _, t := range version.Targets() {
		list = append(list, Word{"emu:" + t, "emulator"})
	}
	if gpus.List == nil {
		return list
	}
	cards, err := gpus.List()
	if err != nil {
		return list
	}
	for _, g := range cards {
		list = append(list, Word{fmt.Sprintf("cuda:%d", g.Index), fmt.Sprintf("%s, %s", g.Name, g.Target)})
	}
	return list
}
