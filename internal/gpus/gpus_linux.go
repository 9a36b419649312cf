//go:build linux && (amd64 || arm64)

package gpus

// Opening libraries at run time makes the binary a dynamic one, so the CUDA driver is only
// linked where NVIDIA has one. The import also makes device.Open know "cuda:0".
import (
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/device/nvml"
	"github.com/GOATnote-Inc/attest/internal/doctor"
)

// List describes the GPUs in the order of CUDA, which is the order of --device cuda:N, with
// what NVML reports about each. It is nil where NVIDIA has no driver.
var List = func() ([]doctor.GPU, error) {
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

// readState adds what NVML reports about a card.
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

// Sensor returns the reader of a card's state, by its UUID, or nil without NVML. A library
// that does not report its card ("") uses the only card of the machine, if there is one.
func Sensor(uuid string) device.Sensor {
	if card, err := nvml.Open(uuid); err == nil {
		return card
	}
	if cards, err := nvml.List(); err == nil && len(cards) == 1 {
		return cards[0]
	}
	return nil
}
