package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// ceilings probes the speed of the device. A time that would need more than these ceilings is
// rejected.
func ceilings(ctx context.Context, dev device.Device, t *timing.Timer) (c record.Ceiling, err error) {
	for _, p := range []struct {
		what  string
		probe func() (probe, error)
		to    *float64
		unit  float64 // the amount per microsecond is divided by it; 0 reports the time itself
	}{
		{"launch", emptyProbe, &c.Launch, 0},
		{"memory", func() (probe, error) { return copyProbe(dev) }, &c.Bandwidth, 1e3},
		{"tensor cores", func() (probe, error) { return tensorProbe(dev.Info()) }, &c.FLOPs, 1e6},
	} {
		one, err := p.probe()
		if err != nil {
			return c, fmt.Errorf("probe of %s: %w", p.what, err)
		}
		best, err := one.best(ctx, dev, t)
		if err != nil {
			return c, fmt.Errorf("probe of %s: %w", p.what, err)
		}
		*p.to = best
		if p.unit != 0 {
			*p.to = one.amount / best / p.unit
		}
	}
	return c, nil
}

// probe is a kernel that loads one unit of the device.
type probe struct {
	kernel  *build.Kernel
	launch  device.Launch
	buffers []device.Buffer
	amount  float64 // bytes or operations per launch
	mode    timing.Mode
}

// best returns the shortest time of a launch in microseconds.
func (p *probe) best(ctx context.Context, dev device.Device, t *timing.Timer) (best float64, err error) {
	defer func() {
		for _, b := range p.buffers {
			err = errors.Join(err, b.Free())
		}
	}()
	p.kernel.Strict()
	text, err := p.kernel.PTX()
	if err != nil {
		return 0, err
	}
	m, err := dev.Load(p.kernel.Name()+".ptx", text)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	k, err := m.Kernel(p.kernel.Name())
	if err != nil {
		return 0, err
	}
	work := timing.Launches(p.kernel.Name(), k, 0, p.launch)
	timed, err := t.EventTime(work, timing.Warm)
	if p.mode == timing.Graph {
		timed, err = t.GraphReplay(ctx, work, timing.Warm, 0)
	}
	if err != nil {
		return 0, err
	}
	defer timed.Close()
	if err := timed.WarmUp(ctx, 0); err != nil {
		return 0, err
	}
	times, err := timed.Sample(ctx, 20)
	if err != nil {
		return 0, err
	}
	return slices.Min(times), nil
}

func emptyProbe() (probe, error) {
	return probe{kernel: build.New("empty", ptx.SM80), launch: device.Launch{Grid: device.D(1), Block: device.D(32)}, mode: timing.Graph}, nil
}

const (
	copyThreads = 256
	copyUnits   = 8 // units of 16 bytes per thread
)

// copyKernel copies memory: each block copies one piece, each thread 16 bytes at a time.
func copyKernel() *build.Kernel {
	k := build.New("copy", ptx.SM80)
	from, to := build.ParamGlobal[build.U32](k, "from"), build.ParamGlobal[build.U32](k, "to")
	first := k.CtaidX().MulLo(copyThreads * copyUnits).Add(k.TidX())
	var units [copyUnits][4]build.U32
	for i := range uint32(copyUnits) {
		units[i] = from.At(first.Add(i * copyThreads).Shl(2)).LdV4()
	}
	for i := range uint32(copyUnits) {
		to.At(first.Add(i * copyThreads).Shl(2)).StV4(units[i])
	}
	return k
}

// copyProbe copies much more than the L2 cache holds.
func copyProbe(dev device.Device) (p probe, err error) {
	const block = 16 * copyThreads * copyUnits
	info := dev.Info()
	bytes := max(8*info.L2, 4*block)
	if info.Memory > 0 {
		bytes = min(bytes, info.Memory/8)
	}
	bytes = min(bytes, 1<<30) / block * block
	p = probe{kernel: copyKernel(), amount: 2 * float64(bytes), mode: timing.Event}
	for range 2 {
		b, err := dev.Alloc(bytes)
		if err != nil {
			return p, err
		}
		p.buffers = append(p.buffers, b)
	}
	p.launch = device.Launch{Grid: device.D(int(bytes / block)), Block: device.D(copyThreads),
		Params: []device.Param{device.Ptr(p.buffers[0]), device.Ptr(p.buffers[1])}}
	return p, nil
}

// tensorRounds is the number of rounds of products per block: enough to make the start of a
// block negligible.
const tensorRounds = 512

