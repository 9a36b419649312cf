package timing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Timer times work on a device. One goroutine uses it at a time.
type Timer struct {
	dev        device.Streamer
	stream     device.Stream
	start, end device.Event
	hold       *hold         // nil where a stream does its work at once
	rubbish    device.Buffer // what fills the cache for a cold start; nil until then
	byte       byte
}

// New makes a timer of a device that has streams.
func New(dev device.Device) (*Timer, error) {
	s, ok := dev.(device.Streamer)
	if !ok {
		return nil, fmt.Errorf("%s has no streams, and so no events to time with", dev.Info().Name)
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

// Close frees what the timer holds on the device.
func (t *Timer) Close() error {
	var errs []error
	if t.hold != nil {
		errs = append(errs, t.hold.module.Close())
	}
	if t.rubbish != nil {
		errs = append(errs, t.rubbish.Free())
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

// between is the time from before to after what queue queues, by the device's
// clock.
func (t *Timer) between(ctx context.Context, cold bool, queue func(device.Stream) error) (time.Duration, error) {
	for {
		late, err := t.once(ctx, cold, queue)
		switch {
		case err != nil:
			return 0, err
		case !late:
			return t.elapsed()
		case !t.hold.lengthen():
			return 0, fmt.Errorf("the host does not manage to queue a launch within %v: is it overloaded?", t.hold.wait)
		}
	}
}

// once queues a sample and waits for it. It is late when the device came to the
// sample before the host had queued all of it.
func (t *Timer) once(ctx context.Context, cold bool, queue func(device.Stream) error) (late bool, err error) {
	steps := []func() error{
		func() error { return t.stream.Record(t.start) },
		func() error { return queue(t.stream) },
		func() error { return t.stream.Record(t.end) },
	}
	if t.hold != nil {
		steps = append([]func() error{func() error { return t.hold.queue(t.stream) }}, steps...)
		steps = append(steps, func() (err error) { late, err = t.start.Done(); return err })
	}
	if cold {
		steps = append([]func() error{t.forget}, steps...)
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
		return 0, fmt.Errorf("the events are %v apart, which no launch takes: was it queued on another stream?", d)
	}
	return d, err
}

// forget queues writes all over a buffer twice as large as the L2 cache.
func (t *Timer) forget() (err error) {
	if t.rubbish == nil {
		l2 := t.dev.Info().L2
		if l2 == 0 {
			l2 = 64 << 20 // more than cards have whose driver does not say
		}
		if t.rubbish, err = t.dev.Alloc(2 * l2); err != nil {
			return fmt.Errorf("a buffer of %d MB to flush the L2 cache with: %w", 2*l2>>20, err)
		}
	}
	t.byte++ // never the zeros that a compressing cache makes small
	return t.stream.Fill(t.rubbish, t.byte|1)
}
