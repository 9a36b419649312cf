package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// event is a CUDA event that records its time.
type event struct {
	d      *Device
	handle uintptr
}

// NewEvent makes an event.
func (d *Device) NewEvent() (device.Event, error) {
	e := &event{d: d}
	err := d.call("cuEventCreate", func() result { return d.lib.eventCreate(&e.handle, eventTiming) })
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ownEvent returns e as an event of this GPU.
func (d *Device) ownEvent(e device.Event) (*event, error) {
	own, ok := e.(*event)
	if !ok || own.d.primary != d.primary {
		return nil, errors.New("the event belongs to another device")
	}
	return own, nil
}

func (e *event) Done() (bool, error) {
	if err := e.d.ready(); err != nil {
		return false, err
	}
	switch r := e.d.query(e.handle); r {
	case success:
		return true, nil
	case notReady:
		return false, nil
	default:
		return false, e.d.check("cuEventQuery", r)
	}
}

func (e *event) Sync(ctx context.Context) error {
	if err := e.d.ready(); err != nil {
		return err
	}
	return e.d.await(ctx, e.handle, func() string { return "the work before an event" })
}

// Since returns the time between two events, with a resolution of about 0.5 µs.
func (e *event) Since(start device.Event) (time.Duration, error) {
	from, err := e.d.ownEvent(start)
	if err != nil {
		return 0, err
	}
	var ms float32
	err = e.d.call("cuEventElapsedTime", func() result { return e.d.lib.eventElapsed(&ms, from.handle, e.handle) })
	if err != nil {
		return 0, fmt.Errorf("the time between two events needs both to be recorded: %w", err)
	}
	return time.Duration(float64(ms) * float64(time.Millisecond)), nil
}

func (e *event) Close() error {
	return e.d.call("cuEventDestroy", func() result { return e.d.lib.eventDestroy(e.handle) })
}
