//go:build linux && (amd64 || arm64)

package main

import (
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/device/nvml"
	"github.com/GOATnote-Inc/attest/internal/doctor"
)

// listGPUs describes the GPUs in the order of CUDA, which is that of --device,
// and what NVML says of each.
var listGPUs = func() ([]doctor.GPU, error) {
	infos, err := cuda.List()
	if err != nil {
		return nil, err
	}
	var gpus []doctor.GPU
	for i, info := range infos {
		version, driver, _ := strings.Cut(info.Version, ", driver ")
		g := doctor.GPU{
			Index: i, Name: info.Name, Target: info.Target.String(), SMs: info.SMs,
			Memory: info.Memory, L2: info.L2, UUID: info.UUID, CUDA: version, Driver: driver, MaxSMClock: info.Clock,
		}
		readState(&g)
		gpus = append(gpus, g)
	}
	return gpus, nil
}

// readState adds what NVML knows of a card.
func readState(g *doctor.GPU) {
	card, err := nvml.Open(g.UUID)
	if err != nil {
		g.StateNote = err.Error()
		return
	}
	info := card.Info()
	g.PowerLimit = info.PowerLimit
	if info.Driver != "" {
		g.Driver = info.Driver
	}
	if info.MaxSMClock > 0 {
		g.MaxSMClock = info.MaxSMClock
	}
	state, err := card.State()
	if err != nil {
		g.StateNote = err.Error()
	}
	g.State = &state
}

// openSensor is what reads the state of a card while it is measured; nil without
// NVML. A library that does not tell which card it uses is taken to use the only
// one.
func openSensor(uuid string) device.Sensor {
	if card, err := nvml.Open(uuid); err == nil {
		return card
	}
	if cards, err := nvml.List(); err == nil && len(cards) == 1 {
		return cards[0]
	}
	return nil
}
