package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// JIT selects how the driver compiles PTX. The zero JIT uses the driver's defaults.
type JIT struct {
	// Level is the optimisation level, 0 to 4. nil means the driver's default, which is the
	// highest.
	Level *int
	// MaxRegisters is the limit of registers per thread. 0 sets no limit beyond the limits of
	// the GPU and of the kernel.
	MaxRegisters int
	// LineInfo generates line information for profilers.
	LineInfo bool
	// Debug compiles for debuggers. The code is slow.
	Debug bool
	// Relocatable compiles with the driver's linker, whose code can be cached. The package
	// comment describes the disadvantages.
	Relocatable bool
}

func (j JIT) check() error {
	switch {
	case j.Level != nil && (*j.Level < 0 || *j.Level > 4):
		return fmt.Errorf("JIT level %d: it must be 0 to 4", *j.Level)
	case j.MaxRegisters < 0 || j.MaxRegisters > 255:
		return fmt.Errorf("JIT with at most %d registers per thread: the limit must be 1 to 255, or 0 for none", j.MaxRegisters)
	}
	return nil
}

// String describes the options. JITs that compile in the same way have the same text.
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

// jitCall holds the options of one call and the logs that the call fills.
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

// log returns the two logs of the compiler without their padding.
func (c *jitCall) log() (info, errors string) { return trimLog(c.info), trimLog(c.error) }

func trimLog(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(s)
}

// image returns a text in the form that the driver expects, with a zero byte at the end.
func image(text string) []byte { return append([]byte(text), 0) }

// compile loads a module and returns its handle and the log of the compiler.
func (d *Device) compile(m *ptx.Module, name, text string, j JIT) (handle uintptr, log string, err error) {
	if j.Relocatable {
		return d.compileCached(m, name, text, j)
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

// compileCached is compile with the driver's linker and the cache.
func (d *Device) compileCached(m *ptx.Module, name, text string, j JIT) (handle uintptr, log string, err error) {
	key := d.key(text, j)
	if e, ok := d.cache.get(key); ok {
		if handle, err = d.loadCubin(e.cubin); err == nil {
			return handle, e.log, nil
		}
		if d.ready() != nil {
			return 0, "", err
		}
		d.cache.drop(key) // the code is damaged although the checksum is right
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

// key returns the key of compiled code in the cache.
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
	// All calls of a link are made from one thread. Without this, the compiler of driver 580
	// once crashed on a busy machine.
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
		runtime.KeepAlive(c) // the linker uses the options and logs until it is destroyed
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
	// Copy the code, because it belongs to the linker and is freed with it.
	return cached{cubin: append([]byte(nil), unsafe.Slice((*byte)(cubin), size)...), log: info}, nil
}

// refused returns the error for a text that the compiler refused.
func refused(m *ptx.Module, name, log string, err error) error {
	if log == "" {
		return fmt.Errorf("%s: %w", name, err)
	}
	return &device.CompileError{File: name, Findings: findings(m, log), Log: log, Err: err}
}
