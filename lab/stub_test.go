package lab

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// card is a fake GPU: its kernels run on the emulator and it controls the clock, so that it can
// cheat in all ways in which GPUs, drivers and kernels have cheated. A launch that executes fewer
// instructions than the first launch of its kernel takes less time, so skipped work pays.
type card struct {
	*emu.Device
	now    time.Duration
	random *rand.Rand
	// takes is the time of a launch by the name of the module, in microseconds.
	takes map[string]float64
	// launched is called before each launch of a subject. It returns whether the launch really
	// runs, and its time. nil runs every launch.
	launched func(name string, n int, took time.Duration) (bool, time.Duration)
	n        map[string]int
	fill     time.Duration // the time of a flush of the cache
	// inGraph is launched for launches of replayed graphs, if set.
	inGraph func(name string, n int, took time.Duration) (bool, time.Duration)
	// memo makes launches on known buffers return their first output again.
	memo    bool
	full    map[string]uint64 // instructions of the first launch of a kernel with a grid
	seen    map[string][]byte
	buffers []device.Buffer
	// hidesVariables makes the variables of modules unknown to the host.
	hidesVariables bool
	// defers makes launches of graphs do their work when the host waits for the stream.
	defers  bool
	pending []cardLaunch
	fills   bool    // whether launches of graphs treat all sequences as full
	varies  bool    // whether the last bits of the first elements of O differ from launch to launch
	clock   float64 // the factor of events on a time; 0 is 1
	texts   map[string]string
}

func newCard() *card {
	dev, err := emu.New(ptx.SM89, emu.Options{})
	if err != nil {
		panic(err)
	}
	return &card{Device: dev, random: rand.New(rand.NewPCG(1, 2)), takes: map[string]float64{}, n: map[string]int{}, fill: time.Millisecond, seen: map[string][]byte{}, full: map[string]uint64{}, texts: map[string]string{}}
}

func (c *card) Info() device.Info {
	i := c.Device.Info()
	i.Name, i.Driver, i.SMs, i.L2 = "test card", "test", 4, 64<<10
	return i
}

// cost returns the time of a launch with 1 % of noise; the time of a probe depends on its work.
func (c *card) cost(k *cardKernel, l device.Launch) time.Duration {
	us, ok := c.takes[k.module]
	switch k.name {
	case "empty":
		us = 1
	case "spoil":
		us = 2
	case "copy":
		us = float64(l.Grid.X) * copyThreads * copyUnits * 32 / 1e5 // 100 GB/s
	case "mma_peak":
		us = float64(l.Grid.X*8) * tensorRounds * mmaSums * 2 * 16 * 8 * 32 / 100e6 // 100 TFLOP/s
	case "wgmma_peak":
		us = float64(l.Grid.X) * tensorRounds * 4 * 2 * 64 * 256 * 32 / 100e6 // 100 TFLOP/s
	default:
		if !ok {
			us = 100
		}
	}
	return time.Duration(us * 1000 * (1 + 0.01*c.random.Float64()))
}

func (c *card) probes(name string) bool {
	return slices.Contains([]string{"empty", "copy", "mma_peak", "wgmma_peak", "hold"}, name)
}

// launch runs a launch, or pretends to, and lets its time pass.
func (c *card) launch(ctx context.Context, k *cardKernel, l device.Launch, graph bool) error {
	took := c.cost(k, l)
	if c.probes(k.name) {
		c.now += took
		return nil
	}
	if k.name == "spoil" {
		c.now += took
		return k.Kernel.Launch(ctx, l)
	}
	decide := c.launched
	if graph && c.inGraph != nil {
		decide = c.inGraph
	}
	run := true
	if decide != nil {
		c.n[k.module]++
		run, took = decide(k.module, c.n[k.module], took)
	}
	if graph && c.defers {
		c.pending = append(c.pending, cardLaunch{k: k, l: l})
		return nil
	}
	share := 1.0
	var err error
	switch {
	case run && graph && c.fills:
		err = c.withFullLengths(l, func() (err error) { share, err = c.run(ctx, k, l); return err })
	case run:
		share, err = c.run(ctx, k, l)
	}
	c.now += time.Duration(float64(took) * share)
	return err
}

func (c *card) Alloc(size int64) (device.Buffer, error) {
	b, err := c.Device.Alloc(size)
	c.buffers = append(c.buffers, b)
	return b, err
}

// output returns the buffer of O, the seventh parameter of a preset.
func (c *card) output(l device.Launch) (b device.Buffer, offset int64, ok bool) {
	addr := binary.LittleEndian.Uint64(l.Params[6])
	for _, b := range c.buffers {
		if addr >= b.Addr() && addr < b.Addr()+uint64(b.Size()) {
			return b, int64(addr - b.Addr()), true
		}
	}
	return nil, 0, false
}

