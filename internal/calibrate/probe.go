package calibrate

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Probe is one measurement.
type Probe struct {
	Name   string // the number of package chips that it measures, or another name
	Unit   string // "cycles", "ns", "bytes/cycle"
	Doc    string
	Target ptx.Target // the least target

	warps   int // per block; 0 is 1
	blocks  int // 0 is 1, allSMs is one per SM
	cluster int
	// memory is the size of a buffer for the kernel. chase is the distance in bytes between its
	// pointers, each to the next; 0 leaves the buffer zero.
	memory, chase int64
	iterations    [2]int // 0 means usual
	first         bool   // the value is the extra time of the first iteration
	// body writes the kernel's loop: step is one iteration, and sink returns a value that depends
	// on all results.
	body func(f *frame) (step func(i build.U32), sink func() build.U32)
	// value turns the cycles of one iteration into the result.
	value func(cycles float64, info device.Info) float64
}

const allSMs = -1

// usual are the two numbers of iterations.
var usual = [2]int{16, 80}

// frame is what the body of a probe works with.
type frame struct {
	k      *build.Kernel
	tid    build.U32
	memory build.Global[build.U64]
	seed   build.U32 // 0 when the kernel runs, unknown to the compiler
	warps  int
}

// Result is the result of a probe.
type Result struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Doc   string  `json:"doc"`
	// Cycles are the times of the slowest warp with the lower and the higher number of iterations.
	Cycles [2]float64 `json:"cycles"`
	Error  string     `json:"error,omitempty"` // why there is no value
}

// Text returns the PTX of the probe.
func (p *Probe) Text() (string, error) {
	k := build.New("probe", p.Target)
	k.Strict()
	k.Version(8, 4)
	out, memory := build.ParamGlobal[build.U32](k, "out"), build.ParamGlobal[build.U64](k, "memory")
	iterations, seed := k.ParamU32("iterations"), k.ParamU32("seed")
	if p.cluster > 1 {
		k.ReqNCTAPerCluster(p.cluster)
	}
	warps := max(p.warps, 1)
	k.ReqNTid(32 * warps)
	f := &frame{k: k, tid: k.TidX(), memory: memory, seed: seed, warps: warps}
	step, sink := p.body(f)
	k.SyncThreads()
	start := k.Clock()
	k.Loop(0, iterations, 1, step)
	end := k.Clock()
	result := sink()
	k.If(result.SetpEq(0x7fffabcd), func() { out.St(result) })
	slot := k.CtaidX().MadLo(warps, f.tid.Shr(5))
	k.If(f.tid.And(31).SetpEq(0), func() { out.At(slot.Add(1)).St(end.Sub(start)) })
	return k.PTX()
}

// Run measures the probe on a device. A device that is not a GPU runs it with few iterations.
func (p *Probe) Run(ctx context.Context, dev device.Device) (r Result) {
	r = Result{Name: p.Name, Unit: p.Unit, Doc: p.Doc}
	if err := p.run(ctx, dev, &r); err != nil {
		r.Error = err.Error()
	}
	return r
}

func (p *Probe) run(ctx context.Context, dev device.Device, r *Result) error {
	info := dev.Info()
	if !info.Target.Runs(p.Target) {
		return fmt.Errorf("it needs %v", p.Target)
	}
	text, err := p.Text()
	if err != nil {
		return err
	}
	m, err := dev.Load(p.Name+".ptx", text)
	if err != nil {
		return err
	}
	defer m.Close()
	k, err := m.Kernel("probe")
	if err != nil {
		return err
	}
	counts, times := p.iterations, 5
	if counts == [2]int{} {
		counts = usual
	}
	memory := p.memory
	if info.Driver == "emu" {
		counts, times, memory = [2]int{1, 2}, 1, min(memory, 1<<20)
	}
	l, out, free, err := p.launch(dev, memory)
	if err != nil {
		return err
	}
	defer free()
	for i, n := range counts {
		l.Params[2] = device.U32(uint32(n))
		for range times {
			if err := k.Launch(ctx, l); err != nil {
				return err
			}
			t, err := slowest(out)
			if err != nil {
				return err
			}
			if r.Cycles[i] == 0 || t < r.Cycles[i] {
				r.Cycles[i] = t
			}
		}
	}
	cycles := (r.Cycles[1] - r.Cycles[0]) / float64(counts[1]-counts[0])
	if p.first {
		cycles = r.Cycles[0] - cycles
	}
	r.Value = p.value(cycles, info)
	return nil
}

// launch allocates the memory of the probe and returns its launch and the buffer of its results.
func (p *Probe) launch(dev device.Device, size int64) (l device.Launch, out device.Buffer, free func(), err error) {
	blocks := max(p.blocks, 1)
	if p.blocks == allSMs {
		blocks = dev.Info().SMs
	}
	if dev.Info().Driver == "emu" {
		blocks = min(blocks, 2)
	}
	blocks *= max(p.cluster, 1)
	out, err = dev.Alloc(int64(4 + 4*blocks*max(p.warps, 1)))
	if err != nil {
		return l, nil, nil, err
	}
	memory, err := dev.Alloc(max(size, 256))
	if err != nil {
		return l, nil, nil, err
	}
	free = func() { out.Free(); memory.Free() }
	content := make([]byte, max(size, 256))
	if p.chase > 0 {
		for at := int64(0); at+8 <= size; at += p.chase {
			binary.LittleEndian.PutUint64(content[at:], memory.Addr()+uint64((at+p.chase)%(size/p.chase*p.chase)))
		}
	}
	if err := memory.Write(0, content); err != nil {
		free()
		return l, nil, nil, err
	}
	if err := out.Write(0, make([]byte, 4+4*blocks*max(p.warps, 1))); err != nil {
		free()
		return l, nil, nil, err
	}
	l = device.Launch{
		Grid: device.D(blocks), Block: device.D(32 * max(p.warps, 1)), Cluster: device.D(max(p.cluster, 1)),
		Params: []device.Param{device.Ptr(out), device.Ptr(memory), device.U32(1), device.U32(0)},
	}
	return l, out, free, nil
}

// slowest returns the largest of the times that a probe has written, in cycles.
func slowest(out device.Buffer) (float64, error) {
	data := make([]byte, out.Size())
	if err := out.Read(0, data); err != nil {
		return 0, err
	}
	var most uint32
	for at := 4; at+4 <= len(data); at += 4 {
		most = max(most, binary.LittleEndian.Uint32(data[at:]))
	}
	return float64(most), nil
}

// per returns a value function: cycles per operation, for n operations per iteration.
func per(n float64) func(float64, device.Info) float64 {
	return func(cycles float64, _ device.Info) float64 { return cycles / n }
}

// nanoseconds is per in nanoseconds, at the highest clock of the device.
func nanoseconds(n float64) func(float64, device.Info) float64 {
	return func(cycles float64, d device.Info) float64 { return cycles / n * 1000 / float64(max(d.Clock, 1)) }
}

// rate returns a value function: bytes per cycle, for n bytes per iteration.
func rate(n float64) func(float64, device.Info) float64 {
	return func(cycles float64, _ device.Info) float64 { return n / max(cycles, 1e-9) }
}
