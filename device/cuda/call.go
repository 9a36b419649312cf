package cuda

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// bind makes a field of the table call the entry at addr. Most entries are called through
// reflection, which costs little compared with the call itself. Entries that every launch
// needs are called directly.
func (l *library) bind(fn any, addr uintptr) {
	switch f := fn.(type) {
	case *func(*launchCall) result:
		if f == &l.launchKernel {
			*f = func(c *launchCall) result { return c.callPlain(addr) }
			return
		}
		*f = func(c *launchCall) result { return c.call(addr) }
	case *func(uintptr) result: // cuCtxSetCurrent, queries
		*f = func(a uintptr) result {
			r, _, _ := purego.SyscallN(addr, a)
			return result(r)
		}
	case *func(a, b uintptr) result: // cuEventRecord, cuGraphLaunch
		*f = func(a, b uintptr) result {
			r, _, _ := purego.SyscallN(addr, a, b)
			return result(r)
		}
	default:
		purego.RegisterFunc(fn, addr)
	}
}

// call calls cuLaunchKernelEx. The list of arguments is part of the launchCall, because a
// local list would be allocated with every launch.
func (c *launchCall) call(addr uintptr) result {
	c.args = [11]uintptr{uintptr(unsafe.Pointer(&c.cfg)), c.fn, uintptr(unsafe.Pointer(unsafe.SliceData(c.ptrs))), 0}
	r, _, _ := purego.SyscallN(addr, c.args[:4]...)
	runtime.KeepAlive(c)
	return result(r)
}

// callPlain calls cuLaunchKernel, which does not accept attributes.
func (c *launchCall) callPlain(addr uintptr) result {
	g, b := &c.cfg.grid, &c.cfg.block
	c.args = [11]uintptr{
		c.fn, uintptr(g[0]), uintptr(g[1]), uintptr(g[2]), uintptr(b[0]), uintptr(b[1]), uintptr(b[2]),
		uintptr(c.cfg.shared), c.cfg.stream, uintptr(unsafe.Pointer(unsafe.SliceData(c.ptrs))), 0,
	}
	r, _, _ := purego.SyscallN(addr, c.args[:]...)
	runtime.KeepAlive(c)
	return result(r)
}
