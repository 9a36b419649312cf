package emu

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/decode"
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Device is an emulated GPU.
type Device struct {
	target   ptx.Target
	mem      *memory.Global
	launches atomic.Uint64
	options  Options
}

// Options choose how kernels run.
type Options struct {
	// Schedule chooses the order in which warps run. 0 is the natural order, a number below
	// a million permutes the warps, and [Reversed], [Ahead], [Starved], [Fine], [Producers]
	// and [Consumers] are orders that differ from each other as much as possible. The same
	// number always gives the same order.
	Schedule uint64
	// Hold, if not 0, is the line of an instruction that warps execute as late as possible. A warp
	// waits there until no other warp of its cluster can continue. It selects instructions of the
	// kernel, not of the functions that the kernel calls.
	Hold int
	// Moment, if not 0, gives each launch other values of the special registers that differ
	// between launches on a GPU: %smid, %nsmid, %warpid, %nwarpid, %gridid, %clock, %globaltimer,
	// %current_graph_exec and %pm0 to %pm7. It also gives allocations other addresses, and makes registers and
	// local memory begin with arbitrary bits instead of zeros. The same number gives the same values to the same
	// sequence of launches.
	Moment uint64
	// Memory is the size of global memory in bytes. 0 means 16 GiB.
	Memory int64
	// Output receives what kernels print. nil means os.Stdout.
	Output io.Writer
	// MaxInstructions is the number of instructions that a warp may execute before the
	// launch fails as endless. 0 means 2^34.
	MaxInstructions uint64
	// Observer, if not nil, observes all launches.
	Observer observe.Observer
	// GuardShared puts guard bands between variables in shared memory, so that an observer
	// can find accesses beyond a variable.
	GuardShared bool
	// FMA says what happens to mul and add without a rounding modifier.
	FMA FMA
	// KeepGoing lets a launch continue after an access that is out of bounds or misaligned,
	// so that an observer sees more than the first one. A load yields zeros and a store is
	// dropped. When the launch ends, it fails with the first of these faults.
	KeepGoing bool
	// Only, if not nil, selects the clusters of a launch that run, by their index in the grid and
	// the number of clusters in the grid. The results of such a launch are incomplete: it serves observers that need only a few clusters.
	// Blocks may count each other with atom.inc, so that the last one of a few finishes their work. Then some clusters beside the
	// selected ones run as well. A launch whose blocks may wait for each other runs completely.
	Only func(cluster, clusters int) bool
}

// FMA says how mul followed by add or sub is executed if none of them has a rounding modifier. PTX
// allows an assembler to fuse them into an fma, which rounds once.
type FMA uint8

const (
	// FMAPtxas fuses them where ptxas does: see DEVIATIONS.md, D3.
	FMAPtxas FMA = iota
	// FMAWritten executes the text as it stands.
	FMAWritten
)

// Contracts reports whether [FMAPtxas] and [FMAWritten] execute a module in different ways.
func Contracts(m *ptx.Module) bool { return decode.Contracts(m) }

// moment returns the seed of the special registers of a launch.
func (o *Options) moment(launch uint64) uint64 {
	if o.Moment == 0 {
		return 0
	}
	return rand.New(rand.NewPCG(o.Moment, launch)).Uint64() >> 2 // a clock that does not overflow soon
}

// Schedules that differ from each other as much as possible, for [Options.Schedule].
const (
	// Reversed runs the last warp of a block first.
	Reversed uint64 = machine.Reversed
	// Fine gives the warps short turns, so that they alternate often.
	Fine uint64 = machine.Fine
	// Producers lets the warps that start bulk copies run as far as they can before each short
	// turn of another warp: they overwrite slots that they do not wait for.
	Producers uint64 = machine.Producers
	// Consumers lets the other warps run as far as they can: they read slots that they do not
	// wait for.
	Consumers uint64 = machine.Consumers
)

// Ahead returns the schedule in which one warp of each block runs as far as it can before the
// others. A negative number counts from the last warp: -1 is the last.
func Ahead(warp int) uint64 { return machine.Ahead + machine.Numbered(warp) }

// Starved returns the schedule in which one warp of each block runs only when no other warp can
// continue. A negative number counts from the last warp: -1 is the last.
func Starved(warp int) uint64 { return machine.Starved + machine.Numbered(warp) }

