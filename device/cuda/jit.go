package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// JIT is how the driver compiles PTX. The zero JIT is the driver's own way.
type JIT struct {
	// Level is the optimisation level, 0 to 4; nil is the driver's own, the highest.
	Level *int
	// MaxRegisters is how many registers a thread may have; 0 sets no limit beyond
	// the GPU's and the kernel's own.
	MaxRegisters int
	// LineInfo keeps for profilers which line of the source code comes from.
	LineInfo bool
	// Debug compiles for debuggers: slowly running code.
	Debug bool
	// Relocatable compiles with the driver's linker, whose code can be kept: see
	// the package comment for what that costs.
	Relocatable bool
}

func (j JIT) check() error {
	switch {
	case j.Level != nil && (*j.Level < 0 || *j.Level > 4):
		return fmt.Errorf("JIT level %d: it is 0 to 4", *j.Level)
	case j.MaxRegisters < 0 || j.MaxRegisters > 255:
		return fmt.Errorf("JIT with %d registers a thread: the limit is 1 to 255, or 0 for none", j.MaxRegisters)
	}
	return nil
}

// String says how it compiles, the same for all JITs that compile alike.
func (j JIT) String() string {
	var parts []string
	if j.Level != nil {
		parts = append(parts, fmt.Sprintf("O%d", *j.Level))
	}
	if j.MaxRegisters > 0 {
		parts = append(parts, fmt.Sprintf("maxregisters=%d", j.MaxRegisters))
	}
	for _, f := range []struct {
		on   bool
		name string
	}{{j.LineInfo, "lineinfo"}, {j.Debug, "debug"}, {j.Relocatable, "relocatable"}} {
		if f.on {
			parts = append(parts, f.name)
		}
	}
	return strings.Join(parts, ",")
}

// The options of the driver's compiler.
const (
	jitMaxRegisters = 0
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitLevel        = 7
	jitDebug        = 11
	jitVerbose      = 12
	jitLineInfo     = 13
)

// jitCall is the options of one call with the logs it fills.
type jitCall struct {
	opts        []int32
	vals        []uintptr
	info, error []byte
}

const logSize = 64 << 10

func (j JIT) call() *jitCall {
	c := &jitCall{info: make([]byte, logSize), error: make([]byte, logSize)}
	add := func(opt int32, val uintptr) { c.opts, c.vals = append(c.opts, opt), append(c.vals, val) }
	add(jitInfoLog, uintptr(unsafe.Pointer(&c.info[0])))
	add(jitInfoLogSize, logSize)
	add(jitErrorLog, uintptr(unsafe.Pointer(&c.error[0])))
	add(jitErrorLogSize, logSize)
	add(jitVerbose, 1)
	if j.Level != nil {
		add(jitLevel, uintptr(*j.Level))
	}
	if j.MaxRegisters > 0 {
		add(jitMaxRegisters, uintptr(j.MaxRegisters))
	}
	if j.LineInfo {
		add(jitLineInfo, 1)
	}
	if j.Debug {
		add(jitDebug, 1)
	}
	return c
}

// log is what the compiler wrote, without the padding.
func (c *jitCall) log() (info, errors string) { return trimLog(c.info), trimLog(c.error) }

func trimLog(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(s)
}

// image is a text as the driver takes it.
func image(text string) []byte { return append([]byte(text), 0) }

// compile loads a module and returns what the compiler said.
func (d *Device) compile(m *ptx.Module, name, text string, j JIT) (handle uintptr, log string, err error) {
	if j.Relocatable {
		return d.compileKept(m, name, text, j)
	}
	c, img := j.call(), image(text)
	err = d.call("cuModuleLoadDataEx", func() result {
		return d.lib.moduleLoadDataEx(&handle, unsafe.Pointer(&img[0]), uint32(len(c.opts)), &c.opts[0], &c.vals[0])
	})
	log, errs := c.log()
	if err != nil {
		return 0, "", refused(m, name, errs, err)
	}
	return handle, log, nil
}

// compileKept compiles with the linker, or finds what it made of the text before.
func (d *Device) compileKept(m *ptx.Module, name, text string, j JIT) (handle uintptr, log string, err error) {
	key := d.key(text, j)
	if e, ok := d.cache.get(key); ok {
		if handle, err = d.loadCubin(e.cubin); err == nil {
			return handle, e.log, nil
		}
		if d.ready() != nil {
			return 0, "", err
		}
		d.cache.drop(key) // damaged in a way the checksum does not show
	}
	e, err := d.link(m, name, text, j)
	if err != nil {
		return 0, "", err
	}
	if handle, err = d.loadCubin(e.cubin); err != nil {
		return 0, "", err
	}
	d.cache.put(key, e)
	return handle, e.log, nil
}

// key is what compiled code is kept under.
func (d *Device) key(text string, j JIT) string {
	return cacheKey(text, j.String(), d.lib.build, fmt.Sprint(d.lib.version), d.info.Name, d.info.Target.String())
}

func (d *Device) loadCubin(cubin []byte) (handle uintptr, err error) {
	err = d.call("cuModuleLoadDataEx", func() result {
		return d.lib.moduleLoadDataEx(&handle, unsafe.Pointer(&cubin[0]), 0, nil, nil)
	})
	return handle, err
}

const jitInputPTX = 1

// link compiles with the driver's linker, which returns the machine code.
func (d *Device) link(m *ptx.Module, name, text string, j JIT) (e cached, err error) {
	// All calls of a link come from one thread. When they did not have to, the compiler of
	// driver 580 crashed once in one of them, on a busy machine.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, img := j.call(), image(text)
	var link uintptr
	err = d.call("cuLinkCreate", func() result {
		return d.lib.linkCreate(uint32(len(c.opts)), &c.opts[0], &c.vals[0], &link)
	})
	if err != nil {
		return e, err
	}
	defer func() {
		d.call("cuLinkDestroy", func() result { return d.lib.linkDestroy(link) })
		runtime.KeepAlive(c) // the link refers to its options and logs to the end
		runtime.KeepAlive(img)
	}()
	err = d.call("cuLinkAddData", func() result {
		return d.lib.linkAddData(link, jitInputPTX, unsafe.Pointer(&img[0]), uint64(len(img)), name, 0, nil, nil)
	})
	var cubin unsafe.Pointer
	var size uint64
	if err == nil {
		err = d.call("cuLinkComplete", func() result { return d.lib.linkComplete(link, &cubin, &size) })
	}
	info, errs := c.log()
	if err != nil {
		return e, refused(m, name, errs, err)
	}
	if size == 0 {
		return e, fmt.Errorf("%s: the driver's linker returned no code", name)
	}
	// The code is the link's own, and goes with it.
	return cached{cubin: append([]byte(nil), unsafe.Slice((*byte)(cubin), size)...), log: info}, nil
}

// refused is the error of a text that the compiler did not take.
func refused(m *ptx.Module, name, log string, err error) error {
	if log == "" {
		return fmt.Errorf("%s: %w", name, err)
	}
	return &device.CompileError{File: name, Findings: findings(m, log), Log: log, Err: err}
}
