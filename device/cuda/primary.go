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
	waiting atomic.Int32 // launches that are waited for at once

	mu      sync.Mutex
	idle    []uintptr        // events that only say that something is over
	streams map[*stream]bool // all that there are
}

// trouble is why calls are refused.
type trouble struct {
	err   error
	event uintptr // of a launch that did not end in time; 0 when the context is lost
}

// retain finds or makes the primary context of a GPU.
func (l *library) retain(dev int32) (*primary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.contexts[dev]
	if p == nil {
		p = &primary{lib: l, dev: dev}
		l.contexts[dev] = p
		l.several.Store(len(l.contexts) > 1)
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
		p.idle, p.streams = nil, map[*stream]bool{} // those from before went with their context
	}
	return p, nil
}

// release gives the context back. While a kernel hangs it is kept: the driver would
// wait for the kernel.
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
		return nil // the fault was reported where it happened
	}
	return p.lib.err("cuDevicePrimaryCtxRelease", r)
}

// ready returns why the context cannot be used, nil when it can.
func (p *primary) ready() error {
	t := p.trouble.Load()
	if t == nil {
		return nil
	}
	if t.event != 0 {
		switch r := p.query(t.event); {
		case r == success: // it did end after all
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

// accuse names the launches that may be behind a fault that came up in a call that
// launches nothing.
func (p *primary) accuse(err error) error {
	e := faultOf(err)
	if e == nil {
		return err
	}
	k, l, n := p.launched()
	if n == 0 {
		return err
	}
	return p.lose(k.blame(&l, n-1, e))
}

// launched is how many launches the streams hold that may not have ended, and one of
// them.
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

// faultOf is the fault that an error is, and not the refusal of a call after one; nil
// when it is none.
func faultOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) && fatal[result(e.Code)] {
		return e
	}
	return nil
}

// block marks the context as one with a kernel that does not end.
func (p *primary) block(event uintptr, err error) error {
	p.trouble.CompareAndSwap(nil, &trouble{err: err, event: event})
	return err
}

// check turns a result into an error, and takes notice of a fault.
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

// call makes a call of the driver with the context current.
func (p *primary) call(name string, f func() result) error {
	if err := p.ready(); err != nil {
		return err
	}
	r, set := p.within(f)
	if set != success {
		return p.accuse(p.check("cuCtxSetCurrent", set))
	}
	return p.accuse(p.check(name, r))
}

// within runs f on a thread that has the context; set is the result of giving it
// that.
func (p *primary) within(f func() result) (r, set result) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if set = p.lib.ctxSetCurrent(p.handle); set != success {
		return set, set
	}
	return f(), success
}

// try makes a call that is made often. Where only one context was ever made, a
// thread has that one or none, and setting it can be left to when there is none.
func (p *primary) try(f func() result) result {
	if !p.lib.several.Load() {
		switch r := f(); r {
		case notInitialised, invalidContext, invalidHandle, contextIsGone:
		default:
			return r
		}
	}
	r, _ := p.within(f)
	return r
}

// launch starts a kernel. A driver from before attributes has another entry.
func (p *primary) launch(c *launchCall, capturing bool) result {
	start := p.lib.launchKernelEx
	if p.lib.version < 11080 && c.cfg.numAttrs == 0 {
		start = p.lib.launchKernel
	}
	if capturing { // a call that fails could end the capture
		r, _ := p.within(func() result { return start(c) })
		return r
	}
	return p.try(func() result { return start(c) })
}
