package stages

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

type (
	inputs = kerneltest.Inputs
	result = kerneltest.Result
)

// generate makes the inputs of a problem.
var generate = kerneltest.Generate

// normal makes a problem's inputs, N(0,1).
func normal(t testing.TB, p problem.Attention, seed uint64) inputs {
	t.Helper()
	return generate(t, "normal", p, seed)
}

// bench is a device with the memory of one problem, for kernels by their configuration.
// Persistent ones get few blocks, so that each has several tiles.
type bench struct{ *kerneltest.Bench }

func newBench(t testing.TB, dev device.Device, in inputs) *bench {
	b := &bench{kerneltest.NewBench(t, dev, in)}
	b.SMs = 3
	return b
}

func (b *bench) kernel(c Config, t ptx.Target) *kernel.Kernel {
	b.T.Helper()
	k, err := New(b.In.P, c, t)
	if err != nil {
		b.T.Fatal(err)
	}
	return k
}

// run runs a configuration over the problem, its outputs poisoned before.
func (b *bench) run(c Config, t ptx.Target) result {
	b.T.Helper()
	return b.Run(b.kernel(c, t))
}

// emulator is a GPU of the target, with its warps in the order of a schedule.
func emulator(t testing.TB, target ptx.Target, schedule uint64) device.Device {
	t.Helper()
	return kerneltest.Emulator(t, target, emu.Options{Schedule: schedule})
}
