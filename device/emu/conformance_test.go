package emu_test

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/devicetest"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestConformance runs the suite of package devicetest on the target of each case, under the
// natural schedule and others.
func TestConformance(t *testing.T) {
	for _, seed := range []uint64{0, 1, 7} {
		t.Run(fmt.Sprintf("schedule%d", seed), func(t *testing.T) {
			devicetest.Run(t, func(target ptx.Target) (device.Device, error) {
				return emu.New(target, emu.Options{Schedule: seed, Output: t.Output()})
			})
		})
	}
}

// TestConformanceOfTargets runs, on each target, all cases that the target can run.
func TestConformanceOfTargets(t *testing.T) {
	for _, target := range []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90, ptx.SM90a} {
		t.Run(target.String(), func(t *testing.T) {
			devicetest.Run(t, func(ptx.Target) (device.Device, error) {
				return emu.New(target, emu.Options{Output: t.Output()})
			})
		})
	}
}
