package timing

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// gpu simulates a GPU and its host, both with clocks that only the tests advance. A call costs
// the host some time. The GPU starts queued work as soon as it is free. Kernels are slower if
// their buffer is not in the L2 cache.
type gpu struct {
	device.Device
	hostNow, free time.Duration // the clock of the host, and the time when the GPU is free
	call          time.Duration // cost of a call on the host
	l2            int64
	cached        []*memory // the most recently used last
	buffers       map[uint64]*memory
	launches      []string // kernel names, in order
	fills         int
	fail          string // a kernel whose launch fails
	scale         func(n int) float64
	open          int // number of streams, events, graphs, modules and buffers that are not closed
}

func newGPU() *gpu {
	return &gpu{call: time.Microsecond, l2: 1000, buffers: map[uint64]*memory{}, scale: func(int) float64 { return 1 }}
}

type memory struct {
	device.Buffer
	g    *gpu
	addr uint64
	size int64
}

func (g *gpu) Info() device.Info { return device.Info{Name: "test card", Driver: "test", L2: g.l2} }

func (g *gpu) Alloc(size int64) (device.Buffer, error) {
	g.open++
	m := &memory{g: g, addr: uint64(1000 + len(g.buffers)), size: size}
	g.buffers[m.addr] = m
	return m, nil
}

func (m *memory) Addr() uint64 { return m.addr }
func (m *memory) Size() int64  { return m.size }
func (m *memory) Free() error  { m.g.open--; return nil }

// touch loads a buffer into the cache and reports whether it was there before.
func (g *gpu) touch(m *memory) bool {
	at := slices.Index(g.cached, m)
	if at >= 0 {
		g.cached = slices.Delete(g.cached, at, at+1)
	}
	g.cached = append(g.cached, m)
	total := int64(0)
	for i := len(g.cached) - 1; i >= 0; i-- {
		if total += g.cached[i].size; total > g.l2 {
			g.cached = g.cached[i+1:]
			break
		}
	}
	return at >= 0
}

type module struct {
	device.Module
	g *gpu
}

func (g *gpu) Load(string, string) (device.Module, error) { g.open++; return &module{g: g}, nil }
func (m *module) Close() error                            { m.g.open--; return nil }
func (m *module) Kernel(name string) (device.Kernel, error) {
	return &kernel{name: name, g: m.g}, nil
}

// kernel runs for the time warm, or three times as long if its buffer is not cached.
type kernel struct {
	device.Kernel
	g    *gpu
	name string
	warm time.Duration
}

func (k *kernel) Info() device.KernelInfo { return device.KernelInfo{Name: k.name} }

func (k *kernel) duration(l device.Launch) time.Duration {
	if k.name == "hold" {
		return time.Duration(binary.LittleEndian.Uint64(l.Params[0]))
	}
	d := time.Duration(float64(k.warm) * k.g.scale(len(k.g.launches)))
	if !k.g.touch(k.g.buffers[binary.LittleEndian.Uint64(l.Params[0])]) {
		d *= 3
	}
	k.g.launches = append(k.g.launches, k.name)
	return d
}

type stream struct {
	device.Stream
	g     *gpu
	noted *[]func()
}

func (g *gpu) NewStream() (device.Stream, error) { g.open++; return &stream{g: g}, nil }

// queue queues work, which the GPU starts as soon as it is free.
func (s *stream) queue(work func() time.Duration) {
	do := func() { s.g.free = max(s.g.free, s.g.hostNow) + work() }
	if s.noted != nil {
		*s.noted = append(*s.noted, do)
		return
	}
	s.g.hostNow += s.g.call
	do()
}

func (s *stream) Launch(k device.Kernel, l device.Launch) error {
	own := k.(*kernel)
	if own.name == s.g.fail {
		return errors.New("launch failed")
	}
	s.queue(func() time.Duration { return own.duration(l) })
	return nil
}

func (s *stream) Fill(b device.Buffer, _ byte) error {
	s.queue(func() time.Duration {
		s.g.fills++
		s.g.touch(b.(*memory))
		return time.Microsecond
	})
	return nil
}

func (s *stream) Record(e device.Event) error {
	s.queue(func() time.Duration { return 0 })
	e.(*event).at = s.g.free
	return nil
}

func (s *stream) Sync(ctx context.Context) error {
	s.g.hostNow = max(s.g.hostNow, s.g.free)
	return ctx.Err()
}

func (s *stream) Close() error { s.g.open--; return nil }

type event struct {
	device.Event
	g  *gpu
	at time.Duration
}

func (g *gpu) NewEvent() (device.Event, error)               { g.open++; return &event{g: g}, nil }
func (e *event) Close() error                                { e.g.open--; return nil }
func (e *event) Done() (bool, error)                         { return e.at <= e.g.hostNow, nil }
func (e *event) Since(s device.Event) (time.Duration, error) { return e.at - s.(*event).at, nil }

func (g *gpu) AllocHost(int64) (device.HostBuffer, error) { return nil, errors.ErrUnsupported }

type graph struct {
	g    *gpu
	work []func()
}

func (g *gpu) NewGraph(queue func(device.Stream) error) (device.Graph, error) {
	gr := &graph{g: g}
	if err := queue(&stream{g: g, noted: &gr.work}); err != nil {
		return nil, err
	}
	g.open++
	return gr, nil
}

func (gr *graph) Replay(device.Stream) error {
	gr.g.hostNow += 10 * gr.g.call // queueing a graph is slower than other calls
	for _, w := range gr.work {
		w()
	}
	return nil
}

func (gr *graph) Close() error { gr.g.open--; return nil }

// work returns the work of a kernel on sets of buffers.
func (g *gpu) work(name string, warm time.Duration, bytes int64, sets int) Work {
	var ls []device.Launch
	for range sets {
		b, _ := g.Alloc(bytes)
		ls = append(ls, device.Launch{Params: []device.Param{device.Ptr(b)}})
	}
	return Launches(name, &kernel{g: g, name: name, warm: warm}, bytes, ls...)
}

// thermometer is a sensor whose clock decreases with every reading.
type thermometer struct {
	readings int
	err      error
}

func (s *thermometer) State() (device.State, error) {
	s.readings++
	st := device.State{SMClock: 2000 - s.readings, Temperature: 40}
	if s.readings == 4 {
		st.Throttle = device.ThrottlePowerCap | device.ThrottleIdle
	}
	return st, s.err
}
