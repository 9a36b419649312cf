package device

import (
	"context"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Device is a GPU, real or emulated.
type Device interface {
	// Info describes the device.
	Info() Info
	// Alloc allocates memory on the device. Its content is undefined.
	Alloc(size int64) (Buffer, error)
	// Load compiles a PTX module for the device. name is the name of the text in errors.
	Load(name, text string) (Module, error)
	// TensorMap encodes a tensor map: the 128 bytes of a kernel parameter.
	TensorMap(d TensorDesc) (TensorMap, error)
	// Close frees everything that was created on the device.
	Close() error
}

// Info describes a device.
type Info struct {
	Name          string     // "NVIDIA H200", "emulated sm_90a"
	Driver        string     // "emu", "cuda"
	Target        ptx.Target // the target that its code is compiled for
	SMs           int
	SharedPerSM   int   // bytes
	SharedDefault int   // bytes that a block may use without opting in
	SharedMax     int   // bytes that a block may use
	Memory        int64 // bytes of global memory
	MaxThreads    int   // per block
	Version       string

	// A value that the device does not report is zero.
	L2             int64 // bytes
	Clock          int   // MHz, the highest of the SMs
	MemoryClock    int   // MHz, the highest
	MemoryBusBits  int
	ThreadsPerSM   int
	RegistersPerSM int    // 32-bit registers of an SM
	Bus            string // PCI address in the form of NVML: "00000000:3b:00.0"
	UUID           string // "GPU-…"
}

// Buffer is memory on a device.
type Buffer interface {
	// Addr returns the address of the buffer in kernels.
	Addr() uint64
	Size() int64
	// Write copies data to the buffer at a byte offset.
	Write(offset int64, data []byte) error
	// Read copies from the buffer at a byte offset to data.
	Read(offset int64, data []byte) error
	Free() error
}

// Undefiner is a Buffer that knows which of its bytes were never set. The checkers of the emulator
// report kernels that read such bytes.
type Undefiner interface {
	// Undefine declares that no one has written n bytes from an offset on, although they may hold
	// something. Writing the bytes ends this. If certain is set, reading them is an error;
	// otherwise it is a warning, because the read may be intended.
	Undefine(offset, n int64, certain bool)
}

// Module is PTX that a device has compiled.
type Module interface {
	// Kernel returns an .entry by its name.
	Kernel(name string) (Kernel, error)
	// Global returns a module-scope variable by its name.
	Global(name string) (Buffer, error)
	Close() error
}

// FunctionModule is a module of a device that tells the addresses of device functions. The
// CUDA driver does not.
type FunctionModule interface {
	Module
	// Function returns the address of a .func by its name, for indirect calls.
	Function(name string) (uint64, error)
}

// Kernel is an .entry of a loaded module.
type Kernel interface {
	Info() KernelInfo
	// Launch runs the kernel and waits until it ends. Cancelling ctx stops the kernel, if the
	// device can stop kernels.
	Launch(ctx context.Context, l Launch) error
}

// KernelInfo describes a loaded kernel.
type KernelInfo struct {
	Name       string
	Params     []ParamInfo
	Registers  int // per thread; 0 if the device does not report them
	Shared     int // bytes of static shared memory
	Local      int // bytes of local memory per thread
	MaxThreads int // per block
}

// ParamInfo is one declared parameter.
type ParamInfo struct {
	Name        string
	Size, Align int
}
