package chips

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Chip is a GPU.
type Chip struct {
	Name    string // "L4"
	Target  ptx.Target
	SMs     int
	MHz     int // the highest clock of the SMs
	Numbers map[string]Number
}

// Number is one property of a chip.
type Number struct {
	Value  float64 `json:"value"`
	Basis  string  `json:"basis"` // "measured", "published", "derived" or "assumed"
	Source string  `json:"source"`
}

// Get returns the value of a number. It panics if the chip's file does not have it: a test checks
// that all files have the same numbers.
func (c *Chip) Get(name string) float64 {
	n, ok := c.Numbers[name]
	if !ok {
		panic("chips: " + c.Name + " has no number " + name)
	}
	return n.Value
}

// Measured returns the share of the numbers that were measured on the chip.
func (c *Chip) Measured() float64 {
	n := 0
	for _, x := range c.Numbers {
		if x.Basis == "measured" {
			n++
		}
	}
	return float64(n) / float64(max(len(c.Numbers), 1))
}

//go:embed data/*.json
var files embed.FS

// All lists the GPUs that attest knows, the oldest architecture first.
var All = readAll("a100", "l4", "l40s", "rtx-4090", "h100", "h200")

func readAll(names ...string) (all []Chip) {
	for _, name := range names {
		text, err := files.ReadFile("data/" + name + ".json")
		if err != nil {
			panic(err)
		}
		c, err := parse(text)
		if err != nil {
			panic(fmt.Sprintf("chips: %s: %v", name, err))
		}
		all = append(all, c)
	}
	return all
}

// parse reads the file of a chip.
func parse(text []byte) (Chip, error) {
	var file struct {
		Name    string            `json:"name"`
		Target  string            `json:"target"`
		Numbers map[string]Number `json:"numbers"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return Chip{}, err
	}
	target, err := ptx.ParseTarget(file.Target)
	if err != nil {
		return Chip{}, err
	}
	c := Chip{Name: file.Name, Target: target, Numbers: file.Numbers}
	c.SMs, c.MHz = int(c.Get("sms")), int(c.Get("mhz"))
	return c, nil
}

// Runs refuses code for a target that the chip does not run.
func (c *Chip) Runs(t ptx.Target) error {
	if !c.Target.Runs(t) {
		return fmt.Errorf("%s is %s and does not run code for %s: choose another chip, or build the kernel for this one with --device emu:%s", c.Name, c.Target, t, c.Target)
	}
	return nil
}

// Find returns the chip with a name. Upper and lower case are the same, and so are a space and a hyphen.
func Find(name string) (Chip, error) {
	var names []string
	for _, c := range All {
		if strings.EqualFold(c.Name, strings.ReplaceAll(name, " ", "-")) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Chip{}, fmt.Errorf("unknown chip %q: use one of %s", name, strings.Join(names, ", "))
}

// For returns the chip to predict for: the GPU that is present, or else a common GPU of the
// target's architecture.
func For(t ptx.Target, present *device.Info) Chip {
	if present != nil && present.Driver == "cuda" {
		return of(*present)
	}
	switch {
	case t.SM >= 90:
		return must("H200")
	case t.SM >= 87:
		return must("L4")
	}
	return must("A100")
}

func must(name string) Chip {
	c, err := Find(name)
	if err != nil {
		panic(err)
	}
	return c
}

// of returns the chip of a GPU that is present: its own SMs and clock, with the numbers of the
// chip in All that has its name, or of its architecture.
func of(d device.Info) Chip {
	c := For(d.Target, nil)
	for _, known := range All {
		if OnChip(d.Name, known.Name) {
			c = known
		}
	}
	c.Name = strings.TrimPrefix(d.Name, "NVIDIA ")
	if d.SMs > 0 {
		c.SMs = d.SMs
	}
	if d.Clock > 0 {
		c.MHz = d.Clock
	}
	return c
}

// OnChip reports whether a device is a chip: the words of the chip's name follow each other in
// the name of the device. "NVIDIA L40S" is not an L4.
func OnChip(device, chip string) bool {
	words := func(s string) []string { return strings.Fields(strings.ToLower(strings.ReplaceAll(s, "-", " "))) }
	have, want := words(device), words(chip)
	for i := 0; i+len(want) <= len(have); i++ {
		if len(want) > 0 && slices.Equal(have[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func (c Chip) String() string { return fmt.Sprintf("%s (%d SMs at %d MHz)", c.Name, c.SMs, c.MHz) }
