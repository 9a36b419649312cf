package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/GOATnote-Inc/attest/device"
)

// result is a CUresult.
type result int32

// library holds the entries of libcuda that the package uses. An entry that the driver does
// not have returns missing, so that its caller gets an error with the name of the entry.
type library struct {
	init             func(flags uint32) result
	driverGetVersion func(version *int32) result
	getErrorName     func(r result, s **byte) result
	getErrorString   func(r result, s **byte) result

	deviceGetCount func(n *int32) result
	deviceGet      func(dev *int32, ordinal int32) result
	deviceGetName  func(name *byte, n int32, dev int32) result
	deviceGetAttr  func(v *int32, attr int32, dev int32) result
	deviceTotalMem func(bytes *uint64, dev int32) result
	deviceGetUUID  func(id *[16]byte, dev int32) result
	deviceGetBus   func(id *byte, n int32, dev int32) result
	ctxRetain      func(ctx *uintptr, dev int32) result
	ctxRelease     func(dev int32) result
	ctxSetCurrent  func(ctx uintptr) result

	memAlloc    func(ptr *uint64, n uint64) result
	memFree     func(ptr uint64) result
	memGetInfo  func(free, total *uint64) result
	memcpyHtoD  func(dst uint64, src unsafe.Pointer, n uint64) result
	memcpyDtoH  func(dst unsafe.Pointer, src uint64, n uint64) result
	memcpyHtoDA func(dst uint64, src unsafe.Pointer, n uint64, stream uintptr) result
	memcpyDtoHA func(dst unsafe.Pointer, src uint64, n uint64, stream uintptr) result
	memcpyDtoDA func(dst, src, n uint64, stream uintptr) result
	memsetD8A   func(dst uint64, value byte, n uint64, stream uintptr) result
	hostAlloc   func(p *unsafe.Pointer, n uint64, flags uint32) result
	hostFree    func(p unsafe.Pointer) result

	moduleLoadDataEx  func(mod *uintptr, image unsafe.Pointer, n uint32, opts *int32, vals *uintptr) result
	moduleUnload      func(mod uintptr) result
	moduleGetFunction func(fn *uintptr, mod uintptr, name string) result
	moduleGetGlobal   func(ptr *uint64, n *uint64, mod uintptr, name string) result
	linkCreate        func(n uint32, opts *int32, vals *uintptr, link *uintptr) result
	linkAddData       func(link uintptr, kind int32, data unsafe.Pointer, size uint64, name string, n uint32, opts *int32, vals *uintptr) result
	linkComplete      func(link uintptr, cubin *unsafe.Pointer, size *uint64) result
	linkDestroy       func(link uintptr) result

	funcGetAttribute func(v *int32, attr int32, fn uintptr) result
	funcSetAttribute func(fn uintptr, attr int32, v int32) result
	launchKernelEx   func(c *launchCall) result
	launchKernel     func(c *launchCall) result
	maxActiveBlocks  func(n *int32, fn uintptr, threads int32, shared uint64) result
	maxActiveCluster func(n *int32, fn uintptr, cfg *launchConfig) result
	encodeIm2col     func(m unsafe.Pointer, typ int32, rank uint32, addr uint64, dims, strides *uint64, lower, upper *int32, channels, pixels uint32, steps *uint32, interleave, swizzle, promotion, fill int32) result
	encodeTiled      func(m unsafe.Pointer, typ int32, rank uint32, addr uint64, dims, strides *uint64, box, steps *uint32, interleave, swizzle, promotion, fill int32) result

	streamCreate       func(stream *uintptr, flags uint32) result
	streamDestroy      func(stream uintptr) result
	streamQuery        func(stream uintptr) result
	streamWaitEvent    func(stream, event uintptr, flags uint32) result
	streamBeginCapture func(stream uintptr, mode int32) result
	streamEndCapture   func(stream uintptr, graph *uintptr) result
	eventCreate        func(event *uintptr, flags uint32) result
	eventDestroy       func(event uintptr) result
	eventRecord        func(event, stream uintptr) result
	eventQuery         func(event uintptr) result
	eventSync          func(event uintptr) result
	eventElapsed       func(ms *float32, start, end uintptr) result
	graphInstantiate   func(exec *uintptr, graph uintptr, flags uint64) result
	graphLaunch        func(exec, stream uintptr) result
	graphExecDestroy   func(exec uintptr) result
	graphDestroy       func(graph uintptr) result

	build        string // the file name of the library: "libcuda.so.580.95.05"
	version      int32  // the result of cuDriverGetVersion: 13000
	mu           sync.Mutex
	contexts     map[int32]*primary
	manyContexts atomic.Bool // contexts of more than one GPU have been made
}

