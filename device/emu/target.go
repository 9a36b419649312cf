package emu

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Targets returns the targets that have an emulator, the oldest first.
func Targets() []ptx.Target {
	return []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90, ptx.SM90a}
}

// TargetFor returns the oldest emulated target that runs code for t. Every part of attest
// that runs PTX on the emulator calls it, so that the same PTX always runs on the same
// target.
func TargetFor(t ptx.Target) (ptx.Target, error) {
	for _, known := range Targets() {
		if known.Runs(t) {
			return known, nil
		}
	}
	return ptx.Target{}, fmt.Errorf("no emulated target runs code for %s: the emulator runs code for sm_90a, sm_90 and older", t)
}