// New returns an emulated GPU of a target. [Targets] lists the targets.
func New(target ptx.Target, opts Options) (*Device, error) {
	if _, ok := chips[target]; !ok {
		return nil, fmt.Errorf("no emulator for %s: use sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100a, sm_103a, sm_120a or sm_121a", target)
	}
	if opts.Memory == 0 {
		opts.Memory = 16 << 30
	}
	if opts.Output == nil {
		opts.Output = os.Stdout
	}
	if opts.MaxInstructions == 0 {
		opts.MaxInstructions = 1 << 34
	}
	return &Device{target: target, mem: memory.NewGlobal(opts.Memory, opts.Moment), options: opts}, nil
}

// chip holds the limits of a target.
type chip struct {
	sms         int
	sharedPerSM int
	sharedMax   int
}

var chips = map[ptx.Target]chip{
	ptx.SM80:  {108, 167936, 166912},
	ptx.SM86:  {84, 102400, 101376},
	ptx.SM89:  {58, 102400, 101376},
	ptx.SM90:  {132, 233472, 232448},
	ptx.SM90a: {132, 233472, 232448},

	ptx.Blackwell[0]: {148, 233472, 232448},
	ptx.Blackwell[1]: {148, 233472, 232448},
	ptx.Blackwell[2]: {170, 102400, 101376},
	ptx.Blackwell[3]: {48, 102400, 101376},
}

// driver opens emulators for package device.
type driver struct{}

func init() { device.Register("emu", driver{}) }

// Present returns true: the emulator is always available.
func (driver) Present() bool { return true }

// Open opens the emulator of a target. An empty arg means sm_90a.
func (driver) Open(arg string) (device.Device, error) {
	target := ptx.SM90a
	if arg != "" {
		var err error
		if target, err = ptx.ParseTarget(arg); err != nil {
			return nil, err
		}
	}
	return New(target, Options{})
}

// Info describes the emulated GPU.
func (d *Device) Info() device.Info {
	c := chips[d.target]
	return device.Info{
		Name: "emulated " + d.target.String(), Driver: "emu", Target: d.target,
		SMs: c.sms, SharedPerSM: c.sharedPerSM, SharedDefault: 48 << 10, SharedMax: c.sharedMax,
		Memory: d.options.Memory, MaxThreads: 1024, Version: runtime.Version(),
	}
}

// Close does nothing: the garbage collector frees the memory of the device.
func (d *Device) Close() error { return nil }

// Alloc allocates global memory.
func (d *Device) Alloc(size int64) (device.Buffer, error) {
	a, err := d.mem.Alloc(size, memory.GlobalAlign, "")
	if err != nil {
		return nil, err
	}
	return &buffer{d.mem, a}, nil
}

type buffer struct {
	mem *memory.Global
	a   *memory.Alloc
}

func (b *buffer) Addr() uint64 { return b.a.Addr }

func (b *buffer) Size() int64 { return int64(len(b.a.Data)) }

func (b *buffer) Free() error {
	b.mem.Free(b.a)
	return nil
}

func (b *buffer) Write(off int64, data []byte) error { return b.copy(off, len(data), data, nil) }

func (b *buffer) Read(off int64, data []byte) error { return b.copy(off, len(data), nil, data) }

func (b *buffer) copy(off int64, n int, from, to []byte) error {
	if off < 0 || off+int64(n) > b.Size() {
		return fmt.Errorf("bytes %d to %d are outside the buffer of %d bytes", off, off+int64(n), b.Size())
	}
	copy(to, b.a.Data[off:])
	copy(b.a.Data[off:], from)
	b.a.Info().Undefined.Remove(int(off), len(from))
	return nil
}

// Undefine makes buffer a device.Undefiner.
func (b *buffer) Undefine(off, n int64, certain bool) {
	i := b.a.Info()
	i.Undefined.Add(int(off), int(n))
	i.Certain = certain
}

// Load parses, verifies and decodes PTX. The error is a *verify.Invalid for a text that
// NVIDIA's assembler refuses. A kernel with instructions that the emulator does not support is
// refused when it is looked up, so that the other kernels of the module can run. Load fails if
// no kernel of the module can run.
func (d *Device) Load(name, text string) (m device.Module, err error) {
	defer device.CatchBug(&err)
	p, err := decode.Load(name, text, d.mem, decode.Options{
		Target: d.target, GuardShared: d.options.GuardShared, Contract: d.options.FMA == FMAPtxas,
	})
	if err != nil {
		return nil, err
	}
	return &module{d, p}, nil
}

type module struct {
	dev  *Device
	prog *machine.Program
}

