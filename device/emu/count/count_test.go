package count_test

import (
	"context"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/examples"
	"github.com/GOATnote-Inc/attest/ptx"
)

// run counts a launch. params makes its parameters on the device.
func run(t *testing.T, target ptx.Target, text, name string, grid, block device.Dim, params func(dev device.Device) []device.Param) *count.Counts {
	t.Helper()
	c := count.New()
	dev, err := emu.New(target, emu.Options{Observer: c})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load(name+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	launch := device.Launch{Grid: grid, Block: block}
	if params != nil {
		launch.Params = params(dev)
	}
	if err := k.Launch(context.Background(), launch); err != nil {
		t.Fatal(err)
	}
	all := c.Launches()
	if len(all) != 1 || all[0].Kernel != name {
		t.Fatalf("%d launches", len(all))
	}
	return all[0]
}

func buffer(t *testing.T, dev device.Device, bytes int64) device.Buffer {
	t.Helper()
	b, err := dev.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Write(0, make([]byte, bytes)); err != nil {
		t.Fatal(err)
	}
	return b
}

const mixedPTX = `.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.shared .align 16 .b8 s[8192];
	.reg .b32 %r<12>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<2>;
	.reg .pred %p<4>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %tid.x;
	and.b32 %r1, %r0, 31;
	mad.lo.u32 %r2, %r1, 128, 0;
	st.shared.u32 [%r2], %r0;
	mad.wide.u32 %rd1, %r1, 8, %rd0;
	ld.global.u32 %r3, [%rd1];
	cp.async.ca.shared.global [%r2], [%rd1], 4;
	cp.async.wait_all;
	bar.sync 0;
	setp.lt.u32 %p0, %r1, 16;
	setp.gt.u32 %p1, %r1, 99;
	@%p0 bra LOW;
	ex2.approx.f32 %f0, 0f3F800000;
LOW:
	@%p1 st.local.u32 [%r2], %r0;
	@%p1 bra END;
	atom.global.add.u32 %r4, [%rd0], 1;
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];
END:
	ret;
}
`

// TestCounts counts two warps by hand.
func TestCounts(t *testing.T) {
	c := run(t, ptx.SM80, mixedPTX, "k", device.D(1), device.D(64), func(dev device.Device) []device.Param {
		return []device.Param{device.Ptr(buffer(t, dev, 1024))}
	})
	line := map[string]count.Line{}
	for _, l := range c.Lines {
		line[l.Instruction] = l
	}
	if l := line["st.shared.u32"]; l.Executions != 2 || l.Active != 64 || l.Shared != (count.SharedUse{Requests: 2, Wavefronts: 64, Conflicts: 62}) {
		t.Errorf("a column of shared memory: %+v", l)
	}
	if l := line["ld.global.u32"]; l.Global != (count.GlobalUse{Requests: 2, Sectors: 16, BytesUsed: 256}) {
		t.Errorf("every second word of global memory: %+v", l)
	}
	if l := line["cp.async.ca.shared.global"]; l.Global.Sectors != 16 || l.Shared.Conflicts != 62 || l.Shared.Requests != 2 {
		t.Errorf("an asynchronous copy, told lane by lane: %+v", l)
	}
	if l := line["ldmatrix.sync.aligned.m8n8.x1.shared.b16"]; l.Shared != (count.SharedUse{Requests: 2, Wavefronts: 16, Conflicts: 14}) {
		t.Errorf("ldmatrix of rows 128 bytes apart: %+v", l)
	}
	if l := line["ex2.approx.f32"]; l.Executions != 2 || l.Active != 32 || l.ActiveShare() != 0.5 {
		t.Errorf("half of a warp: %+v", l)
	}
	if l := line["st.local.u32"]; l.Executions != 2 || l.Active != 64 || l.Threads != 0 {
		t.Errorf("an instruction that no guard lets through: %+v", l)
	}
	if c.Branches != (count.Branches{Executed: 4, Divergent: 2}) {
		t.Errorf("branches %+v", c.Branches)
	}
	if len(c.Special) != 1 || c.Special[0] != (count.Mix{Name: "ex2.approx.f32", Warps: 2, Threads: 32}) {
		t.Errorf("special %+v", c.Special)
	}
	if len(c.Barriers) != 1 || c.Barriers[0] != (count.Barrier{Line: 20, Instruction: "bar.sync", Arrivals: 2, Threads: 64}) {
		t.Errorf("barriers %+v", c.Barriers)
	}
	want := []count.Bytes{
		{Space: "global", Direction: "read", By: "ld, st", Bytes: 256}, {Space: "global", Direction: "read", By: "cp.async", Bytes: 256},
		{Space: "global", Direction: "write", By: "atomics", Bytes: 256},
		{Space: "shared", Direction: "read", By: "ld, st", Bytes: 256}, // ldmatrix
		{Space: "shared", Direction: "write", By: "ld, st", Bytes: 256}, {Space: "shared", Direction: "write", By: "cp.async", Bytes: 256},
	}
	if !reflect.DeepEqual(c.Bytes, want) {
		t.Errorf("bytes %+v", c.Bytes)
	}
	sum := func(mix []count.Mix) (n uint64) {
		for _, m := range mix {
			n += m.Warps
		}
		return n
	}
	if sum(c.Families) != c.WarpInstructions || sum(c.Opcodes) != c.WarpInstructions || c.ActiveLanes >= 32 || c.ActiveLanes < 30 {
		t.Errorf("%d by family, %d by opcode, %d in all; %v lanes", sum(c.Families), sum(c.Opcodes), c.WarpInstructions, c.ActiveLanes)
	}
}

// TestTransposeHasNoConflicts: the example's rows of 33 words do what they are for,
// and its reads and writes of global memory are whole rows.
func TestTransposeHasNoConflicts(t *testing.T) {
	text, err := examples.Transpose().PTX()
	if err != nil {
		t.Fatal(err)
	}
	const n = 64
	counts := func() *count.Counts {
		return run(t, ptx.SM80, text, "transpose", device.D(n/32, n/32), device.D(32, 8), func(dev device.Device) []device.Param {
			return []device.Param{device.Ptr(buffer(t, dev, 4*n*n)), device.Ptr(buffer(t, dev, 4*n*n)), device.U32(n), device.U32(n)}
		})
	}
	c := counts()
	if c.Shared.Conflicts != 0 || c.Shared.Requests != 2*n*n/32 {
		t.Errorf("shared memory: %+v", c.Shared)
	}
	if share, _ := c.Global.Efficiency(); share != 1 || c.Global.BytesUsed != 2*4*n*n {
		t.Errorf("global memory: %+v", c.Global)
	}
	one, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	// Blocks on one core or on several: the same counts.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	two, err := json.Marshal(counts())
	if err != nil {
		t.Fatal(err)
	}
	if string(one) != string(two) {
		t.Errorf("counts differ:\n%s\n%s", one, two)
	}
}

// TestTensorCores: operations and operands of wgmma, and the bytes of tensor copies.
func TestTensorCores(t *testing.T) {
	text, err := examples.Wgmma().PTX()
	if err != nil {
		t.Fatal(err)
	}
	const m, n, k = 64, 64, 128
	c := run(t, ptx.SM90a, text, "wgmma", device.D(1), device.D(128), func(dev device.Device) []device.Param {
		factor := func() device.Param {
			tm, err := dev.TensorMap(device.TensorDesc{
				Type: ptx.U8, Addr: buffer(t, dev, m*k).Addr(), Dims: []uint64{k, m}, Strides: []uint64{k},
				Box: []uint32{k, m}, Swizzle: device.Swizzle128B,
			})
			if err != nil {
				t.Fatal(err)
			}
			return tm.Param()
		}
		return []device.Param{factor(), factor(), device.Ptr(buffer(t, dev, 4*m*n))}
	})
	want := []count.Tensor{{A: "e4m3", B: "e4m3", D: "f32", Warps: 16, Operations: 2 * m * n * k}}
	if !reflect.DeepEqual(c.Tensor, want) {
		t.Errorf("tensor %+v, want %+v", c.Tensor, want)
	}
	moved := map[string]uint64{}
	for _, b := range c.Bytes {
		moved[b.Space+" "+b.Direction+" "+b.By] = b.Bytes
	}
	for what, bytes := range map[string]uint64{
		"global read tensor copies": (m + n) * k, "shared write tensor copies": (m + n) * k,
		"shared read wgmma": (m + n) * k, "global write ld, st": 4 * m * n,
	} {
		if moved[what] != bytes {
			t.Errorf("%s: %d bytes, want %d; all %v", what, moved[what], bytes, moved)
		}
	}
	var waits *count.Barrier
	for i := range c.Barriers {
		if c.Barriers[i].Instruction != "bar.sync" {
			waits = &c.Barriers[i]
		}
	}
	if waits == nil || waits.Threads-waits.Vain != 128 {
		t.Errorf("waits at the mbarrier: %+v", waits)
	}
	for i, l := range c.Lines { // four warps, and each went back as often as it came too early
		if back := c.Lines[min(i+1, len(c.Lines)-1)]; strings.HasPrefix(l.Instruction, "mbarrier.try_wait") {
			if l.Vain == 0 || l.Executions-l.Vain != 4 || back.Vain != l.Vain || back.Executions-back.Vain != 4 {
				t.Errorf("%+v, then %+v", l, back)
			}
		}
	}
}

// TestAgreesWithStats: without waits, of which an emulator may need several tries,
// the totals are those that the emulator counts itself.
func TestAgreesWithStats(t *testing.T) {
	text, err := examples.Saxpy().PTX()
	if err != nil {
		t.Fatal(err)
	}
	c := count.New()
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: c})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("saxpy.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000 // the last warps diverge, and the last block is mostly idle
	stats, err := k.(device.StatsKernel).Run(context.Background(), device.Launch{
		Grid: device.D(6), Block: device.D(200),
		Params: []device.Param{device.Ptr(buffer(t, dev, 4*n)), device.Ptr(buffer(t, dev, 4*n)), device.F32(2), device.U32(n)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Launches()[0]; got.WarpInstructions != stats.WarpInstructions || got.ThreadInstructions != stats.ThreadInstructions {
		t.Errorf("%d and %d instructions, the emulator counts %d and %d", got.WarpInstructions, got.ThreadInstructions, stats.WarpInstructions, stats.ThreadInstructions)
	}
}
