package calibrate

import (
	"context"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/chips"
)

// Probes returns all probes.
func Probes() []Probe {
	return slices.Concat(arithmetic(), memory(), synchronisation(), tensor(), fetches(), blocks())
}

// Report is what a run measured.
type Report struct {
	Device  device.Info `json:"device"`
	Time    string      `json:"time"`
	Results []Result    `json:"results"`
}

// All runs the probes one after the other, and on a GPU also times empty launches. progress is called before each one.
func All(ctx context.Context, dev device.Device, progress func(i, n int, name string)) (*Report, error) {
	list := Probes()
	r := &Report{Device: dev.Info()}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		progress(i, len(list), list[i].Name)
		r.Results = append(r.Results, list[i].Run(ctx, dev))
	}
	if r.Device.Driver == "emu" {
		return r, nil
	}
	more, err := launches(ctx, dev)
	r.Results = append(r.Results, more...)
	return r, err
}

// Merge returns the numbers of a chip with those that a report measured in place of the older ones.
func Merge(c chips.Chip, r *Report) map[string]chips.Number {
	merged := map[string]chips.Number{}
	for name, n := range c.Numbers {
		merged[name] = n
	}
	for _, x := range r.Results {
		if _, ok := merged[x.Name]; ok && x.Error == "" && x.Value > 0 {
			merged[x.Name] = chips.Number{Value: math.Round(x.Value*100) / 100, Basis: "measured", Source: "attest calibrate on " + r.Device.Name + ": " + x.Doc}
		}
	}
	return merged
}
