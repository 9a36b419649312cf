package decode

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
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

// bench is a device with the memory of one problem, for kernels by their configuration.
type bench struct{ *kerneltest.Bench }

func newBench(t testing.TB, dev device.Device, in inputs) *bench {
	return &bench{kerneltest.NewBench(t, dev, in)}
}

// run runs a configuration over the problem, its outputs poisoned before.
func (b *bench) run(c Config) result {
	b.T.Helper()
	k, err := New(b.In.P, c, ptx.SM89)
	if err != nil {
		b.T.Fatal(err)
	}
	return b.Run(k)
}

// emulator is a GPU of a target with its warps in the order of a schedule.
func emulator(t testing.TB, target ptx.Target, schedule uint64, o observe.Observer) device.Device {
	t.Helper()
	return kerneltest.Emulator(t, target, emu.Options{Schedule: schedule, Observer: o})
}

// h200 is the chip whose configurations the tests use.
var h200 = kernel.Chip{SharedPerSM: 228 << 10}

// attends is a problem with one e4m3 sequence per batch: sizes as in b,hq/hkv,sq/skv,d.
func attends(b, hq, hkv, sq, skv, d int) problem.Attention {
	return problem.Attention{Shape: problem.Shape{B: b, Hq: hq, Hkv: hkv, Sq: sq, Skv: skv, D: d}}.Filled()
}
