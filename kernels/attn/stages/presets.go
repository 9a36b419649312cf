package stages

import (
	"fmt"
	"slices"
	"strings"
)

// Preset is a Config with a name and a reason.
type Preset struct {
	Name   string
	Idea   string // what it changes over Base
	Base   string // the preset that it builds on
	Config Config
}

// Presets returns the named stages for head dimension d, in the order in which they build on
// each other. KV tiles have 64 keys for d = 64 and 32 keys for d = 128, so that all presets
// need at most 64 KiB of shared memory.
func Presets(d int) []Preset {
	n := 64
	if d > 64 {
		n = 32
	}
	stage0 := Config{TileM: 32, TileN: n}
	stage1 := stage0
	stage1.Stages, stage1.TensorQK = 2, true
	stage2 := stage1
	stage2.TensorPV = true
	stage3a := stage2
	stage3a.ReuseScores = true
	swizzle := stage2
	swizzle.VectorDequant, swizzle.Swizzle = true, true
	stage3b := stage2
	stage3b.TileM, stage3b.FusedSoftmax, stage3b.VectorDequant = 64, true, true
	stage4 := stage3b
	stage4.Stages = 3
	stage5 := stage3b
	stage5.Producers = 2
	if d > 64 {
		stage5.Stages = 1 // the ring of decoded tiles leaves no room for more
	}
	persistent := stage5
	persistent.Persistent = true
	return []Preset{
		{"stage0", "scalar baseline: every toggle off", "", stage0},
		{"stage1", "stage0 + K and V bytes through a two-stage cp.async ring, Q·Kᵀ on tensor cores", "stage0", stage1},
		{"stage2", "stage1 + P·V on tensor cores, P in shared memory", "stage1", stage2},
		{"stage3a", "stage2 + P overwrites the scores", "stage2", stage3a},
		{"xor-swizzle", "stage2 + 16 bytes decoded at a time into xor-swizzled tiles", "stage2", swizzle},
		{"stage3b", "stage2 + scores and P in registers, one warp per 16 rows; 16 bytes decoded at a time", "stage2", stage3b},
		{"stage4", "stage3b + a three-stage ring", "stage3b", stage4},
		{"stage5", "stage3b + two producer warps, one for K and one for V, that load and decode ahead", "stage3b", stage5},
		{"stage5-persistent", "stage5 + persistent blocks, which compute one tile of queries after the other", "stage5", persistent},
	}
}

// FindPreset returns the preset with a name for head dimension d.
func FindPreset(name string, d int) (Preset, error) {
	all := Presets(d)
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.Name
		}
		return Preset{}, fmt.Errorf("no preset %q: use one of %s", name, strings.Join(names, ", "))
	}
	return all[i], nil
}
