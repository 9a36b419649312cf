package cuda

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// event flags and the null stream.
const (
	eventTiming   = 0
	eventNoTiming = 2
	nullStream    = 0
)

// event takes an event that only says that something is over.
func (p *primary) event() (uintptr, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		e := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return e, nil
	}
	p.mu.Unlock()
	var e uintptr
	err := p.call("cuEventCreate", func() result { return p.lib.eventCreate(&e, eventNoTiming) })
	return e, err
}

// recycle takes an event back whose moment has passed.
func (p *primary) recycle(e uintptr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, e)
}

// finish waits for everything that is in a stream now. what names it in the error of
// a context that ends first.
func (p *primary) finish(ctx context.Context, stream uintptr, what func() string) error {
	e, err := p.event()
	if err != nil {
		return err
	}
	if err := p.call("cuEventRecord", func() result { return p.lib.eventRecord(e, stream) }); err != nil {
		return err
	}
	if err := p.await(ctx, e, what); err != nil {
		return err
	}
	// What kernels print comes out when something is waited for, and asking is not
	// waiting.
	err = p.call("cuEventSynchronize", func() result { return p.lib.eventSync(e) })
	p.recycle(e)
	return err
}

// await polls an event until it is over or ctx ends.
func (p *primary) await(ctx context.Context, event uintptr, what func() string) error {
	r, err := poll(ctx, func() result { return p.query(event) })
	if err != nil {
		err = fmt.Errorf("%w: %s has not ended and cannot be stopped; end the process to free the GPU: %w", device.ErrRunning, what(), err)
		return p.block(event, err)
	}
	return p.check("cuEventQuery", r)
}

// query asks whether the moment of an event has passed.
func (p *primary) query(event uintptr) result {
	return p.try(func() result { return p.lib.eventQuery(event) })
}

// How long poll asks without pause, and how long its longest pause is.
const (
	spins    = 200
	maxPause = time.Millisecond
)

// poll asks until the answer is another than notReady, or ctx ends.
func poll(ctx context.Context, query func() result) (result, error) {
	for range spins {
		if r := query(); r != notReady {
			return r, nil
		}
		runtime.Gosched()
	}
	pause := 10 * time.Microsecond
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			if r := query(); r != notReady {
				return r, nil
			}
			return notReady, context.Cause(ctx)
		case <-timer.C:
		}
		if r := query(); r != notReady {
			return r, nil
		}
		pause = min(2*pause, maxPause)
		timer.Reset(pause)
	}
}
