package lab

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"attest/device"
	"attest/device/emu"
	"attest/ptx"
)

// card is a GPU whose kernels run on the emulator and whose clock only it moves, so
// that it can cheat in every way in which cards, drivers and kernels have.
type card struct {
	*emu.Device
	now    time.Duration
	random *rand.Rand
	// takes is the time of a launch by the name of the module, in microseconds.
	takes map[string]float64
	// launched is asked before each launch of a subject: whether it really runs, and
	// what becomes of its time. Nil runs it.
	launched func(name string, n int, took time.Duration) (bool, time.Duration)
	n        map[string]int
	fill     time.Duration // of a flush of the cache
}

func newCard() *card {
	dev, err := emu.New(ptx.SM89, emu.Options{})
	if err != nil {
		panic(err)
	}
	return &card{Device: dev, random: rand.New(rand.NewPCG(1, 2)), takes: map[string]float64{}, n: map[string]int{}, fill: time.Millisecond}
}

func (c *card) Info() device.Info {
	i := c.Device.Info()
	i.Name, i.Driver, i.SMs, i.L2 = "test card", "test", 4, 64<<10
	return i
}

// cost is the time of a launch: 1 % of noise, and probes by what they do.
func (c *card) cost(k *cardKernel, l device.Launch) time.Duration {
	us, ok := c.takes[k.module]
	switch k.name {
	case "empty":
		us = 1
	case "copy":
		us = float64(l.Grid.X) * copyThreads * copyUnits * 32 / 1e5 // 100 GB/s
	case "mma_peak":
		us = float64(l.Grid.X*8) * tensorRounds * mmaSums * 2 * 16 * 8 * 32 / 100e6 // 100 TFLOP/s
	default:
		if !ok {
			us = 100
		}
	}
	return time.Duration(us * 1000 * (1 + 0.01*c.random.Float64()))
}

func (c *card) probes(name string) bool {
	return slices.Contains([]string{"empty", "copy", "mma_peak", "hold"}, name)
}

// start decides what becomes of a launch.
func (c *card) start(k *cardKernel, l device.Launch) (run bool) {
	took := c.cost(k, l)
	run = !c.probes(k.name)
	if run && c.launched != nil {
		c.n[k.module]++
		run, took = c.launched(k.module, c.n[k.module], took)
	}
	c.now += took
	return run
}

func (c *card) Load(name, text string) (device.Module, error) {
	m, err := c.Device.Load(name, text)
	if err != nil {
		return nil, err
	}
	return &cardModule{m, c, name}, nil
}

type cardModule struct {
	device.Module
	c    *card
	name string
}

func (m *cardModule) Kernel(name string) (device.Kernel, error) {
	k, err := m.Module.Kernel(name)
	return &cardKernel{k, m.c, strings.TrimSuffix(m.name, ".ptx"), name}, err
}

type cardKernel struct {
	device.Kernel
	c            *card
	module, name string
}

func (k *cardKernel) Launch(ctx context.Context, l device.Launch) error {
	if !k.c.start(k, l) {
		return nil
	}
	return k.Kernel.Launch(ctx, l)
}

// cardStream does its work at once, or notes it down.
type cardStream struct {
	device.Stream
	c     *card
	noted *[]cardLaunch
}

type cardLaunch struct {
	k *cardKernel
	l device.Launch
}

func (c *card) NewStream() (device.Stream, error) {
	s, err := c.Device.NewStream()
	return &cardStream{Stream: s, c: c}, err
}

func (s *cardStream) Launch(k device.Kernel, l device.Launch) error {
	own := k.(*cardKernel)
	if own.name == "hold" {
		s.c.now += 20 * time.Microsecond
		return nil
	}
	if s.noted != nil {
		*s.noted = append(*s.noted, cardLaunch{own, l})
		return nil
	}
	return own.Launch(context.Background(), l)
}

func (s *cardStream) Fill(b device.Buffer, value byte) error {
	s.c.now += s.c.fill
	return b.Write(0, bytes.Repeat([]byte{value}, int(b.Size())))
}

func (s *cardStream) Record(e device.Event) error {
	*e.(*cardEvent) = cardEvent{c: s.c, at: s.c.now}
	return nil
}

func (s *cardStream) Close() error { return nil }

type cardEvent struct {
	c  *card
	at time.Duration
}

func (c *card) NewEvent() (device.Event, error)                  { return &cardEvent{c: c}, nil }
func (e *cardEvent) Done() (bool, error)                         { return false, nil } // the host is always in time
func (e *cardEvent) Sync(context.Context) error                  { return nil }
func (e *cardEvent) Since(s device.Event) (time.Duration, error) { return e.at - s.(*cardEvent).at, nil }
func (e *cardEvent) Close() error                                { return nil }

type cardGraph struct {
	c     *card
	noted []cardLaunch
}

func (c *card) NewGraph(queue func(device.Stream) error) (device.Graph, error) {
	g := &cardGraph{c: c}
	return g, queue(&cardStream{c: c, noted: &g.noted})
}

// Replay runs the launches. Of those on the same buffers only the last one is
// emulated: its result is that of all.
func (g *cardGraph) Replay(device.Stream) error {
	last := map[string]cardLaunch{}
	for _, n := range g.noted {
		if g.c.start(n.k, n.l) {
			last[string(bytes.Join(asBytes(n.l.Params), nil))] = n
		}
	}
	var errs []error
	for _, n := range last {
		errs = append(errs, n.k.Kernel.Launch(context.Background(), n.l))
	}
	return errors.Join(errs...)
}

func (g *cardGraph) Close() error { return nil }

func asBytes(params []device.Param) (list [][]byte) {
	for _, p := range params {
		list = append(list, p)
	}
	return list
}
