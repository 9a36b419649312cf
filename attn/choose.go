package attn

import (
	"fmt"
	"slices"
	"strings"

	"attest/device"
	kernels "attest/kernels/attn"
)

// Preference is the order in which New tries the presets: first those that keep
// scores in registers. Timed on an H200 on three problems of D = 64, stage3b, stage4 and
// stage5 were within 4 % of each other; on one of D = 128, (4,16,2048,128), stage3b was
// the fastest by 5 %.
func Preference() []string {
	return []string{"stage3b", "stage4", "stage5", "stage5-persistent", "xor-swizzle", "stage3a", "stage2", "stage1", "stage0"}
}

// choose is the kernel for a problem on a device: the one that was asked for, or the
// first that can.
func choose(info device.Info, p Problem, name string) (kernels.Preset, error) {
	if name != "" {
		preset, err := kernels.FindPreset(name, p.HeadDim)
		if err != nil {
			return preset, err
		}
		if err := able(info, p, preset.Config); err != nil {
			return preset, fmt.Errorf("%s on %s: %w", name, info.Name, err)
		}
		return preset, nil
	}
	presets := kernels.Presets(p.HeadDim)
	var why []string
	for _, name := range Preference() {
		i := slices.IndexFunc(presets, func(k kernels.Preset) bool { return k.Name == name })
		if i < 0 {
			continue
		}
		err := able(info, p, presets[i].Config)
		if err == nil {
			return presets[i], nil
		}
		if !slices.Contains(why, err.Error()) {
			why = append(why, err.Error())
		}
	}
	return kernels.Preset{}, fmt.Errorf("no kernel for this problem on %s: %s", info.Name, strings.Join(why, "; "))
}

// able says why a kernel cannot compute a problem on a device.
func able(info device.Info, p Problem, c kernels.Config) error {
	if err := c.Check(p, info.Target); err != nil {
		return err
	}
	if need := c.Launch(p, info.SMs, 1).Shared; need > info.SharedMax {
		return fmt.Errorf("%d bytes of shared memory, %s has %d a block", need, info.Name, info.SharedMax)
	}
	return nil
}
