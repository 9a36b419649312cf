package lab

import (
	"bytes"
	"context"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestProbes runs the probes under the checkers and counts their work, since the ceilings are
// computed from it.
func TestProbes(t *testing.T) {
	for _, c := range []struct {
		kernel *build.Kernel
		launch device.Launch
		ops    uint64
	}{
		{wgmmaKernel(), device.Launch{Grid: device.D(2), Block: device.D(128), Params: []device.Param{device.U32(2)}}, 2 * 2 * 4 * 2 * 64 * 256 * 32},
		{mmaKernel(), device.Launch{Grid: device.D(2), Block: device.D(256), Params: []device.Param{device.U32(2)}}, 2 * 8 * 2 * mmaSums * 2 * 16 * 8 * 32},
	} {
		text, err := c.kernel.PTX()
		if err != nil {
			t.Fatal(err)
		}
		checker, counter := check.New(), count.New()
		dev, err := emu.New(ptx.SM90a, emu.Options{Observer: observe.Tee(checker, counter), GuardShared: true})
		if err != nil {
			t.Fatal(err)
		}
		run(t, dev, c.kernel.Name(), text, c.launch)
		for _, d := range checker.Findings() {
			t.Errorf("%s: %v", c.kernel.Name(), &d)
		}
		var ops uint64
		for _, x := range counter.Launches()[0].Tensor {
			ops += x.Operations
		}
		if ops != c.ops {
			t.Errorf("%s: %d operations, want %d", c.kernel.Name(), ops, c.ops)
		}
		ask := resources.OnPath()
		if ask.Ptxas == "" {
			continue
		}
		r, err := resources.Of(context.Background(), c.kernel.Name(), text, ptx.SM90a, ask)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Advice {
			t.Errorf("%s: %s %s", c.kernel.Name(), a.Code, a.Message)
		}
		if u := r.Usage(c.kernel.Name()); u.SpillStores.Value != 0 || u.Registers.Value > 255 {
			t.Errorf("%+v", u)
		}
	}
}

func run(t *testing.T, dev device.Device, name, text string, l device.Launch) {
	t.Helper()
	m, err := dev.Load(name, text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(context.Background(), l); err != nil {
		t.Fatal(err)
	}
}

// TestCopyProbe wants every byte to be copied.
func TestCopyProbe(t *testing.T) {
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := copyProbe(dev)
	if err != nil {
		t.Fatal(err)
	}
	from := make([]byte, p.buffers[0].Size())
	for i := range from {
		from[i] = byte(i * 7)
	}
	if err := p.buffers[0].Write(0, from); err != nil {
		t.Fatal(err)
	}
	text, err := p.kernel.PTX()
	if err != nil {
		t.Fatal(err)
	}
	run(t, dev, "copy", text, p.launch)
	to := make([]byte, len(from))
	if err := p.buffers[1].Read(0, to); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(from, to) || p.amount != float64(2*len(from)) {
		t.Error("not everything was copied")
	}
}
