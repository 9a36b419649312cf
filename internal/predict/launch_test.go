package predict

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
)

// record runs a kernel whose parameter is a buffer of 64 KiB, and returns the record of one cluster.
func record(t *testing.T, body string, blocks, cluster int) *warptrace.Launch {
	t.Helper()
	rec := &warptrace.Recorder{Wants: warptrace.Spread(1)}
	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: rec, Only: rec.Wants})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n"+body+"\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	in, err := dev.Alloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: device.D(blocks), Block: device.D(32), Cluster: device.D(cluster), Params: []device.Param{device.Ptr(in)}}); err != nil {
		t.Fatal(err)
	}
	return rec.Launches()[0]
}

// loads reads 64 KiB by loads of 16 bytes, and copies reads 32 KiB by bulk copies.
const (
	loads = `	.reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %p<2>;
	ld.param.u64 %rd0, [in];
	mov.u32 %r0, %tid.x;
	mov.u64 %rd1, %rd0;
	mul.wide.u32 %rd2, %r0, 16;
	add.u64 %rd0, %rd0, %rd2;
	mov.u32 %r1, 0;
	mov.u32 %r18, 0;
$L:
	ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd0];
	ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd0+512];
	ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd0+1024];
	ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%rd0+1536];
	xor.b32 %r18, %r18, %r2;
	xor.b32 %r18, %r18, %r6;
	xor.b32 %r18, %r18, %r10;
	xor.b32 %r18, %r18, %r14;
	add.u64 %rd0, %rd0, 2048;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p0, %r1, 32;
	@%p0 bra $L;
	st.global.u32 [%rd1], %r18;
	ret;`
	copies = `	.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
	.shared .align 128 .b8 to[32768];
	.shared .align 8 .b64 full;
	ld.param.u64 %rd0, [in];
	mov.u32 %r0, %tid.x;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 ret;
	mov.u32 %r1, full;
	mov.u32 %r2, to;
	mbarrier.init.shared.b64 [%r1], 1;
	mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 32768;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 32768, [%r1];
$W:
	mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
	@!%p1 bra $W;
	ret;`
)

// with returns a chip with other numbers. It has no power limit and no residual, so that times are what the
// replay says.
func with(t *testing.T, sms int, numbers map[string]float64) chips.Chip {
	t.Helper()
	c := chip(t, "H200")
	c.SMs, c.MHz, c.Numbers = sms, 1000, maps.Clone(c.Numbers)
	for name, x := range map[string]float64{"power_w": 1e9, "residual_plain": 1, "residual_mma": 1, "residual_wgmma8": 1, "residual_wgmma16": 1, "launch_us": 0} {
		c.Numbers[name] = chips.Number{Value: x}
	}
	for name, x := range numbers {
		if _, ok := c.Numbers[name]; !ok {
			t.Fatalf("no chip has a number %s", name)
		}
		c.Numbers[name] = chips.Number{Value: x}
	}
	return c
}

// TestShareOfL2 wants an SM to get more of the rate of the L2 if fewer SMs are active, up to what one SM can
// read.
func TestShareOfL2(t *testing.T) {
	for _, c := range []struct{ name, body, rate, most string }{{"loads", loads, "l2_bytes", "sm_bytes"}, {"bulk copies", copies, "bulk_bytes", "sm_bulk_bytes"}} {
		t.Run(c.name, func(t *testing.T) {
			took := func(blocks int, rate, most float64) float64 {
				return Of(Work{Trace: record(t, c.body, blocks, 0)}, with(t, 8, map[string]float64{c.rate: rate, c.most: most})).Micros
			}
			all, half := took(8, 4, 64), took(4, 4, 64)
			if twice := took(8, 8, 64); half != twice || half > 0.7*all {
				t.Errorf("8 SMs take %.2f µs, 4 take %.2f; 8 SMs with twice the rate take %.2f", all, half, twice)
			}
			if one, whole := took(1, 4, 8), took(8, 8, 8); one != whole {
				t.Errorf("one SM takes %.2f µs, at its own limit it would take %.2f", one, whole)
			}
		})
	}
}

