package emu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// stream executes work at once, or records it for a graph.
type stream struct {
	dev      *Device
	mu       sync.Mutex // serialises the work of the stream
	recorded *[]func() error
}

// NewStream returns a stream whose work is complete when the call that queues it returns.
func (d *Device) NewStream() (device.Stream, error) { return &stream{dev: d}, nil }

// do executes work, or records it.
func (s *stream) do(work func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recorded != nil {
		*s.recorded = append(*s.recorded, work)
		return nil
	}
	return work()
}

func (s *stream) Launch(k device.Kernel, l device.Launch) error {
	own, ok := k.(*entryPoint)
	if !ok || own.dev != s.dev {
		return fmt.Errorf("launch of %s: the kernel and the stream belong to different devices", k.Info().Name)
	}
	if s.recorded != nil { // the parameters may change before the graph is replayed
		params := make([]device.Param, len(l.Params))
		for i, p := range l.Params {
			params[i] = append(device.Param(nil), p...)
		}
		l.Params = params
	}
	return s.do(func() error { return own.Launch(context.Background(), l) })
}

func (s *stream) Write(b device.Buffer, offset int64, data []byte) error {
	return s.do(func() error { return b.Write(offset, data) })
}

func (s *stream) Read(b device.Buffer, offset int64, data []byte) error {
	return s.do(func() error { return b.Read(offset, data) })
}

func (s *stream) Copy(dst, src device.Buffer) error {
	from, ok := src.(*buffer)
	if !ok {
		return errors.New("copy: the source and the stream belong to different devices")
	}
	return s.do(func() error { return dst.Write(0, from.a.Data) })
}

func (s *stream) Fill(b device.Buffer, value byte) error {
	to, ok := b.(*buffer)
	if !ok {
		return errors.New("fill: the buffer and the stream belong to different devices")
	}
	return s.do(func() error {
		for i := range to.a.Data {
			to.a.Data[i] = value
		}
		return nil
	})
}

func (s *stream) Record(e device.Event) error {
	own, ok := e.(*event)
	if !ok {
		return errors.New("record: the event and the stream belong to different devices")
	}
	return s.do(own.record)
}

func (s *stream) Wait(device.Event) error { return nil }

func (s *stream) Done() (bool, error) { return true, nil }

func (s *stream) Sync(ctx context.Context) error { return ctx.Err() }

func (s *stream) Close() error { return nil }

// event is a moment by the host's clock.
type event struct {
	mu sync.Mutex
	at time.Time
}

// NewEvent returns an event.
func (d *Device) NewEvent() (device.Event, error) { return &event{}, nil }

func (e *event) record() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at = time.Now()
	return nil
}

func (e *event) moment() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

func (e *event) Done() (bool, error) { return true, nil }

func (e *event) Sync(ctx context.Context) error { return ctx.Err() }

func (e *event) Close() error { return nil }

// Since returns how long the emulator took. It does not predict the time on a GPU.
func (e *event) Since(start device.Event) (time.Duration, error) {
	s, ok := start.(*event)
	if !ok {
		return 0, errors.New("the events belong to different devices")
	}
	from, to := s.moment(), e.moment()
	if from.IsZero() || to.IsZero() {
		return 0, errors.New("the time between two events needs both to be recorded: queue Record first")
	}
	return to.Sub(from), nil
}

// hostBuffer is ordinary memory of the process.
type hostBuffer struct{ data []byte }

// AllocHost allocates memory of the host.
func (d *Device) AllocHost(size int64) (device.HostBuffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("a host buffer of %d bytes: the size must not be negative", size)
	}
	return &hostBuffer{make([]byte, size)}, nil
}

func (h *hostBuffer) Bytes() []byte { return h.data }

func (h *hostBuffer) Free() error {
	h.data = nil
	return nil
}

// graph is recorded work.
type graph struct {
	dev  *Device
	work []func() error
}

// NewGraph records the work that queue gives to its stream.
func (d *Device) NewGraph(queue func(device.Stream) error) (device.Graph, error) {
	g := &graph{dev: d}
	if err := queue(&stream{dev: d, recorded: &g.work}); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *graph) Replay(s device.Stream) error {
	own, ok := s.(*stream)
	if !ok || own.dev != g.dev {
		return errors.New("replay: the graph and the stream belong to different devices")
	}
	for _, work := range g.work {
		if err := own.do(work); err != nil {
			return err
		}
	}
	return nil
}

func (g *graph) Close() error {
	g.work = nil
	return nil
}
