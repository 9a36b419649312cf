package cuda

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
)

// Error is a call of the driver that failed.
type Error struct {
	Call string // "cuModuleLoadDataEx"
	Code int
	Name string // "CUDA_ERROR_INVALID_PTX"
	Text string // the driver's description
	Hint string // what to do about it
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%d): %s; %s", e.Call, e.Name, e.Code, e.Text, e.Hint)
}

// Is reports whether the error means that the context is lost.
func (e *Error) Is(target error) bool {
	return target == device.ErrLost && fatal[result(e.Code)] ||
		target == device.ErrNoDevice && result(e.Code) == noDevice
}

// The results that the package handles itself.
const (
	success        result = 0
	notInitialised result = 3
	stubLibrary    result = 34
	noDevice       result = 100
	invalidContext result = 201
	invalidHandle  result = 400
	notReady       result = 600
	contextIsGone  result = 709
	missing        result = -1 // not a result of the driver: the driver does not have the entry
)

const (
	lostHint    = "the context is lost: start a new process; the emulator names the line that faults (attest exec --device emu)"
	unknownHint = "see CUresult in the manual of the CUDA driver"
)

// fatal are the results after which a context cannot be used any more.
var fatal = map[result]bool{
	214: true, 220: true, 226: true, 700: true, 702: true, 710: true, 714: true,
	715: true, 716: true, 717: true, 718: true, 719: true, 721: true,
}

// hints say what the user can do about a result.
var hints = map[result]string{
	1:   "an argument is out of range; report it if attest let it through",
	2:   "free buffers, or see nvidia-smi for the processes that use the memory",
	3:   "the driver was not initialised; report this",
	4:   "the process is ending",
	34:  "this is the toolkit's stub of libcuda; install the driver, or remove the stub from the library path",
	46:  "the GPU is in exclusive mode and in use; see nvidia-smi",
	100: "no GPU is visible; see nvidia-smi and CUDA_VISIBLE_DEVICES",
	101: "there is no such GPU; attest doctor lists the GPUs",
	200: "the machine code is not for this GPU",
	201: "the device was closed; open it again",
	209: "the module's .target does not run on this GPU",
	214: "the GPU's memory is faulty; see nvidia-smi -q -d ECC",
	218: "the log names the line; attest ptx check explains the error",
	221: "libnvidia-ptxjitcompiler is missing: install the complete driver",
	222: "the PTX is newer than this driver: lower its .version, or update the driver",
	300: "the module's text is not PTX",
	302: "a library of the driver cannot be opened; reinstall the driver",
	304: "the operating system refused; see dmesg for NVRM",
	400: "the handle was closed already, or belongs to another device",
	500: "the module does not have this name; attest ptx stats lists its kernels",
	600: "the events are not done yet: call Sync first",
	700: lostHint, 710: lostHint, 714: lostHint, 715: lostHint, 716: lostHint, 717: lostHint, 718: lostHint, 719: lostHint, 721: lostHint,
	701: "the block needs more registers or shared memory than the SM has: use fewer threads, or JIT.MaxRegisters",
	702: "the kernel ran too long for a GPU that drives a display; the context is lost",
	720: "all blocks of a cooperative launch must fit on the GPU at once: use fewer blocks",
	800: "the driver or a tool does not permit the operation",
	801: "this GPU or driver does not support the operation",
	802: "the system is not ready: is the fabric manager running?",
	803: "the parts of the driver have different versions: reinstall the driver and reboot",
	804: "the compatibility library does not support this GPU: remove it from the library path",
	900: "the operation cannot be recorded in a graph",
	901: "recording the graph failed at an earlier call",
	906: "a graph must not wait for work that is queued outside it",
	999: "see dmesg for NVRM and Xid",
}

// err returns the error of a call, or nil if it did not fail.
func (l *library) err(call string, r result) error {
	switch r {
	case success:
		return nil
	case missing:
		return l.missingEntry(call)
	}
	e := &Error{Call: call, Code: int(r), Name: "unknown result", Text: "the driver has no description", Hint: hints[r]}
	var s *byte
	if l.getErrorName(r, &s) == success {
		e.Name = cString(s)
	}
	if l.getErrorString(r, &s) == success {
		e.Text = cString(s)
	}
	if e.Hint == "" {
		e.Hint = unknownHint
	}
	return e
}

// MissingError is an entry that the driver does not have.
type MissingError struct {
	Entry string // "cuTensorMapEncodeTiled"
	Since string // the first CUDA version that has it: "12.0"
	Have  string // the CUDA version of the driver: "11.4"
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the CUDA driver does not have %s: it needs CUDA %s, the driver is for CUDA %s; update the driver", e.Entry, e.Since, e.Have)
}

// LaunchError is the error of a kernel that faulted on the GPU.
type LaunchError struct {
	Kernel string
	Launch device.Launch
	// Others is the number of other launches in the stream. The GPU does not say which of
	// them faulted; Kernel is the last one.
	Others int
	Err    error
}

func (e *LaunchError) Error() string {
	l := &e.Launch
	var b strings.Builder
	if e.Others > 0 {
		fmt.Fprintf(&b, "one of %d launches, the last of which is ", e.Others+1)
	} else {
		b.WriteString("launch of ")
	}
	fmt.Fprintf(&b, "%s, grid %v of blocks %v", e.Kernel, l.Grid.Norm(), l.Block.Norm())
	if l.Cluster.Count() > 1 {
		fmt.Fprintf(&b, ", clusters %v", l.Cluster.Norm())
	}
	if l.Shared > 0 {
		fmt.Fprintf(&b, ", %d bytes of dynamic shared memory", l.Shared)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

func (e *LaunchError) Unwrap() error { return e.Err }
