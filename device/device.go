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
	// Load compiles a PTX module for the device. name stands for the text in
	// errors.
	Load(name, text string) (Module, error)
	// TensorMap encodes a tensor map: the 128 bytes a kernel takes by value.
	TensorMap(d TensorDesc) (TensorMap, error)
	// Close frees everything the device holds.
	Close() error
}

// Info describes a device.
type Info struct {
	Name          string     // "NVIDIA H200", "emulated sm_90a"
	Driver        string     // "emu", "cuda"
	Target        ptx.Target // what its code is compiled for
	SMs           int
	SharedPerSM   int   // bytes
	SharedDefault int   // bytes a block may have without opting in
	SharedMax     int   // bytes a block may have
	Memory        int64 // bytes of global memory
	MaxThreads    int   // per block
	Version       string

	// What a device has no figure for is zero.
	L2             int64 // bytes
	Clock          int   // MHz, the highest of the SMs
	MemoryClock    int   // MHz, the highest
	MemoryBusBits  int
	ThreadsPerSM   int
	RegistersPerSM int    // of 32 bits
	Bus            string // where a GPU is: "00000000:3b:00.0", as NVML writes it
	UUID           string // "GPU-…"
}

// Buffer is memory on a device.
type Buffer interface {
	// Addr is the address kernels know the buffer by.
	Addr() uint64
	Size() int64
	// Write copies data to the buffer, Read from it, at a byte offset.
	Write(offset int64, data []byte) error
	Read(offset int64, data []byte) error
	Free() error
}

// Module is PTX that a device has compiled.
type Module interface {
	// Kernel finds an .entry by its name.
	Kernel(name string) (Kernel, error)
	// Global finds a module-scope variable by its name.
	Global(name string) (Buffer, error)
	Close() error
}

// Kernel is an .entry of a loaded module.
type Kernel interface {
	Info() KernelInfo
	// Launch runs the kernel and waits for it to end. Cancelling ctx stops it
	// where the device can be stopped.
	Launch(ctx context.Context, l Launch) error
}

// KernelInfo is what the device knows of a kernel.
type KernelInfo struct {
	Name       string
	Params     []ParamInfo
	Registers  int // a thread; 0 when the device has none
	Shared     int // bytes, static
	Local      int // bytes a thread
	MaxThreads int // a block
}

// ParamInfo is one declared parameter.
type ParamInfo struct {
	Name        string
	Size, Align int
}
