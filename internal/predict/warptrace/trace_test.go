package warptrace_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
)

// trace records a launch of the kernel k without parameters.
func trace(t *testing.T, text string, grid, block int, wants func(cluster, clusters int) bool) *warptrace.Launch {
	t.Helper()
	return traceTo(t, &warptrace.Recorder{Wants: wants}, text, grid, block)
}

// traceTo is trace with a recorder. The kernel may use the variable g in global memory.
func traceTo(t *testing.T, rec *warptrace.Recorder, text string, grid, block int) *warptrace.Launch {
	t.Helper()
	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: rec, Only: rec.Wants})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.global .u32 g;\n.visible .entry k()\n{\n"+text+"\tret;\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: device.D(grid), Block: device.D(block)}); err != nil {
		t.Fatal(err)
	}
	return rec.Launches()[0]
}

const barrier = `
	.shared .align 4 .b8 s[8192];
	.reg .b32 %r<4>;
	mov.u32 %r0, %tid.x;
	shl.b32 %r1, %r0, 3;
	st.shared.u32 [%r1], %r0;
	bar.sync 0;
	bar.sync 0;
	ld.shared.u32 %r2, [%r1];
`

// TestBarrier checks wavefronts, and that two barriers are two phases with one arrival per warp.
func TestBarrier(t *testing.T) {
	l := trace(t, barrier, 3, 64, func(c, n int) bool { return c == n-2 })
	if l.Count != 3 || len(l.Clusters) != 1 || l.Clusters[0].Index != 1 {
		t.Fatalf("%d clusters of %d", len(l.Clusters), l.Count)
	}
	c := l.Clusters[0]
	path := c.Blocks[0].Warps[1]
	if len(path) != 7 {
		t.Fatalf("warp 1 executed %d instructions, want 7", len(path))
	}
	if f := c.Facts[path[2].Fact]; f.Wavefronts != 2 {
		t.Errorf("a store with a stride of 8 bytes has %d wavefronts, want 2", f.Wavefronts)
	}
	for i := 3; i < 5; i++ {
		f := c.Facts[path[i].Fact]
		if len(f.Arrivals) != 1 || f.Waits != f.Arrivals[0].Phase || c.Phases[f.Waits].Need != 2 {
			t.Errorf("instruction %d: %+v", i, f)
		}
	}
	if a, b := c.Facts[path[3].Fact].Waits, c.Facts[path[4].Fact].Waits; a == b {
		t.Error("two barriers are one phase")
	}
}

// TestFull checks that an endless loop is noticed by the memory that its recording takes.
func TestFull(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := atomic.Int32{}
	rec := &warptrace.Recorder{Most: 4 << 20, Full: func() { calls.Add(1); cancel(warptrace.ErrFull) }}
	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: rec})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("k.ptx", `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k()
{
	.shared .align 4 .b8 s[4];
	.reg .b32 %r<2>;
loop:
	ld.shared.u32 %r0, [s];
	add.u32 %r0, %r0, 1;
	st.shared.u32 [s], %r0;
	bra loop;
}
`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(ctx, device.Launch{Grid: device.D(2), Block: device.D(64)}); err == nil {
		t.Error("an endless launch ends")
	}
	if calls.Load() != 1 || context.Cause(ctx) != warptrace.ErrFull {
		t.Errorf("%d calls, %v", calls.Load(), context.Cause(ctx))
	}
}

const mbarrier = `
	.shared .align 8 .b8 bar[8];
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	.reg .pred %p<4>;
	mov.u32 %r0, %tid.x;
	setp.eq.u32 %p0, %r0, 0;
	@%p0 mbarrier.init.shared.b64 [bar], 32;
	bar.sync 0;
	setp.ge.u32 %p1, %r0, 32;
	@%p1 mbarrier.arrive.shared.b64 %rd0, [bar];
$L:
	mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
	@!%p2 bra $L;
`

