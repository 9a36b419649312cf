package emu

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Targets returns the targets that the emulator supports in full, the oldest first.
func Targets() []ptx.Target {
	return []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90, ptx.SM90a}
}

// TargetFor returns the oldest emulated target that runs code for t. Every part of attest
// that runs PTX on the emulator calls it, so that the same PTX always runs on the same
// target. Code for Blackwell runs on a target that is not in [Targets], because the emulator
// refuses kernels that use the tensor cores of Blackwell.
func TargetFor(t ptx.Target) (ptx.Target, error) {
	for _, known := range slices.Concat(Targets(), ptx.Blackwell) {
		if known.Runs(t) {
			return known, nil
		}
	}
	return ptx.Target{}, fmt.Errorf("no emulated target runs code for %s: the emulator runs code for sm_121a and older", t)
}
