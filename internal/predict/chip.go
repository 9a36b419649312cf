package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Chip holds the throughputs of a GPU from its data sheet. Rates are per SM and clock, unless
// stated otherwise.
type Chip struct {
	Name   string // "L4"
	Target ptx.Target
	SMs    int
	MHz    int
	// F16 and FP8 are the operations of dense tensor cores. A multiplication and an addition
	// count as two. FP8 is 0 if the chip has no FP8 tensor cores.
	F16, FP8 float64
	MMASync  float64 // the share of F16 and FP8 that mma.sync reaches
	Float    float64 // lanes of f32 arithmetic
	DRAM     float64 // GB/s of the whole chip
}

// Throughputs that all chips have in common, per SM and clock: lanes, warps and bytes.
const (
	integerLanes = 64
	expLanes     = 16
	schedulers   = 4
	globalBytes  = 64
	warpLanes    = 32
)

// Chips lists the GPUs that attest knows.
var Chips = []Chip{
	{"A100", ptx.SM80, 108, 1410, 2048, 0, 1, 64, 1555},
	{"L4", ptx.SM89, 58, 2040, 1024, 2048, 1, 128, 300},
	{"RTX-4090", ptx.SM89, 128, 2520, 512, 1024, 1, 128, 1008},
	{"H100", ptx.SM90a, 132, 1980, 4096, 8192, 2.0 / 3, 128, 3350},
	{"H200", ptx.SM90a, 132, 1980, 4096, 8192, 2.0 / 3, 128, 4800},
}

// Find returns the chip with a name. Upper and lower case are the same.
func Find(name string) (Chip, error) {
	var names []string
	for _, c := range Chips {
		if strings.EqualFold(c.Name, name) {
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

// of returns the chip of a GPU that is present: its own SMs and clock, with the rates of the
// chip in Chips that has its name, or of its architecture.
func of(d device.Info) Chip {
	c := For(d.Target, nil)
	for _, known := range Chips {
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
