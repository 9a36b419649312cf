package cuda

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Event flags and the null stream.
const (
	eventTiming   = 0
	eventNoTiming = 2
	nullStream    = 0
)

// event returns an event without a time, a spare one if there is any.
func (p *primary) event() (uintptr, error) {
	p.mu.Lock()
	if n := len(p.spareEvents); n > 0 {
		e := p.spareEvents[n-1]
		p.spareEvents = p.spareEvents[:n-1]
		p.mu.Unlock()
		return e, nil
	}
	p.mu.Unlock()
	var e uintptr
	err := p.call("cuEventCreate", func() result { return p.lib.eventCreate(&e, eventNoTiming) })
	return e, err
}

// recycle stores an event that has passed for the next use.
func (p *primary) recycle(e uintptr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spareEvents = append(p.spareEvents, e)
}

// finish waits for the work that is in a stream now. what describes this work in the error
// if ctx ends first.
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
	// The driver writes the output of printf when it waits. Polling is not waiting.
	err = p.call("cuEventSynchronize", func() result { return p.lib.eventSync(e) })
	p.recycle(e)
	return err
}

// await polls an event until it has passed or ctx ends.
func (p *primary) await(ctx context.Context, event uintptr, what func() string) error {
	r, err := poll(ctx, func() result { return p.query(event) })
	if err != nil {
		err = fmt.Errorf("%w: %s has not ended and cannot be stopped; end the process to free the GPU: %w", device.ErrRunning, what(), err)
		return p.block(event, err)
	}
	return p.check("cuEventQuery", r)
}

// query returns success if an event has passed, else notReady.
func (p *primary) query(event uintptr) result {
	return p.try(func() result { return p.lib.eventQuery(event) })
}

// The time for which poll polls without a pause, and its longest pause.
const (
	spins    = 200
	maxPause = time.Millisecond
)

// poll calls query until the result is not notReady, or ctx ends.
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
