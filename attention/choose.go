package attention

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Preference is the order in which New tries kernels. First comes the family for Hopper,
// on devices that run code for sm_90a: its tensor cores take e4m3 and e5m2 as they are,
// where the stages decode to halves and multiply those at half the rate, and it is the
// only one with causal masks and shared heads. Which of its designs it is, the shape
// decides: [hopper.Choose], by what docs/TUNING.md has measured.
//
// Then the stages, those first that keep scores in registers. Timed on an H200 on three
// problems of D = 64, stage3b, stage4 and stage5 were within 4 % of each other; on one of
// D = 128, (4,16,2048,128), stage3b was the fastest by 5 %.
func Preference() []string {
	return []string{"hopper", "stage3b", "stage4", "stage5", "stage5-persistent", "xor-swizzle", "stage3a", "stage2", "stage1", "stage0"}
}

// choose is the kernel for a problem on a device: the one that was asked for, or the
// first that can.
func choose(info device.Info, p Problem, name string) (design, error) {
	if name != "" {
		d, err := find(info, p, name)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", name, info.Name, err)
		}
		return d, nil
	}
	var why []string
	for _, name := range Preference() {
		d, err := find(info, p, name)
		if err == nil {
			return d, nil
		}
		if !slices.Contains(why, err.Error()) {
			why = append(why, err.Error())
		}
	}
	return nil, fmt.Errorf("no kernel for this problem on %s: %s", info.Name, strings.Join(why, "; "))
}

// find is the kernel of a name, or why it cannot compute the problem on the device.
func find(info device.Info, p Problem, name string) (design, error) {
	if d, err := hopper.FindDesign(name); err == nil {
		return findHopper(info, p, d)
	}
	preset, err := stages.FindPreset(name, p.HeadDim)
	if err != nil {
		return nil, fmt.Errorf("%w; and for Hopper %s", err, strings.Join(designNames(), ", "))
	}
	s := &staged{info: info, preset: preset}
	if s.p, err = p.staged(); err != nil {
		return nil, err
	}
	if err := preset.Config.Check(s.p, info.Target); err != nil {
		return nil, err
	}
	return s, roomy(info, preset.Config.Launch(s.p, info.SMs, 1).Shared)
}

func findHopper(info device.Info, p Problem, d hopper.Design) (design, error) {
	if !info.Target.Runs(ptx.SM90a) {
		return nil, fmt.Errorf("%s does not run the kernels for %s", info.Target, ptx.SM90a)
	}
	h := &forHopper{info: info, p: p.hopper(), as: d.Name}
	h.c = d.Config(h.p, info.SMs)
	if err := h.c.Check(h.p); err != nil {
		return nil, err
	}
	return h, roomy(info, h.c.SharedBytes(p.HeadDim))
}

func designNames() (names []string) {
	for _, d := range hopper.Designs() {
		names = append(names, d.Name)
	}
	return names
}

// roomy refuses a kernel that takes more shared memory than a block has.
func roomy(info device.Info, need int) error {
	if need > info.SharedMax {
		return fmt.Errorf("%d bytes of shared memory, %s has %d a block", need, info.Name, info.SharedMax)
	}
	return nil
}
