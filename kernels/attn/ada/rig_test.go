package ada

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
)

type (
	inputs = kerneltest.Inputs
	result = kerneltest.Result
)

// generate makes the inputs of a problem.
var generate = kerneltest.Generate

// bench is a device with the memory of one problem, for kernels by their configuration.
type bench struct{ *kerneltest.Bench }

func newBench(t testing.TB, dev device.Device, in inputs) *bench {
	return &bench{kerneltest.NewBench(t, dev, in)}
}

// run runs a configuration over the problem, its outputs poisoned before.
func (b *bench) run(c Config) result {
	b.T.Helper()
	k, err := New(b.In.P, c)
	if err != nil {
		b.T.Fatal(err)
	}
	return b.Run(k)
}

// emulator is the lowest GPU that runs a configuration, with its warps in the order of a schedule.
func emulator(t testing.TB, c Config, schedule uint64, o observe.Observer) device.Device {
	t.Helper()
	return kerneltest.Emulator(t, c.target(), emu.Options{Schedule: schedule, Observer: o})
}

// compute runs a configuration over inputs on the emulator.
func compute(t testing.TB, c Config, in inputs) result {
	t.Helper()
	return newBench(t, emulator(t, c, 0, nil), in).run(c)
}

// square is the problem in which Q, K and V have the same extents.
func square(b, h, s, d int, f problem.Format) problem.Attention {
	return problem.Attention{Shape: problem.Square(b, h, s, d), Format: f}.Filled()
}

// named is the problem of a shape with a name.
func named(t testing.TB, name string) problem.Attention {
	t.Helper()
	s, err := problem.ParseShape(name)
	if err != nil {
		t.Fatal(err)
	}
	return square(s.B, s.Hq, s.Sq, s.D, problem.E4M3)
}
