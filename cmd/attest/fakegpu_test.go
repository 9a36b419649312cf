package main

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// fakeGPU is the driver of the device "fake:sm_89" of the scripts. It is an emulator that
// attest takes for a GPU, so that scripts can put a fake ncu in front of it.
type fakeGPU struct{}

func init() { device.Register("fake", fakeGPU{}) }

func (fakeGPU) Present() bool { return true }

func (fakeGPU) Open(target string) (device.Device, error) {
	t, err := ptx.ParseTarget(target)
	if err != nil {
		return nil, err
	}
	d, err := emu.New(t, emu.Options{})
	return fakeDevice{d}, err
}

type fakeDevice struct{ *emu.Device }

// Info describes a GPU.
func (d fakeDevice) Info() device.Info {
	i := d.Device.Info()
	i.Name, i.Driver, i.Version = "fake GPU", "fake", "driver 1.2.3"
	return i
}