// TestMbarrier checks that a wait is one instruction however often it polled, and that it belongs
// to the phase of the arrivals.
func TestMbarrier(t *testing.T) {
	l := trace(t, mbarrier, 1, 64, nil)
	c := l.Clusters[0]
	var waits [2]int32
	for w, path := range c.Blocks[0].Warps {
		polls := 0
		for _, e := range path {
			if l.Program[e.ID].Op.Name == "mbarrier" && l.Program[e.ID].Op.Has("try_wait") {
				polls++
				waits[w] = c.Facts[e.Fact].Waits
			}
		}
		if polls != 1 {
			t.Errorf("warp %d has %d polls", w, polls)
		}
	}
	if waits[0] != waits[1] || waits[0] < 0 || c.Phases[waits[0]].Need != 32 || !c.Phases[waits[0]].Mbarrier {
		t.Errorf("the warps wait for phases %v: %+v", waits, c.Phases)
	}
}

const lateArrival = `
	.shared .align 16 .b8 s[1024];
	.shared .align 8 .b8 bar[8];
	.reg .b32 %r<8>;
	.reg .b64 %rd<2>;
	.reg .pred %p<4>;
	mov.u32 %r0, %tid.x;
	setp.eq.u32 %p0, %r0, 0;
	@%p0 mbarrier.init.shared.b64 [bar], 64;
	bar.sync 0;
	mov.u32 %r1, s;
	mad.lo.u32 %r2, %r0, 16, %r1;
	mov.u64 %rd0, 0;
	cp.async.cg.shared.global [%r2], [%rd0], 16, 0;
	cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
	add.u32 %r3, %r0, 1;
	add.u32 %r4, %r3, 1;
$L:
	mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;
	@!%p2 bra $L;
`

// TestLateArrival checks that the arrivals of cp.async.mbarrier.arrive count, also if they are
// announced when their warps have gone on.
func TestLateArrival(t *testing.T) {
	l := trace(t, lateArrival, 1, 64, nil)
	c := l.Clusters[0]
	for w, path := range c.Blocks[0].Warps {
		arrivals, phase := 0, int32(-1)
		for _, e := range path {
			if e.Fact < 0 {
				continue
			}
			f := c.Facts[e.Fact]
			switch op := l.Program[e.ID].Op; {
			case op.Name == "cp" && op.Has("mbarrier"):
				for _, a := range f.Arrivals {
					if !a.Late {
						t.Errorf("warp %d: %+v is not late", w, a)
					}
					arrivals += a.Count
				}
			case op.Name == "mbarrier" && op.Has("test_wait"):
				phase = f.Waits
			}
		}
		if arrivals != 32 || phase < 0 || c.Phases[phase].Need != 64 {
			t.Errorf("warp %d has %d arrivals and waits for phase %d of %+v", w, arrivals, phase, c.Phases)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct{ n, clusters, want int }{{1, 100, 1}, {8, 5, 5}, {8, 64, 8}, {8, 65535, 8}, {3, 4, 3}, {2, 1000, 2}, {8, 9, 8}} {
		spread, got := warptrace.Spread(c.n), 0
		for i := range c.clusters {
			if spread(i, c.clusters) {
				got++
			}
		}
		if got != c.want || !spread(0, c.clusters) || c.n > 1 && !spread(c.clusters-1, c.clusters) {
			t.Errorf("%d of %d clusters: %d are selected, want %d with the first and the last", c.n, c.clusters, got, c.want)
		}
	}
}

// TestNeighbours wants the neighbours of a selected block to be recorded if they run, because blocks count each other,
// and only the selected block if they take too much memory or do not run.
func TestNeighbours(t *testing.T) {
	const counts, alone = "\t.reg .b32 %r<2>;\n\tatom.global.inc.u32 %r1, [g], 7;\n", "\t.reg .b32 %r<2>;\n\tmov.u32 %r1, %ctaid.x;\n"
	for _, c := range []struct {
		text        string
		most        int64
		first, last int
	}{{counts, 0, 16, 24}, {counts, 1, 20, 20}, {alone, 0, 20, 20}} {
		rec := &warptrace.Recorder{Wants: func(c, n int) bool { return c == n/2 }, MostBeside: c.most}
		l := traceTo(t, rec, c.text, 40, 32)
		if n := len(l.Clusters); l.Count != 40 || n != c.last-c.first+1 || l.Clusters[0].Index != c.first || l.Clusters[n-1].Index != c.last {
			t.Errorf("%q with %d bytes for neighbours: %d clusters of %d from %d on", c.text, c.most, n, l.Count, l.Clusters[0].Index)
		}
	}
}
