package lab

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/record"
)

// Names are the kernels that Preset knows: the stages, then those for Hopper alone.
func Names() (names []string) {
	for _, p := range stages.Presets(64) {
		names = append(names, p.Name)
	}
	for _, d := range hopper.Designs() {
		names = append(names, d.Name)
	}
	return names
}

// ByShape is the kernel for Hopper whose design the shape decides.
const ByShape = "hopper"

// Rungs are the kernels of the ladder: the stages, and the one for Hopper. Its designs by
// name are judged when they are named.
func Rungs() (names []string) {
	for _, p := range stages.Presets(64) {
		names = append(names, p.Name)
	}
	return append(names, ByShape)
}

// Idea is what a kernel changes, and over which other: "stage2 + …".
func Idea(name string) string {
	ladder := stages.Presets(64)
	if i := slices.IndexFunc(ladder, func(p stages.Preset) bool { return p.Name == name }); i >= 0 {
		return ladder[i].Idea
	}
	d, err := hopper.FindDesign(name)
	if err != nil {
		return ""
	}
	return ladder[len(ladder)-1].Name + " + " + d.Idea
}

// BuildsOn is the kernel that another has to beat, "" for the first: the one that its idea
// is added to. Every design for Hopper takes the place of the last stage. None builds on
// [ByShape], which is one of them, the fastest for its shape if it is chosen well: against
// that the best of them would be no change, and the others could only be slower.
func BuildsOn(name string) string {
	base, _, found := strings.Cut(Idea(name), " + ")
	if !found || !slices.Contains(Names(), base) {
		return ""
	}
	return base
}

// Configuration returns the configuration behind the name of a design for Hopper, which
// depends on the shape, and "" for other kernels.
func Configuration(k record.Kernel) string {
	if _, err := hopper.FindDesign(k.Name); err != nil {
		return ""
	}
	return k.Config["config"]
}
