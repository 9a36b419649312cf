package nvml

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/GOATnote-Inc/attest/device"
)

// result is an nvmlReturn_t.
type result int32

const insufficientSize result = 7

// handle is an nvmlDevice_t.
type handle uintptr

// memoryInfo is nvmlMemory_t.
type memoryInfo struct {
	total uint64
	_     [2]uint64 // free and used
}

// library holds the entries of libnvidia-ml that the package uses. Any of them may be nil.
type library struct {
	init            func() result
	errorString     func(r result) *byte
	driverVersion   func(s *byte, n uint32) result
	count           func(n *uint32) result
	byIndex         func(i uint32, h *handle) result
	byUUID          func(uuid string, h *handle) result
	name            func(h handle, s *byte, n uint32) result
	uuid            func(h handle, s *byte, n uint32) result
	capability      func(h handle, major, minor *int32) result
	memory          func(h handle, m *memoryInfo) result
	clock           func(h handle, kind int32, mhz *uint32) result
	maxClock        func(h handle, kind int32, mhz *uint32) result
	power           func(h handle, milliwatts *uint32) result
	powerLimit      func(h handle, milliwatts *uint32) result
	energy          func(h handle, millijoules *uint64) result
	temperature     func(h handle, sensor int32, celsius *uint32) result
	throttleReasons func(h handle, reasons *uint64) result
	eventReasons    func(h handle, reasons *uint64) result // the new name of throttleReasons
	performance     func(h handle, state *int32) result
	processes       func(h handle, n *uint32, infos unsafe.Pointer) result
}

// entries maps the names of the library's functions to the fields of library.
func (l *library) entries() map[string]any {
	return map[string]any{
		"nvmlInit_v2": &l.init, "nvmlErrorString": &l.errorString,
		"nvmlSystemGetDriverVersion": &l.driverVersion,
		"nvmlDeviceGetCount_v2":      &l.count, "nvmlDeviceGetHandleByIndex_v2": &l.byIndex,
		"nvmlDeviceGetHandleByUUID": &l.byUUID, "nvmlDeviceGetName": &l.name, "nvmlDeviceGetUUID": &l.uuid,
		"nvmlDeviceGetCudaComputeCapability": &l.capability, "nvmlDeviceGetMemoryInfo": &l.memory,
		"nvmlDeviceGetClockInfo": &l.clock, "nvmlDeviceGetMaxClockInfo": &l.maxClock,
		"nvmlDeviceGetPowerUsage": &l.power, "nvmlDeviceGetEnforcedPowerLimit": &l.powerLimit,
		"nvmlDeviceGetTotalEnergyConsumption": &l.energy, "nvmlDeviceGetTemperature": &l.temperature,
		"nvmlDeviceGetCurrentClocksThrottleReasons": &l.throttleReasons,
		"nvmlDeviceGetCurrentClocksEventReasons":    &l.eventReasons,
		"nvmlDeviceGetPerformanceState":             &l.performance,
		"nvmlDeviceGetComputeRunningProcesses_v3":   &l.processes,
	}
}

// load opens libnvidia-ml once and initialises it. The library stays open until the process
// ends.
var load = sync.OnceValues(func() (*library, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("no NVML on %s: %w", runtime.GOOS, device.ErrNoDevice)
	}
	names := []string{"libnvidia-ml.so.1", "libnvidia-ml.so"}
	var so uintptr
	for _, n := range names {
		if h, err := purego.Dlopen(n, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			so = h
			break
		}
	}
	if so == 0 {
		return nil, fmt.Errorf("%s cannot be opened, so clocks, power and temperature are unknown; it is part of the NVIDIA driver: %w",
			strings.Join(names, " and "), device.ErrNoDevice)
	}
	l := &library{}
	for name, fn := range l.entries() {
		if sym, err := purego.Dlsym(so, name); err == nil {
			purego.RegisterFunc(fn, sym)
		}
	}
	return l, l.start()
})

// start initialises the library.
func (l *library) start() error {
	if l.init == nil || l.count == nil || l.byIndex == nil {
		return fmt.Errorf("libnvidia-ml does not have the entries that list GPUs; it may be a stub library: %w", device.ErrNoDevice)
	}
	return l.err("nvmlInit_v2", l.init())
}

// Error is a call of NVML that failed.
type Error struct {
	Call string // "nvmlDeviceGetCount_v2"
	Code int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%d)", e.Call, e.Text, e.Code) }

// err returns the error of a call, or nil if it did not fail.
func (l *library) err(call string, r result) error {
	if r == 0 {
		return nil
	}
	e := &Error{Call: call, Code: int(r), Text: "no description"}
	if l.errorString != nil {
		e.Text = cString(l.errorString(r))
	}
	return e
}

func cString(s *byte) string {
	if s == nil {
		return ""
	}
	var b []byte
	for p := unsafe.Pointer(s); *(*byte)(p) != 0; p = unsafe.Add(p, 1) {
		b = append(b, *(*byte)(p))
	}
	return string(b)
}
