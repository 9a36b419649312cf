package attn

import (
	"fmt"
	"testing"

	"attest/device/emu"
	"attest/device/emu/check"
	"attest/fp8"
	"attest/ptx"
)

// TestNoDefects runs every preset under every checker, in several orders of warps.
func TestNoDefects(t *testing.T) {
	schedules, lengths := []uint64{1}, []int{97}
	if *full {
		schedules, lengths = []uint64{0, 1, 2, 3}, []int{1, 64, 97, 200}
	}
	for _, d := range []int{64, 128} {
		for _, preset := range Presets(d) {
			for _, s := range lengths {
				for _, schedule := range schedules {
					t.Run(fmt.Sprintf("%s/d%d/s%d/schedule%d", preset.Name, d, s, schedule), func(t *testing.T) {
						c := check.New()
						dev, err := emu.New(ptx.SM90, emu.Options{Schedule: schedule, Observer: c})
						if err != nil {
							t.Fatal(err)
						}
						in := normal(t, Problem{Batch: 1, Heads: 2, Seq: s, HeadDim: d, Format: fp8.E4M3, LSE: true}, 1)
						newBench(t, dev, in).run(preset.Config, ptx.SM89)
						for _, defect := range c.Defects() {
							t.Error(defect)
						}
					})
				}
			}
		}
	}
}
