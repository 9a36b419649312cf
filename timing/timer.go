package timing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Timer times work on a device. Only one goroutine may use it at a time.
type Timer struct {
	dev         device.Streamer
	stream      device.Stream
	start, end  device.Event
	hold        *hold         // nil if the device executes the work of a stream immediately
	flushBuffer device.Buffer // its writes flush the L2 cache; nil until the first cold sample
	fillByte    byte
}

// New returns a timer for a device with streams.
func New(dev device.Device) (*Timer, error) {
	s, ok := dev.(device.Streamer)
	if !ok {
		return nil, fmt.Errorf("%s has no streams, so there are no events to measure times with", dev.Info().Name)
	}
	t := &Timer{dev: s}
	if err := t.open(); err != nil {
		t.Close()
		return nil, fmt.Errorf("timer of %s: %w", dev.Info().Name, err)
	}
	return t, nil
}

func (t *Timer) open() (err error) {
	if t.stream, err = t.dev.NewStream(); err != nil {
		return err
	}
	if t.start, err = t.dev.NewEvent(); err != nil {
		return err
	}
	if t.end, err = t.dev.NewEvent(); err != nil {
		return err
	}
	if t.dev.Info().Driver != "emu" {
		t.hold, err = newHold(t.dev)
	}
	return err
}

// Close frees the resources of the timer on the device.
func (t *Timer) Close() error {
	var errs []error
	if t.hold != nil {
		errs = append(errs, t.hold.module.Close())
	}
	if t.flushBuffer != nil {
		errs = append(errs, t.flushBuffer.Free())
	}
	for _, e := range []device.Event{t.start, t.end} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	if t.stream != nil {
		errs = append(errs, t.stream.Close())
	}
	return errors.Join(errs...)
}

// between returns the time of the work that queue queues, by the clock of the device. The work
// of before is not timed. Both are queued again if the host was too slow.
func (t *Timer) between(ctx context.Context, before, queue func(device.Stream) error) (time.Duration, error) {
	for {
		late, err := t.tryOnce(ctx, before, queue)
		switch {
		case err != nil:
			return 0, err
		case !late:
			return t.elapsed()
		case !t.hold.lengthen():
			return 0, fmt.Errorf("the host cannot queue a launch within %v: it may be overloaded", t.hold.wait)
		}
	}
}

// tryOnce queues a sample and waits for it. late reports whether the device started the
// sample before the host had queued all of it.
func (t *Timer) tryOnce(ctx context.Context, before, queue func(device.Stream) error) (late bool, err error) {
	if err := before(t.stream); err != nil {
		return false, err
	}
	steps := []func() error{
		func() error { return t.stream.Record(t.start) },
		func() error { return queue(t.stream) },
		func() error { return t.stream.Record(t.end) },
	}
	if t.hold != nil {
		steps = append([]func() error{func() error { return t.hold.queue(t.stream) }}, steps...)
		steps = append(steps, func() (err error) { late, err = t.start.Done(); return err })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return false, err
		}
	}
	return late, t.stream.Sync(ctx)
}

func (t *Timer) elapsed() (time.Duration, error) {
	d, err := t.end.Since(t.start)
	if err == nil && d <= 0 {
		return 0, fmt.Errorf("the time between the events is %v, which is too short for a launch: it may have been queued on another stream", d)
	}
	return d, err
}

// flushCache queues writes to a buffer that is twice as large as the L2 cache.
func (t *Timer) flushCache() (err error) {
	if t.flushBuffer == nil {
		l2 := t.dev.Info().L2
		if l2 == 0 {
			l2 = 64 << 20 // larger than the cache of any GPU whose driver does not report it
		}
		if t.flushBuffer, err = t.dev.Alloc(2 * l2); err != nil {
			return fmt.Errorf("a buffer of %d MiB to flush the L2 cache: %w", 2*l2>>20, err)
		}
	}
	t.fillByte++ // a different value each time: the cache may compress zeros
	return t.stream.Fill(t.flushBuffer, t.fillByte|1)
}