func (m *module) Kernel(name string) (device.Kernel, error) {
	fn := m.prog.Funcs[name]
	if fn == nil || !fn.Decl.Entry {
		return nil, fmt.Errorf("%s: %w", m.prog.File, kernel.MissingEntry(m.prog.Module, name))
	}
	if fn.Unsupported != nil {
		return nil, fn.Unsupported
	}
	return &entryPoint{m.dev, &machine.Kernel{Prog: m.prog, Entry: fn, Name: name}}, nil
}

func (m *module) Global(name string) (device.Buffer, error) {
	for _, v := range m.prog.Module.Vars() {
		if a := m.prog.Globals[v.Sym]; a != nil && v.Sym.Name == name {
			return &buffer{m.dev.mem, a}, nil
		}
	}
	return nil, fmt.Errorf("%s has no variable %q in global memory", m.prog.File, name)
}

// Function returns the address of a device function.
func (m *module) Function(name string) (uint64, error) {
	if addr, ok := m.prog.AddrOf[name]; ok {
		return addr, nil
	}
	return 0, fmt.Errorf("%s has no function %q with a body", m.prog.File, name)
}

func (m *module) Close() error {
	own := map[*memory.Alloc]bool{}
	for _, a := range m.prog.Globals {
		own[a] = true
	}
	m.dev.mem.FreeAll(func(a *memory.Alloc) bool { return own[a] })
	return nil
}

// entryPoint is a kernel of a module that is loaded on a device.
type entryPoint struct {
	dev    *Device
	kernel *machine.Kernel
}

func (k *entryPoint) Info() device.KernelInfo {
	i := device.KernelInfo{Name: k.kernel.Name, Shared: int(k.kernel.Entry.Declared), Local: int(k.kernel.Entry.LocalSize), MaxThreads: 1024}
	for _, p := range k.kernel.Entry.Decl.Params {
		i.Params = append(i.Params, device.ParamInfo{Name: p.Sym.Name, Size: int(p.Size()), Align: p.Alignment()})
	}
	for _, name := range []string{".maxntid", ".reqntid"} {
		if d := k.kernel.Entry.Decl.Directive(name); d != nil {
			i.MaxThreads = 1
			for _, a := range d.Args {
				i.MaxThreads *= int(a.Val)
			}
		}
	}
	return i
}

// Launch runs the kernel to its end.
func (k *entryPoint) Launch(ctx context.Context, l device.Launch) error {
	_, err := k.Run(ctx, l)
	return err
}

// Run runs the kernel as Launch does and returns the numbers of instructions.
func (k *entryPoint) Run(ctx context.Context, l device.Launch) (device.Stats, error) {
	var err error
	if l.Cluster, err = k.cluster(l.Cluster); err != nil {
		return device.Stats{}, err
	}
	if err := l.Check(k.dev.Info(), k.Info()); err != nil {
		return device.Stats{}, err
	}
	l.Grid, l.Block, l.Cluster = l.Grid.Norm(), l.Block.Norm(), l.Cluster.Norm()
	d := k.dev
	id := d.launches.Add(1)
	return k.kernel.Launch(ctx, l, machine.Settings{
		Memory: d.mem, SMs: chips[d.target].sms, SharedPerSM: chips[d.target].sharedPerSM, ID: id,
		Seed: d.options.Schedule, Hold: d.options.Hold, Moment: d.options.moment(id), Limit: d.options.MaxInstructions, Output: d.options.Output, Observer: d.options.Observer,
		KeepGoing: d.options.KeepGoing, Only: d.options.Only,
	})
}

// cluster returns the shape of the clusters that the kernel runs in: the shape it was
// compiled for, or else the shape that the launch asks for.
func (k *entryPoint) cluster(asked device.Dim) (device.Dim, error) {
	d := k.kernel.Entry.Decl.Directive(".reqnctapercluster")
	if d == nil {
		return asked, nil
	}
	var n []int
	for _, a := range d.Args {
		n = append(n, int(a.Val))
	}
	compiled := device.D(n...)
	if asked.Count() > 1 && asked.Norm() != compiled {
		return asked, fmt.Errorf("launch of %s with clusters of %v: the kernel was compiled for clusters of %v", k.kernel.Name, asked, compiled)
	}
	return compiled, nil
}

// TensorMap encodes a tensor map in the emulator's own form.
func (d *Device) TensorMap(t device.TensorDesc) (device.TensorMap, error) {
	if err := t.Check(); err != nil {
		return device.TensorMap{}, err
	}
	return memory.EncodeTensorMap(t), nil
}
