package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/GOATnote-Inc/attest/device"
)

// primary is the primary context of a GPU, which all Devices of that GPU in the
// process share.
type primary struct {
	lib    *library
	dev    int32
	handle uintptr
	refs   int // guarded by lib.mu

	trouble atomic.Pointer[trouble]
	waiting atomic.Int32 // number of launches that goroutines wait for

	mu          sync.Mutex
	spareEvents []uintptr        // events without times, to use again
	streams     map[*stream]bool // all open streams
}

// trouble is the reason why calls fail.
type trouble struct {
	err   error
	event uintptr // the event of a launch that did not end in time; 0 if the context is lost
}

// retain returns the primary context of a GPU and creates it if necessary.
func (l *library) retain(dev int32) (*primary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.contexts[dev]
	if p == nil {
		p = &primary{lib: l, dev: dev}
		l.contexts[dev] = p
		l.manyContexts.Store(len(l.contexts) > 1)
	}
	if p.refs > 0 {
		if err := p.ready(); err != nil {
			return nil, err
		}
	}
	if r := l.ctxRetain(&p.handle, dev); r != success {
		return nil, l.err("cuDevicePrimaryCtxRetain", r)
	}
	if p.refs++; p.refs == 1 {
		p.trouble.Store(nil)
		p.spareEvents, p.streams = nil, map[*stream]bool{} // the old events and streams were destroyed with the old context
	}
	return p, nil
}

// release releases the context. If a kernel hangs, release does nothing, because the driver
// would wait for the kernel.
func (p *primary) release() error {
	p.lib.mu.Lock()
	defer p.lib.mu.Unlock()
	err := p.ready()
	if errors.Is(err, device.ErrRunning) {
		return err
	}
	p.refs--
	r := p.lib.ctxRelease(p.dev)
	if err != nil {
		return nil // the fault was already reported
	}
	return p.lib.err("cuDevicePrimaryCtxRelease", r)
}

// ready returns why the context cannot be used, or nil.
func (p *primary) ready() error {
	t := p.trouble.Load()
	if t == nil {
		return nil
	}
	if t.event != 0 {
		switch r := p.query(t.event); {
		case r == success: // the launch has ended late
			p.trouble.CompareAndSwap(t, nil)
			return nil
		case fatal[r]:
			return p.lose(p.lib.err("cuEventQuery", r))
		}
	}
	return t.err
}

// lose marks the context as lost by a fault and returns the error.
func (p *primary) lose(err error) error {
	p.trouble.Store(&trouble{err: fmt.Errorf("%w since an earlier call: %w", device.ErrLost, err)})
	return err
}

// nameLaunches adds to a fault the launches that may have caused it, if the call that
// returned the fault is not a launch.
func (p *primary) nameLaunches(err error) error {
	e := faultOf(err)
	if e == nil {
		return err
	}
	k, l, n := p.launched()
	if n == 0 {
		return err
	}
	return p.lose(k.launchError(&l, n-1, e))
}

// launched returns the number of launches in all streams that may not have ended, and one
// of them.
func (p *primary) launched() (k *kernel, l device.Launch, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.streams {
		s.mu.Lock()
		if s.launches > 0 {
			k, l = s.last, s.launch
			n += s.launches
		}
		s.mu.Unlock()
	}
	return k, l, n
}

// faultOf returns err as a fault of a kernel. It returns nil for other errors, including the
// errors of calls after a fault.
func faultOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) && fatal[result(e.Code)] {
		return e
	}
	return nil
}

// block marks the context as blocked by a kernel that does not end.
func (p *primary) block(event uintptr, err error) error {
	p.trouble.CompareAndSwap(nil, &trouble{err: err, event: event})
	return err
}

// check converts a result to an error. After a fault it marks the context as lost.
func (p *primary) check(call string, r result) error {
	if r == success {
		return nil
	}
	err := p.lib.err(call, r)
	if fatal[r] {
		return p.lose(err)
	}
	return err
}

// call calls the driver on a thread with the context.
func (p *primary) call(name string, f func() result) error {
	if err := p.ready(); err != nil {
		return err
	}
	r, set := p.within(f)
	if set != success {
		return p.nameLaunches(p.check("cuCtxSetCurrent", set))
	}
	return p.nameLaunches(p.check(name, r))
}

// within runs f on a thread with the context. set is the result of setting the context.
func (p *primary) within(f func() result) (r, set result) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if set = p.lib.ctxSetCurrent(p.handle); set != success {
		return set, set
	}
	return f(), success
}

// try is within for frequent calls. If the process has created only one context, a thread
// has that context or none. try then sets the context only if the call fails without it.
func (p *primary) try(f func() result) result {
	if !p.lib.manyContexts.Load() {
		switch r := f(); r {
		case notInitialised, invalidContext, invalidHandle, contextIsGone:
		default:
			return r
		}
	}
	r, _ := p.within(f)
	return r
}

// launch starts a kernel. Old drivers, which do not support attributes, have a different
// entry.
func (p *primary) launch(c *launchCall, capturing bool) result {
	start := p.lib.launchKernelEx
	if p.lib.version < 11080 && c.cfg.numAttrs == 0 {
		start = p.lib.launchKernel
	}
	if capturing { // set the context first, because a failed call could end the capture
		r, _ := p.within(func() result { return start(c) })
		return r
	}
	return p.try(func() result { return start(c) })
}
