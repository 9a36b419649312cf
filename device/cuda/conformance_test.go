package cuda_test

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/internal/devicetest"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestConformance runs the suite of package devicetest on the GPU.
func TestConformance(t *testing.T) {
	gpu(t) // or skip
	devicetest.Run(t, func(ptx.Target) (device.Device, error) { return cuda.Open(0) })
}

// TestConformanceRelocatable runs the suite with relocatable code.
func TestConformanceRelocatable(t *testing.T) {
	gpu(t) // or skip
	opts := cuda.Options{JIT: cuda.JIT{Relocatable: true}, CacheDir: t.TempDir()}
	devicetest.Run(t, func(ptx.Target) (device.Device, error) { return cuda.OpenWith(0, opts) })
}