// TestDRAM wants the time of DRAM to count for the share of the operands that the L2 does not hold, and for all of them if the
// caches are cold. The kernel reads 64 KiB.
func TestDRAM(t *testing.T) {
	l := record(t, loads, 1, 0)
	slow := with(t, 8, map[string]float64{"l2_mb": 0.02, "dram_gbps": 0.001, "launch_us": 5})
	for _, c := range []struct {
		bytes int64
		cold  bool
		dram  float64 // µs for which DRAM is busy if it delivers all bytes, at 1 byte per µs
		takes float64 // µs; 0 for a time without DRAM
	}{{10000, false, 10000, 0}, {15000, false, 15000, 7505}, {20000, false, 20000, 20005}, {40000, false, 40000, 40005}, {1000, true, 1000, 1005}, {1000, false, 1000, 0}, {1e6, true, 65540, 65545}} {
		p := Of(Work{Trace: l, Bytes: c.bytes, Cold: c.cold}, slow)
		if math.Abs(p.Of(DRAM)-c.dram) > 40 || p.Limit != DRAM || p.Floor != p.Of(DRAM) {
			t.Errorf("%+v: DRAM is busy for %v µs, the floor is %v by %v", c, p.Of(DRAM), p.Floor, p.Limit)
		}
		if c.takes == 0 && p.Micros > 100 || c.takes > 0 && math.Abs(p.Micros/c.takes-1) > 0.02 {
			t.Errorf("%+v: %v µs", c, p.Micros)
		}
	}
}

// ends counts the blocks that a replay announces.
type ends int

func (*ends) Issue(int, int, int, int32, float64, float64, machine.Reason) {}
func (*ends) Phase(int, *warptrace.Phase, float64)                         {}
func (e *ends) Block(int, int, float64, float64)                           { *e++ }
func (*ends) Work(int, int, int32, float64, float64)                       {}

// TestPowerLimit wants the clock to fall for launches of more than 150 µs if the power exceeds the limit, and one replay to be
// watched.
func TestPowerLimit(t *testing.T) {
	l := record(t, loads, 8, 0)
	for _, c := range []struct {
		dram, launch float64 // µs
		power        float64 // W
		want         int     // MHz
	}{{100, 50, 120, 1000}, {100, 900, 1e9, 1000}, {1, 1, 120, 1000}, {100, 949, 120, 0}} {
		var seen ends
		// At 1 GB/s, a thousand bytes take a microsecond.
		p := Of(Work{Trace: l, Bytes: int64(1000 * c.dram), Cold: true, Watch: &seen}, with(t, 8, map[string]float64{"dram_gbps": 1, "launch_us": c.launch - 50, "power_w": c.power}))
		if c.want > 0 && p.Clock != c.want || c.want == 0 && p.Clock >= 1000 || !strings.HasSuffix(p.Chip, fmt.Sprintf("at %d MHz)", p.Clock)) {
			t.Errorf("%+v: %s, clock %d, %v µs", c, p.Chip, p.Clock, p.Micros)
		}
		if seen != 1 {
			t.Errorf("%+v: %d blocks were watched", c, seen)
		}
	}
}

// TestClusters wants an SM for each block of a cluster.
func TestClusters(t *testing.T) {
	p := Of(Work{Trace: record(t, "ret;", 8, 2)}, with(t, 4, nil))
	if p.Blocks != 8 || p.Waves != 2 {
		t.Errorf("%d blocks, %d clusters on the busiest SMs, want 8 and 2", p.Blocks, p.Waves)
	}
}

// TestResident wants as many blocks at once as the resources allow, and more on request.
func TestResident(t *testing.T) {
	l := trace(t, 8, 1) // whose blocks wait for exponentials
	l.Shared = 200 << 10
	c := with(t, 1, nil)
	took := func(more int) float64 { return Of(Work{Trace: l, More: more}, c).Micros }
	if one, two := took(0), took(1); two > 0.6*one {
		t.Errorf("%.2f µs with one block at once, %.2f with two", one, two)
	}
	l.Shared = 1 << 20
	if fit := (&Work{Trace: l}).Fit(c); fit.Blocks != 1 || fit.Limit != "shared memory" {
		t.Errorf("a block that is too large: %+v", fit)
	}
	// 128 registers of 32 threads are a sixteenth of the registers of an SM.
	l.Shared = 0
	if fit := (&Work{Trace: l, Registers: 128}).Fit(c); fit.Blocks != 16 || fit.Limit != "registers" {
		t.Errorf("128 registers: %+v", fit)
	}
	if fit := (&Work{Trace: l}).Fit(c); fit.Blocks != 32 || fit.Limit != "blocks" {
		t.Errorf("a few registers: %+v", fit)
	}
	c.Target = ptx.Target{SM: 12}
	if fit := (&Work{Trace: l}).Fit(c); fit.Blocks != 1 {
		t.Errorf("an unknown target: %+v", fit)
	}
}

