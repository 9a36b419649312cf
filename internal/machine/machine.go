package machine

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/gpus"
	"github.com/GOATnote-Inc/attest/lab"
)

// Machine is the device that kernels run on.
type Machine struct {
	// Name is the value of --device: "emu", "emu:sm_90a", "cuda:0". The empty name picks a
	// GPU if there is one, else the emulator.
	Name string
	// Device is nil if each kernel runs on the emulator of its own target.
	Device device.Device
	Sensor device.Sensor // the sensor of the GPU, or nil
}

// Open opens the device. The caller closes the machine.
func (m *Machine) Open() error {
	if m.Name == "emu" {
		return nil
	}
	dev, err := device.Open(m.Name)
	if err != nil {
		return fmt.Errorf("--device %s: %w; attest list devices shows what this machine has", m.Name, err)
	}
	info := dev.Info()
	if m.Name == "" && info.Driver == "emu" {
		return dev.Close() // each kernel gets the emulator of its own target
	}
	m.Device = dev
	if info.Driver != "emu" {
		m.Sensor = gpus.Sensor(info.UUID)
	}
	return nil
}

// Close closes the device.
func (m *Machine) Close() error {
	if m.Device == nil {
		return nil
	}
	return m.Device.Close()
}

// GPU reports whether the device is a GPU. Only a GPU is timed.
func (m *Machine) GPU() bool { return m.Device != nil && m.Device.Info().Driver != "emu" }

// Where returns the name of the device.
func (m *Machine) Where() string {
	if m.Device == nil {
		return "the emulator"
	}
	return m.Device.Info().Name
}

// Fitting returns the kernels that the device can run. With skip it leaves out the others;
// otherwise the first of them is an error. It is also an error if the device runs none.
func (m *Machine) Fitting(subjects []*lab.Subject, skip bool) (list []*lab.Subject, err error) {
	for _, s := range subjects {
		switch {
		case m.Device == nil || m.Device.Info().Target.Runs(s.Target):
			list = append(list, s)
		case !skip:
			info := m.Device.Info()
			return nil, fmt.Errorf("%s is written for %s, which %s (%s) does not run; --device emu runs every kernel", s.Name, s.Target, info.Name, info.Target)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no kernel runs on %s", m.Device.Info().Target)
	}
	return list, nil
}