// entry describes one function of libcuda.
type entry struct {
	name  string // several names are separated by |: the first that exists is used
	fn    any    // pointer to the field of library
	since string // the first CUDA version whose driver has it
}

func (l *library) entries() []entry {
	return []entry{
		{"cuInit", &l.init, "2.0"},
		{"cuDriverGetVersion", &l.driverGetVersion, "2.2"},
		{"cuGetErrorName", &l.getErrorName, "6.0"},
		{"cuGetErrorString", &l.getErrorString, "6.0"},
		{"cuDeviceGetCount", &l.deviceGetCount, "2.0"},
		{"cuDeviceGet", &l.deviceGet, "2.0"},
		{"cuDeviceGetName", &l.deviceGetName, "2.0"},
		{"cuDeviceGetAttribute", &l.deviceGetAttr, "2.0"},
		{"cuDeviceTotalMem_v2", &l.deviceTotalMem, "3.2"},
		{"cuDeviceGetUuid_v2|cuDeviceGetUuid", &l.deviceGetUUID, "9.2"},
		{"cuDeviceGetPCIBusId", &l.deviceGetBus, "4.1"},
		{"cuDevicePrimaryCtxRetain", &l.ctxRetain, "7.0"},
		{"cuDevicePrimaryCtxRelease_v2|cuDevicePrimaryCtxRelease", &l.ctxRelease, "7.0"},
		{"cuCtxSetCurrent", &l.ctxSetCurrent, "4.0"},
		{"cuMemAlloc_v2", &l.memAlloc, "3.2"},
		{"cuMemFree_v2", &l.memFree, "3.2"},
		{"cuMemGetInfo_v2", &l.memGetInfo, "3.2"},
		{"cuMemcpyHtoD_v2", &l.memcpyHtoD, "3.2"},
		{"cuMemcpyDtoH_v2", &l.memcpyDtoH, "3.2"},
		{"cuMemcpyHtoDAsync_v2", &l.memcpyHtoDA, "3.2"},
		{"cuMemcpyDtoHAsync_v2", &l.memcpyDtoHA, "3.2"},
		{"cuMemcpyDtoDAsync_v2", &l.memcpyDtoDA, "3.2"},
		{"cuMemsetD8Async", &l.memsetD8A, "3.2"},
		{"cuMemHostAlloc", &l.hostAlloc, "2.2"},
		{"cuMemFreeHost", &l.hostFree, "2.0"},
		{"cuModuleLoadDataEx", &l.moduleLoadDataEx, "2.1"},
		{"cuModuleUnload", &l.moduleUnload, "2.0"},
		{"cuModuleGetFunction", &l.moduleGetFunction, "2.0"},
		{"cuModuleGetGlobal_v2", &l.moduleGetGlobal, "3.2"},
		{"cuLinkCreate_v2", &l.linkCreate, "6.5"},
		{"cuLinkAddData_v2", &l.linkAddData, "6.5"},
		{"cuLinkComplete", &l.linkComplete, "5.5"},
		{"cuLinkDestroy", &l.linkDestroy, "5.5"},
		{"cuFuncGetAttribute", &l.funcGetAttribute, "2.2"},
		{"cuFuncSetAttribute", &l.funcSetAttribute, "9.0"},
		{"cuLaunchKernelEx", &l.launchKernelEx, "11.8"},
		{"cuLaunchKernel", &l.launchKernel, "4.0"},
		{"cuOccupancyMaxActiveBlocksPerMultiprocessor", &l.maxActiveBlocks, "6.5"},
		{"cuOccupancyMaxActiveClusters", &l.maxActiveCluster, "11.8"},
		{"cuTensorMapEncodeIm2col", &l.encodeIm2col, "12.0"},
		{"cuTensorMapEncodeTiled", &l.encodeTiled, "12.0"},
		{"cuStreamCreate", &l.streamCreate, "2.0"},
		{"cuStreamDestroy_v2", &l.streamDestroy, "4.0"},
		{"cuStreamQuery", &l.streamQuery, "2.0"},
		{"cuStreamWaitEvent", &l.streamWaitEvent, "3.2"},
		{"cuStreamBeginCapture_v2", &l.streamBeginCapture, "10.1"},
		{"cuStreamEndCapture", &l.streamEndCapture, "10.0"},
		{"cuEventCreate", &l.eventCreate, "2.0"},
		{"cuEventDestroy_v2", &l.eventDestroy, "4.0"},
		{"cuEventRecord", &l.eventRecord, "2.0"},
		{"cuEventQuery", &l.eventQuery, "2.0"},
		{"cuEventSynchronize", &l.eventSync, "2.0"},
		{"cuEventElapsedTime_v2|cuEventElapsedTime", &l.eventElapsed, "2.0"},
		{"cuGraphInstantiateWithFlags", &l.graphInstantiate, "11.4"},
		{"cuGraphLaunch", &l.graphLaunch, "10.0"},
		{"cuGraphExecDestroy", &l.graphExecDestroy, "10.0"},
		{"cuGraphDestroy", &l.graphDestroy, "10.0"},
	}
}

