package check_test

import (
	"testing"

	"attest/device"
	"attest/device/devicetest"
	"attest/device/emu"
	"attest/device/emu/check"
	"attest/ptx"
)

// TestConformance runs the conformance suite under the checkers: it is right, and
// stays right when it is watched.
func TestConformance(t *testing.T) {
	c := check.New()
	devicetest.Run(t, func(target ptx.Target) (device.Device, error) {
		for _, d := range c.Defects() {
			t.Logf("%s: %s", d.Kernel, d.String())
		}
		c = check.New()
		return emu.New(target, emu.Options{Observer: c, GuardShared: true})
	})
}
