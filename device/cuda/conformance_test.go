package cuda_test

import (
	"testing"

	"attest/device"
	"attest/device/cuda"
	"attest/device/devicetest"
	"attest/ptx"
)

// TestConformance runs the suite that the emulator passes on the GPU.
func TestConformance(t *testing.T) {
	gpu(t) // or skip
	devicetest.Run(t, func(ptx.Target) (device.Device, error) { return cuda.Open(0) })
}