// TestRegisters wants the estimate for a kernel that needs many registers, of the launched function.
func TestRegisters(t *testing.T) {
	var b strings.Builder
	b.WriteString(".reg .b32 %r<200>; .reg .b64 %rd<2>;\nld.param.u64 %rd0, [in];\n")
	for i := range 190 {
		fmt.Fprintf(&b, "ld.global.u32 %%r%d, [%%rd0+%d];\n", i, 4*i)
	}
	for i := 1; i < 190; i++ {
		fmt.Fprintf(&b, "add.u32 %%r0, %%r0, %%r%d;\n", i)
	}
	b.WriteString("st.global.u32 [%rd0], %r0;\nret;")
	l := record(t, b.String(), 1, 0)
	// With 190 to 255 registers, an SM with 65536 registers holds 10 to 8 blocks of 32 threads.
	if fit := (&Work{Trace: l}).Fit(chip(t, "H200")); fit.Blocks < 8 || fit.Blocks > 10 || fit.Limit != "registers" {
		t.Errorf("%+v", fit)
	}
	if f := entry(l); f == nil || f.Sym.Name != "k" {
		t.Errorf("the entry is %v", f)
	}
	if l.Kernel = "other"; entry(l) != nil {
		t.Error("a kernel that is not there has an entry")
	}
}

// TestResidual wants the factor on the time that nothing explains to count.
func TestResidual(t *testing.T) {
	l := trace(t, 8, 8)
	one, two := Of(Work{Trace: l}, with(t, 8, nil)).Micros, Of(Work{Trace: l}, with(t, 8, map[string]float64{"residual_plain": 2})).Micros
	if two < 1.3*one || two > 2*one {
		t.Errorf("%.2f µs, and %.2f with twice the residual", one, two)
	}
}

// TestReplayOfMany wants a replay of many clusters to continue as the second half of the first ones does.
func TestReplayOfMany(t *testing.T) {
	c := with(t, 1, nil)
	m := machine.New(trace(t, 4, 4), &c, 1000, nil)
	took := func(resident int, clusters ...int) float64 {
		return m.Replay(machine.Plan{Clusters: clusters, Resident: resident}).Cycles
	}
	for _, x := range []struct {
		name     string
		clusters []int
		resident int
		weight   float64 // events of a cluster: 3e6 are replayed
		want     float64
	}{
		{"all", []int{3, 1, 2, 0, 1}, 1, 6e5, took(1, 3, 1, 2, 0, 1)},
		{"four", []int{3, 1, 2, 0}, 1, 1e9, took(1, 3, 1, 2, 0)},
		// Of five, four are replayed: the last one takes half of what the third and the fourth take.
		{"five", []int{3, 1, 2, 0, 1}, 1, 1e9, took(1, 3, 1, 2, 0) + (took(1, 3, 1, 2, 0)-took(1, 3, 1))/2},
		// Of eight, six are replayed: two more take 2/3 of what the last three take.
		{"eight", []int{0, 1, 2, 3, 0, 1, 2, 3}, 1, 5e5, took(1, 0, 1, 2, 3, 0, 1) + (took(1, 0, 1, 2, 3, 0, 1)-took(1, 0, 1, 2))*2/3},
		// Twice as many as run at once: 6 of 9.
		{"resident", []int{0, 1, 2, 3, 0, 1, 2, 3, 0}, 3, 1e9, took(3, 0, 1, 2, 3, 0, 1) + (took(3, 0, 1, 2, 3, 0, 1) - took(3, 0, 1, 2))},
	} {
		var seen ends
		r := replay(m, machine.Plan{Clusters: x.clusters, Resident: x.resident, Watch: &seen}, x.weight)
		if math.Abs(r.Cycles-x.want) > 1e-6*x.want {
			t.Errorf("%s: %.1f cycles, want %.1f", x.name, r.Cycles, x.want)
		}
		if want := min(len(x.clusters), max(4, int(3e6/x.weight), 2*x.resident)); int(seen) != want {
			t.Errorf("%s: %d blocks were watched, want %d", x.name, seen, want)
		}
	}
}

// TestScratch wants what a launch loads of its workspaces to count, and not the rest of them.
func TestScratch(t *testing.T) {
	l := record(t, loads, 1, 0)
	first := l.Clusters[0].Facts[0].Lines[0]
	for _, f := range l.Clusters[0].Facts {
		for _, line := range f.Lines {
			first = min(first, line)
		}
	}
	at := first * warptrace.LineBytes
	for _, c := range []struct {
		bytes      int64
		workspaces [][2]uint64
		want       float64
	}{{1000, nil, 1000}, {0, [][2]uint64{{at, at + 1<<14}}, 1 << 14}, {1000, [][2]uint64{{at, at + 1<<12}, {at + 1<<15, at + 1<<30}}, 1000 + 1<<12 + 1<<15}, {0, [][2]uint64{{0, at}}, 0}} {
		if got := (&Work{Trace: l, Bytes: c.bytes, Workspaces: c.workspaces}).touched(); got != c.want {
			t.Errorf("%+v: %v bytes", c, got)
		}
	}
}