// remembered returns the stored output of a launch on known buffers.
func (c *card) remembered(k *cardKernel, l device.Launch) (bool, error) {
	key := string(bytes.Join(asBytes(l.Params), nil))
	b, at, ok := c.output(l)
	if !c.memo || !ok {
		return false, nil
	}
	if data, ok := c.seen[key]; ok {
		return true, b.Write(at, data)
	}
	if err := k.Kernel.Launch(context.Background(), l); err != nil {
		return true, err
	}
	data := make([]byte, b.Size()-at-guard)
	c.seen[key] = data
	return true, b.Read(at, data)
}

// vary changes last bits of O, which is in f32.
func (c *card) vary(l device.Launch) error {
	b, at, ok := c.output(l)
	if !c.varies || !ok {
		return nil
	}
	data := make([]byte, 256)
	if err := b.Read(at, data); err != nil {
		return err
	}
	for i := 0; i < len(data); i += 4 {
		data[i] ^= byte(c.random.IntN(2))
	}
	return b.Write(at, data)
}

// run runs a launch on the emulator and returns its share of the instructions of the first launch
// of the kernel.
func (c *card) run(ctx context.Context, k *cardKernel, l device.Launch) (share float64, err error) {
	if done, err := c.remembered(k, l); done {
		return 1, err
	}
	stats, err := k.Kernel.(device.StatsKernel).Run(ctx, l)
	if err != nil {
		return 1, err
	}
	if err := c.vary(l); err != nil {
		return 1, err
	}
	key := fmt.Sprint(k.module, k.name, l.Grid)
	if c.full[key] == 0 {
		c.full[key] = stats.WarpInstructions
	}
	return min(float64(stats.WarpInstructions)/float64(c.full[key]), 1), nil
}

func (c *card) Load(name, text string) (device.Module, error) {
	c.texts[name] = text
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

func (m *cardModule) Global(name string) (device.Buffer, error) {
	if m.c.hidesVariables {
		return nil, errors.New("no such variable")
	}
	return m.Module.Global(name)
}

type cardKernel struct {
	device.Kernel
	c            *card
	module, name string
}

func (k *cardKernel) Launch(ctx context.Context, l device.Launch) error {
	return k.c.launch(ctx, k, l, false)
}

// cardStream runs its work at once, or records it for a graph.
type cardStream struct {
	device.Stream
	c     *card
	noted *[]cardLaunch
}

type cardLaunch struct {
	k     *cardKernel
	l     device.Launch
	write func() error // set for a write, which is no launch
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
		*s.noted = append(*s.noted, cardLaunch{k: own, l: l})
		return nil
	}
	return own.Launch(context.Background(), l)
}

func (s *cardStream) Write(b device.Buffer, at int64, data []byte) error {
	if s.noted != nil {
		*s.noted = append(*s.noted, cardLaunch{write: func() error { return b.Write(at, data) }})
		return nil
	}
	return s.Stream.Write(b, at, data)
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

func (s *cardStream) Sync(ctx context.Context) error {
	for _, n := range s.c.pending {
		if _, err := s.c.run(ctx, n.k, n.l); err != nil {
			return err
		}
	}
	s.c.pending = nil
	return s.Stream.Sync(ctx)
}

type cardEvent struct {
	c  *card
	at time.Duration
}

func (c *card) NewEvent() (device.Event, error) { return &cardEvent{c: c}, nil }
func (e *cardEvent) Done() (bool, error)        { return false, nil } // the host is always in time
func (e *cardEvent) Sync(context.Context) error { return nil }
func (e *cardEvent) Since(s device.Event) (time.Duration, error) {
	if e.c.clock == 0 {
		return e.at - s.(*cardEvent).at, nil
	}
	return time.Duration(e.c.clock * float64(e.at-s.(*cardEvent).at)), nil
}
func (e *cardEvent) Close() error { return nil }

type cardGraph struct {
	c     *card
	noted []cardLaunch
}

func (c *card) NewGraph(queue func(device.Stream) error) (device.Graph, error) {
	g := &cardGraph{c: c}
	return g, queue(&cardStream{c: c, noted: &g.noted})
}

func (g *cardGraph) Replay(device.Stream) error {
	for _, n := range g.noted {
		if n.write != nil {
			if err := n.write(); err != nil {
				return err
			}
			continue
		}
		if err := g.c.launch(context.Background(), n.k, n.l, true); err != nil {
			return err
		}
	}
	return nil
}

func (g *cardGraph) Close() error { return nil }

func asBytes(params []device.Param) (list [][]byte) {
	for _, p := range params {
		list = append(list, p)
	}
	return list
}
