package device_test

import (
	"encoding/json"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
)

func TestThrottle(t *testing.T) {
	for _, c := range []struct {
		reasons device.Throttle
		want    string
	}{
		{0, "none"},
		{device.ThrottleIdle, "idle"},
		{device.ThrottlePowerCap | device.ThrottleThermalSlowdown, "power cap, hardware thermal slowdown"},
		{device.ThrottleDisplay, "display clocks"},
		{1 << 9, "unknown"},
	} {
		if got := c.reasons.String(); got != c.want {
			t.Errorf("%b is %q, want %q", c.reasons, got, c.want)
		}
		text, err := json.Marshal(device.State{Throttle: c.reasons})
		var back device.State
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back.Throttle != c.reasons {
			t.Errorf("%s came back as %v, %v", text, back.Throttle, err)
		}
	}
	if got := (device.ThrottleIdle | device.ThrottleThermal).Slowed(); got != device.ThrottleThermal {
		t.Errorf("slowed by %v", got)
	}
}
