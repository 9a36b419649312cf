package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// result is a CUresult.
type result int32

// library is the entries of libcuda that the package uses.
type library struct {
	init              func(flags uint32) result
	driverGetVersion  func(version *int32) result
	deviceGetCount    func(n *int32) result
	deviceGet         func(dev *int32, ordinal int32) result
	deviceGetName     func(name *byte, n int32, dev int32) result
	deviceGetAttr     func(v *int32, attr int32, dev int32) result
	deviceTotalMem    func(bytes *uint64, dev int32) result
	ctxRetain         func(ctx *uintptr, dev int32) result
	ctxRelease        func(dev int32) result
	ctxSetCurrent     func(ctx uintptr) result
	ctxSynchronize    func() result
	memAlloc          func(ptr *uint64, n uint64) result
	memFree           func(ptr uint64) result
	memcpyHtoD        func(dst uint64, src unsafe.Pointer, n uint64) result
	memcpyDtoH        func(dst unsafe.Pointer, src uint64, n uint64) result
	moduleLoadDataEx  func(mod *uintptr, image unsafe.Pointer, n uint32, opts *int32, vals *uintptr) result
	moduleUnload      func(mod uintptr) result
	moduleGetFunction func(fn *uintptr, mod uintptr, name string) result
	moduleGetGlobal   func(ptr *uint64, n *uint64, mod uintptr, name string) result
	funcGetAttribute  func(v *int32, attr int32, fn uintptr) result
	funcSetAttribute  func(fn uintptr, attr int32, v int32) result
	launchKernelEx    func(cfg unsafe.Pointer, fn uintptr, params *unsafe.Pointer, extra uintptr) result
	streamQuery       func(stream uintptr) result
	encodeTiled       func(m unsafe.Pointer, typ int32, rank uint32, addr uint64, dims, strides *uint64, box, steps *uint32, interleave, swizzle, promotion, fill int32) result
	getErrorName      func(r result, s **byte) result
	getErrorString    func(r result, s **byte) result

	missing []string // entries this driver does not have
}

// open opens libcuda once and initialises it.
var open = sync.OnceValues(func() (*library, error) {
	names := []string{"libcuda.so.1", "libcuda.so"}
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("no CUDA driver on %s: kernels run on the emulator here", runtime.GOOS)
	}
	var handle uintptr
	var err error
	for _, n := range names {
		if handle, err = purego.Dlopen(n, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			break
		}
	}
	if handle == 0 {
		return nil, fmt.Errorf("no CUDA driver: %s cannot be opened; install the NVIDIA driver, or use the emulator", strings.Join(names, " and "))
	}
	l := &library{}
	for name, fn := range l.entries() {
		if sym, err := purego.Dlsym(handle, name); err == nil {
			purego.RegisterFunc(fn, sym)
		} else {
			l.missing = append(l.missing, name)
		}
	}
	if l.init == nil {
		return nil, fmt.Errorf("libcuda has no cuInit: is it a stub library?")
	}
	if r := l.init(0); r != 0 {
		return nil, l.err("cuInit", r)
	}
	return l, nil
})

// entries are where the library's functions go, by their names in it.
func (l *library) entries() map[string]any {
	return map[string]any{
		"cuInit": &l.init, "cuDriverGetVersion": &l.driverGetVersion,
		"cuDeviceGetCount": &l.deviceGetCount, "cuDeviceGet": &l.deviceGet, "cuDeviceGetName": &l.deviceGetName,
		"cuDeviceGetAttribute": &l.deviceGetAttr, "cuDeviceTotalMem_v2": &l.deviceTotalMem,
		"cuDevicePrimaryCtxRetain": &l.ctxRetain, "cuDevicePrimaryCtxRelease_v2": &l.ctxRelease,
		"cuCtxSetCurrent": &l.ctxSetCurrent, "cuCtxSynchronize": &l.ctxSynchronize,
		"cuMemAlloc_v2": &l.memAlloc, "cuMemFree_v2": &l.memFree,
		"cuMemcpyHtoD_v2": &l.memcpyHtoD, "cuMemcpyDtoH_v2": &l.memcpyDtoH,
		"cuModuleLoadDataEx": &l.moduleLoadDataEx, "cuModuleUnload": &l.moduleUnload,
		"cuModuleGetFunction": &l.moduleGetFunction, "cuModuleGetGlobal_v2": &l.moduleGetGlobal,
		"cuFuncGetAttribute": &l.funcGetAttribute, "cuFuncSetAttribute": &l.funcSetAttribute,
		"cuLaunchKernelEx": &l.launchKernelEx, "cuStreamQuery": &l.streamQuery,
		"cuTensorMapEncodeTiled": &l.encodeTiled,
		"cuGetErrorName":         &l.getErrorName, "cuGetErrorString": &l.getErrorString,
	}
}

// Error is a call of the driver that failed.
type Error struct {
	Call string // "cuModuleLoadDataEx"
	Code int
	Name string // "CUDA_ERROR_INVALID_PTX"
	Text string
	Hint string // what to do about it, where that is known
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Text)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

var hints = map[string]string{
	"CUDA_ERROR_NO_DEVICE":                      "no GPU is visible; see nvidia-smi and CUDA_VISIBLE_DEVICES",
	"CUDA_ERROR_OUT_OF_MEMORY":                  "free buffers, or see with nvidia-smi who uses the memory",
	"CUDA_ERROR_INVALID_PTX":                    "the log says which line; attest ptx check says why",
	"CUDA_ERROR_UNSUPPORTED_PTX_VERSION":        "the PTX is newer than this driver: lower its .version",
	"CUDA_ERROR_NO_BINARY_FOR_GPU":              "the module's .target is not this GPU's",
	"CUDA_ERROR_ILLEGAL_ADDRESS":                "run the kernel on the emulator, which names the line; the context is lost",
	"CUDA_ERROR_MISALIGNED_ADDRESS":             "run the kernel on the emulator, which names the line; the context is lost",
	"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES":        "the block needs more registers or shared memory than there are",
	"CUDA_ERROR_LAUNCH_TIMEOUT":                 "the kernel ran too long for a GPU that drives a display",
	"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH":         "the driver's parts have different versions: reinstall it",
	"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": "this GPU is too old for the driver",
}

// err describes a failed call; nil when it did not fail.
func (l *library) err(call string, r result) error {
	if r == 0 {
		return nil
	}
	e := &Error{Call: call, Code: int(r), Name: "unknown", Text: "no description"}
	var s *byte
	if l.getErrorName != nil && l.getErrorName(r, &s) == 0 {
		e.Name = cString(s)
	}
	if l.getErrorString != nil && l.getErrorString(r, &s) == 0 {
		e.Text = cString(s)
	}
	e.Hint = hints[e.Name]
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

// needs returns an error when the driver lacks an entry that a feature needs.
func (l *library) needs(entry, feature string) error {
	for _, m := range l.missing {
		if m == entry {
			return fmt.Errorf("%s needs %s, which this CUDA driver does not have: update it", feature, entry)
		}
	}
	return nil
}