// tensorProbe runs the fastest products of the tensor cores: wgmma of e4m3 on Hopper, and
// mma.sync of s8 elsewhere, since no type is faster.
func tensorProbe(info device.Info) (probe, error) {
	blocks := max(info.SMs, 1)
	if info.Target.SM == 90 {
		k := wgmmaKernel()
		return probe{kernel: k, mode: timing.Event, amount: float64(2*blocks) * tensorRounds * 4 * 2 * 64 * 256 * 32,
			launch: device.Launch{Grid: device.D(2 * blocks), Block: device.D(128), Params: []device.Param{device.U32(tensorRounds)}}}, nil
	}
	p := probe{kernel: mmaKernel(), mode: timing.Event, amount: float64(2*blocks*8) * tensorRounds * mmaSums * 2 * 16 * 8 * 32,
		launch: device.Launch{Grid: device.D(2 * blocks), Block: device.D(256), Params: []device.Param{device.U32(tensorRounds)}}}
	if info.Target.SM >= 100 {
		p.amount *= 4 // tcgen05 is not probed; it is at most four times as fast
	}
	return p, nil
}

// mmaSums is the number of accumulators per warp, which hides the latency of mma.
const mmaSums = 8

func mmaKernel() *build.Kernel {
	k := build.New("mma_peak", ptx.SM80)
	rounds := k.ParamU32("rounds")
	x := build.Cast[build.B32](k.TidX().MulLo(0x01030507))
	a, b := [4]build.B32{x, x, x, x}, [2]build.B32{x, x}
	form := build.MmaForm{Shape: build.M16n8k32, D: ptx.S32, A: ptx.S8, B: ptx.S8}
	sums := build.Vars(k.S32(0), 4*mmaSums)
	k.Loop(0, rounds, 1, func(build.U32) {
		for i := range mmaSums {
			var c [4]build.S32
			for j := range c {
				c[j] = sums[4*i+j].Get()
			}
			for j, s := range k.Mma(form, a, b, c).S32() { // D += A·B
				sums[4*i+j].Set(s)
			}
		}
	})
	keep(k, sums)
	return k
}

// keep uses the sums, so that the compiler does not remove them. The kernel would trap on a
// value that the sums never have.
func keep[T build.Value](k *build.Kernel, sums []*build.Var[T]) {
	x := build.Cast[build.U32](sums[0].Get())
	for _, s := range sums[1:] {
		x = x.Xor(build.Cast[build.U32](s.Get()))
	}
	k.If(x.SetpEq(0xdeadbeef), func() { k.Trap() })
}

func wgmmaKernel() *build.Kernel {
	const m, n, kdim = 64, 256, 128
	k := build.New("wgmma_peak", ptx.SM90a)
	k.ReqNTid(128)
	rounds := k.ParamU32("rounds")
	as := build.SharedAlign(build.SharedArray[build.B8](k, "as", m*kdim), 1024)
	bs := build.SharedAlign(build.SharedArray[build.B8](k, "bs", n*kdim), 1024)
	fill(k, build.SharedAs[build.U32](as, 0), m*kdim/4)
	fill(k, build.SharedAs[build.U32](bs, 0), n*kdim/4)
	k.FenceProxyAsync()
	k.SyncThreads()
	form := build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}
	acc := build.Vars(k.F32(0), n/2)
	k.WgmmaFence()
	k.Loop(0, rounds, 1, func(build.U32) {
		for kk := 0; kk < kdim; kk += 32 { // D += A·Bᵀ
			k.WgmmaMmaAsync(form, acc, swizzled(as.Plus(kk)), swizzled(bs.Plus(kk)), k.Pred(true))
		}
		k.WgmmaCommitGroup()
		k.WgmmaWaitGroup(0)
	})
	keep(k, acc)
	return k
}

// fill writes numbers that are neither zero nor NaN to shared memory, with 128 threads.
func fill(k *build.Kernel, words build.Shared[build.U32], n uint32) {
	for i := uint32(0); i < n; i += 128 {
		at := k.TidX().Add(i)
		words.At(at).St(at.MulLo(0x01030507).And(0x3f3f3f3f))
	}
}

// swizzled returns the wgmma descriptor of rows of 128 bytes in the 128-byte swizzle.
func swizzled(tile build.Shared[build.B8]) build.U64 {
	start := tile.Addr().Shr(4).And(0x3fff).CvtU64()
	return start.Or(1<<62 | 1024>>4<<32 | 1<<16)
}
