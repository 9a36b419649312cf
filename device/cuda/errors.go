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
	Text string // what the driver says of it
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

// The results that the package itself acts upon.
const (
	success        result = 0
	notInitialised result = 3
	stubLibrary    result = 34
	noDevice       result = 100
	invalidContext result = 201
	invalidHandle  result = 400
	notReady       result = 600
	contextIsGone  result = 709
	missing        result = -1 // not the driver's own: it has no such entry
)

const (
	lostHint    = "the context is lost: end this process and start another; the emulator names the line (attest exec --device emu)"
	unknownHint = "the CUDA driver manual, under CUresult, has more"
)

// fatal are the results after which a context is of no more use.
var fatal = map[result]bool{
	214: true, 220: true, 226: true, 700: true, 702: true, 710: true, 714: true,
	715: true, 716: true, 717: true, 718: true, 719: true, 721: true,
}

// hints are what to do about a result.
var hints = map[result]string{
	1:   "an argument is out of range; report it if attest let it through",
	2:   "free buffers, or see with nvidia-smi who uses the memory",
	3:   "the driver was not initialised; report this",
	4:   "the process is ending",
	34:  "this is the toolkit's stub of libcuda; install the driver itself, or take the stub off the library path",
	46:  "the GPU is in exclusive mode and in use; see nvidia-smi",
	100: "no GPU is visible; see nvidia-smi and CUDA_VISIBLE_DEVICES",
	101: "no such GPU; attest doctor lists them",
	200: "the machine code is not for this GPU",
	201: "the device was closed; open it again",
	209: "the module's .target is not this GPU's",
	214: "the GPU's memory is faulty; see nvidia-smi -q -d ECC",
	218: "the log says which line; attest ptx check says why",
	221: "libnvidia-ptxjitcompiler is missing: install all of the driver",
	222: "the PTX is newer than this driver: lower its .version, or update the driver",
	300: "the module's text is not PTX",
	302: "a library of the driver cannot be opened; reinstall it",
	304: "the operating system refused; see dmesg for NVRM",
	400: "something closed already, or of another device, was used",
	500: "the module has no such name; attest ptx stats lists its kernels",
	600: "the events are not done yet: call Sync first",
	700: lostHint, 710: lostHint, 714: lostHint, 715: lostHint, 716: lostHint, 717: lostHint, 718: lostHint, 719: lostHint, 721: lostHint,
	701: "the block needs more registers or shared memory than there are: fewer threads, or JIT.MaxRegisters",
	702: "the kernel ran too long for a GPU that drives a display; the context is lost",
	720: "a cooperative launch must fit on the GPU at once: fewer blocks",
	800: "this driver does not permit it, or a tool does not",
	801: "this GPU or driver cannot do it",
	802: "the system is not ready: is the fabric manager running?",
	803: "the driver's parts have different versions: reinstall it and reboot",
	804: "the compatibility library does not go with this GPU: take it off the library path",
	900: "the operation cannot be noted down in a graph",
	901: "the noting down of a graph failed at an earlier call",
	906: "a graph must not wait for what is queued outside it",
	999: "see dmesg for NVRM and Xid",
}

// err describes a failed call; nil when it did not fail.
func (l *library) err(call string, r result) error {
	switch r {
	case success:
		return nil
	case missing:
		return l.missingEntry(call)
	}
	e := &Error{Call: call, Code: int(r), Name: "unknown result", Text: "the driver has no words for it", Hint: hints[r]}
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
	Since string // the CUDA version that it came with: "12.0"
	Have  string // the driver's: "11.4"
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the CUDA driver has no %s, which came with CUDA %s; this one is for CUDA %s: update the driver", e.Entry, e.Since, e.Have)
}

// LaunchError is a kernel that went wrong on the GPU.
type LaunchError struct {
	Kernel string
	Launch device.Launch
	// Others is how many launches were in the stream beside it. The GPU does not
	// say which of them it was; the last one is named.
	Others int
	Err    error
}

func (e *LaunchError) Error() string {
	l := &e.Launch
	var b strings.Builder
	if e.Others > 0 {
		fmt.Fprintf(&b, "one of %d launches, the last of them of ", e.Others+1)
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
