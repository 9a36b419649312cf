package cuda

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The device attributes that the package queries.
const (
	attrMaxThreads     = 1
	attrSharedDefault  = 8
	attrClock          = 13 // kHz
	attrSMs            = 16
	attrMemoryClock    = 36 // kHz
	attrMemoryBus      = 37
	attrL2             = 38
	attrThreadsPerSM   = 39
	attrMajor          = 75
	attrMinor          = 76
	attrSharedPerSM    = 81
	attrRegistersPerSM = 82
	attrSharedMax      = 97
)

// List describes the GPUs of the machine, by index. Without a driver or a GPU the error is
// [device.ErrNoDevice]. List does not create a context.
func List() ([]device.Info, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return l.list()
}

func (l *library) list() ([]device.Info, error) {
	n, err := l.count()
	if err != nil {
		return nil, err
	}
	infos := make([]device.Info, n)
	for i := range infos {
		dev, err := l.device(i)
		if err != nil {
			return nil, err
		}
		infos[i] = l.describe(dev)
	}
	return infos, nil
}

// count returns the number of GPUs. If there are none, it returns an error.
func (l *library) count() (int, error) {
	var n int32
	if r := l.deviceGetCount(&n); r != success {
		return 0, l.err("cuDeviceGetCount", r)
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: the CUDA driver sees no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES", device.ErrNoDevice)
	}
	return int(n), nil
}

// device returns the driver's handle of a GPU.
func (l *library) device(index int) (dev int32, err error) {
	n, err := l.count()
	if err != nil {
		return 0, err
	}
	if index < 0 || index >= n {
		return 0, fmt.Errorf("%w: no GPU %d: the last GPU is %d", device.ErrNoDevice, index, n-1)
	}
	return dev, l.err("cuDeviceGet", l.deviceGet(&dev, int32(index)))
}

// describe queries the properties of a GPU. A property that an old driver cannot report
// stays zero.
func (l *library) describe(dev int32) device.Info {
	attr := func(a int32) int {
		var v int32
		if l.deviceGetAttr(&v, a, dev) != success {
			return 0
		}
		return int(v)
	}
	var name [256]byte
	l.deviceGetName(&name[0], int32(len(name)), dev)
	var memory uint64
	l.deviceTotalMem(&memory, dev)
	var bus [32]byte
	l.deviceGetBus(&bus[0], int32(len(bus)), dev)
	t := ptx.Target{SM: 10*attr(attrMajor) + attr(attrMinor)}
	if t.SM >= 90 {
		t.Feature = 'a' // a GPU runs architecture-specific code for its own architecture
	}
	return device.Info{
		Name: cString(&name[0]), Driver: "cuda", Target: t, SMs: attr(attrSMs),
		SharedPerSM: attr(attrSharedPerSM), SharedDefault: attr(attrSharedDefault), SharedMax: attr(attrSharedMax),
		Memory: int64(memory), MaxThreads: attr(attrMaxThreads), Version: l.driverVersion(),
		L2: int64(attr(attrL2)), Clock: attr(attrClock) / 1000, MemoryClock: attr(attrMemoryClock) / 1000,
		MemoryBusBits: attr(attrMemoryBus), ThreadsPerSM: attr(attrThreadsPerSM), RegistersPerSM: attr(attrRegistersPerSM),
		Bus: strings.ToLower(cString(&bus[0])), UUID: l.uuid(dev),
	}
}

// driverVersion returns a text such as "CUDA 13.0, driver 580.95.05". It omits the parts
// that are not known.
func (l *library) driverVersion() string {
	v := "CUDA " + l.cudaVersion()
	if b := strings.TrimPrefix(l.build, "libcuda.so."); strings.Contains(b, ".") && b != l.build {
		v += ", driver " + b
	}
	return v
}

// uuid returns the GPU's UUID in the form of nvidia-smi.
func (l *library) uuid(dev int32) string {
	var u [16]byte
	if l.deviceGetUUID(&u, dev) != success {
		return ""
	}
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