// load opens libcuda once and initialises it.
var load = sync.OnceValues(func() (*library, error) {
	handle, err := dlopen()
	if err != nil {
		return nil, err
	}
	l := newLibrary(func(name string) uintptr {
		addr, err := purego.Dlsym(handle, name)
		if err != nil {
			return 0
		}
		return addr
	})
	l.build = buildOf("/proc/self/maps")
	if err := l.start(); err != nil {
		return nil, err
	}
	return l, nil
})

// dlopen opens the library of the driver.
func dlopen() (uintptr, error) {
	if runtime.GOOS != "linux" {
		return 0, fmt.Errorf("%w: there is no CUDA driver for %s: use the emulator", device.ErrNoDevice, runtime.GOOS)
	}
	names := []string{"libcuda.so.1", "libcuda.so"}
	var errs []error
	for _, n := range names {
		handle, err := purego.Dlopen(n, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return handle, nil
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("%w: no CUDA driver: install the NVIDIA driver, or use the emulator (%v)", device.ErrNoDevice, errs[0])
}

// newLibrary fills the table. find returns the address of an entry, or 0 if there is none.
func newLibrary(find func(name string) uintptr) *library {
	l := &library{contexts: map[int32]*primary{}}
	for _, e := range l.entries() {
		bindMissing(e.fn)
		for name := range strings.SplitSeq(e.name, "|") {
			if addr := find(name); addr != 0 {
				l.bind(e.fn, addr)
				break
			}
		}
	}
	return l
}

// bindMissing makes an entry return missing.
func bindMissing(fn any) {
	v := reflect.ValueOf(fn).Elem()
	out := []reflect.Value{reflect.ValueOf(missing)}
	v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { return out }))
}

// start initialises the driver.
func (l *library) start() error {
	switch r := l.init(0); {
	case r == missing:
		return fmt.Errorf("%w: libcuda has no cuInit, so it is not the library of the driver", device.ErrNoDevice)
	case r == noDevice || r == stubLibrary:
		return fmt.Errorf("%w: %w", device.ErrNoDevice, l.err("cuInit", r))
	case r != success:
		return l.err("cuInit", r)
	}
	return l.err("cuDriverGetVersion", l.driverGetVersion(&l.version))
}

// cudaVersion returns the newest CUDA version that the driver supports.
func (l *library) cudaVersion() string {
	return fmt.Sprintf("%d.%d", l.version/1000, l.version%1000/10)
}

// missingEntry returns the error for an entry that the driver does not have.
func (l *library) missingEntry(call string) error {
	e := &MissingError{Entry: call, Have: l.cudaVersion()}
	for _, known := range l.entries() {
		for name := range strings.SplitSeq(known.name, "|") {
			if name == call || strings.HasPrefix(name, call+"_v") {
				e.Since = known.since
			}
		}
	}
	return e
}

// buildOf returns the name of the file from which libcuda was mapped. The name contains the
// full version of the driver. cuDriverGetVersion returns only the CUDA version, but two
// drivers with the same CUDA version may compile differently.
func buildOf(maps string) string {
	text, err := os.ReadFile(maps)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if i := strings.Index(line, "/"); i >= 0 && strings.Contains(line, "libcuda.so") {
			return filepath.Base(strings.TrimSpace(line[i:]))
		}
	}
	return ""
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
