package nvml

import (
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// GPU is a GPU that NVML sees.
type GPU struct {
	lib    *library
	handle handle
}

// Info holds the properties of a GPU that do not change.
type Info struct {
	Name           string
	UUID           string // "GPU-…", the same as in device.Info
	Driver         string // "580.159.03"
	Target         ptx.Target
	Memory         int64   // bytes
	MaxSMClock     int     // MHz
	MaxMemoryClock int     // MHz
	PowerLimit     float64 // watts
}

// List returns the GPUs of the machine, in the order of nvidia-smi. CUDA_VISIBLE_DEVICES
// does not affect it.
func List() ([]*GPU, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return l.list()
}

func (l *library) list() ([]*GPU, error) {
	var n uint32
	if r := l.count(&n); r != 0 {
		return nil, l.err("nvmlDeviceGetCount_v2", r)
	}
	gpus := make([]*GPU, n)
	for i := range gpus {
		gpus[i] = &GPU{lib: l}
		if r := l.byIndex(uint32(i), &gpus[i].handle); r != 0 {
			return nil, fmt.Errorf("GPU %d: %w", i, l.err("nvmlDeviceGetHandleByIndex_v2", r))
		}
	}
	return gpus, nil
}

// Open returns the GPU with a UUID, which is in device.Info. NVML and CUDA may number GPUs
// differently, so an index would not be enough.
func Open(uuid string) (*GPU, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return l.open(uuid)
}

func (l *library) open(uuid string) (*GPU, error) {
	if l.byUUID == nil {
		return nil, fmt.Errorf("the NVIDIA driver does not have nvmlDeviceGetHandleByUUID: %w", device.ErrNoDevice)
	}
	g := &GPU{lib: l}
	if r := l.byUUID(uuid, &g.handle); r != 0 {
		return nil, fmt.Errorf("GPU %s: %w", uuid, l.err("nvmlDeviceGetHandleByUUID", r))
	}
	return g, nil
}

// Info describes the GPU.
func (g *GPU) Info() Info {
	l := g.lib
	i := Info{
		Name: g.text(l.name), UUID: g.text(l.uuid), Driver: l.driver(),
		MaxSMClock: g.megahertz(l.maxClock, clockSM), MaxMemoryClock: g.megahertz(l.maxClock, clockMemory),
		PowerLimit: float64(g.number(l.powerLimit)) / 1000,
	}
	var major, minor int32
	if l.capability != nil && l.capability(g.handle, &major, &minor) == 0 {
		i.Target = target(int(major), int(minor))
	}
	var m memoryInfo
	if l.memory != nil && l.memory(g.handle, &m) == 0 {
		i.Memory = int64(m.total)
	}
	return i
}

// target returns the target that code for a GPU is compiled for. From sm_90 on, it is the
// architecture-specific target.
func target(major, minor int) ptx.Target {
	t := ptx.Target{SM: 10*major + minor}
	if t.SM >= 90 {
		t.Feature = 'a'
	}
	return t
}

// The clocks that the package reads.
const (
	clockSM     = 1
	clockMemory = 2
)

// State reads the present state of the GPU.
func (g *GPU) State() (device.State, error) {
	l := g.lib
	s := device.State{
		Time:    time.Now(),
		SMClock: g.megahertz(l.clock, clockSM), MemoryClock: g.megahertz(l.clock, clockMemory),
		Power: float64(g.number(l.power)) / 1000,
	}
	var v uint32
	if l.temperature != nil && l.temperature(g.handle, 0, &v) == 0 {
		s.Temperature = int(v)
	}
	var millijoules uint64
	if l.energy != nil && l.energy(g.handle, &millijoules) == 0 {
		s.Energy = float64(millijoules) / 1000
	}
	var p int32
	if l.performance != nil && l.performance(g.handle, &p) == 0 && p < 16 {
		s.Performance = fmt.Sprintf("P%d", p)
	}
	var err error
	s.Throttle, err = g.throttle()
	s.Processes = g.processCount()
	return s, err
}

// throttle reads the reasons for throttling. If they cannot be read, it returns an error,
// because a throttled GPU cannot be distinguished from a slow kernel without them.
func (g *GPU) throttle() (device.Throttle, error) {
	name, ask := "nvmlDeviceGetCurrentClocksEventReasons", g.lib.eventReasons
	if ask == nil {
		name, ask = "nvmlDeviceGetCurrentClocksThrottleReasons", g.lib.throttleReasons
	}
	if ask == nil {
		return 0, fmt.Errorf("the NVIDIA driver does not have %s: update the driver to find out whether the GPU is throttled", name)
	}
	var reasons uint64
	r := ask(g.handle, &reasons)
	return device.Throttle(reasons), g.lib.err(name, r)
}

// processCount returns the number of processes on the GPU. It passes an empty buffer to
// NVML, which then returns only their number.
func (g *GPU) processCount() int {
	var n uint32
	if g.lib.processes == nil {
		return 0
	}
	if r := g.lib.processes(g.handle, &n, nil); r != 0 && r != insufficientSize {
		return 0
	}
	return int(n)
}

func (g *GPU) number(ask func(handle, *uint32) result) int {
	var v uint32
	if ask == nil || ask(g.handle, &v) != 0 {
		return 0
	}
	return int(v)
}

func (g *GPU) megahertz(ask func(handle, int32, *uint32) result, kind int32) int {
	var v uint32
	if ask == nil || ask(g.handle, kind, &v) != 0 {
		return 0
	}
	return int(v)
}

func (g *GPU) text(ask func(handle, *byte, uint32) result) string {
	var b [96]byte // the largest size that NVML documents
	if ask == nil || ask(g.handle, &b[0], uint32(len(b))) != 0 {
		return ""
	}
	return cString(&b[0])
}

func (l *library) driver() string {
	var b [96]byte
	if l.driverVersion == nil || l.driverVersion(&b[0], uint32(len(b))) != 0 {
		return ""
	}
	return cString(&b[0])
}
