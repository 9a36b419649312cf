package machine

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// known are rates that can be told apart in a sum.
func known() *rates {
	r := &rates{
		tensorF16: 1024, tensorFP8: 2048, mmaShare: 0.5, arrive: 31, try: 37, clusterRelease: 41, fence: 43, fenceGPU: 47, setmaxnreg: 53, special: 59, vote: 61, redux: 67, constant: 71,
		shared: 30, wavefront: 2, memorySM: 3, l1: 40, l2: 200, dram: 600, atomic: 300, dsmem: 180, dsmemBytes: 32, tma: 11, tmaIssue: 5, tmaEngine: 7, tensorMap: 13, storePort: 8, storeBurst: 1024,
	}
	for u, l := range map[Unit]float64{Float: 4, IMad: 5, ALU: 6, Pack: 7, Exp: 20, Shuffle: 23, Tensor: 32} {
		r.latency[u] = l
	}
	r.interval[ALU], r.interval[Pack], r.interval[Exp] = 2, 3, 8
	return r
}

// registers are those of the instructions.
const registers = ".reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<4>; .reg .f64 %d<4>; .reg .b16 %h<4>; .reg .pred %p<4>;\n"

// instruction returns an instruction of a text.
func instruction(t *testing.T, text string) *observe.Inst {
	t.Helper()
	m, err := parse.Parse("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n"+registers+text+"\n$L:\nret;\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Funcs()[0].Body {
		if in, ok := s.(*ptx.Inst); ok {
			b, err := isa.BindInst(in)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			return &observe.Inst{Bound: b}
		}
	}
	t.Fatalf("no instruction: %s", text)
	return nil
}

// TestCosts compares the costs of instructions with sums of the rates.
func TestCosts(t *testing.T) {
	arithmetic := func(u Unit, slots int) cost { return cost{unit: u, slots: slots, pure: true} }
	exp := func(slots int, latency, hold float64) cost {
		return cost{unit: Exp, slots: slots, latency: latency, hold: hold, pure: true}
	}
	for text, want := range map[string]cost{
		// Operands of others, and special registers.
		"mov.u32 %r1, %r2;": {pure: true}, "mov.u32 %r1, %ntid.x;": {pure: true}, "mov.u32 %r1, 5;": {pure: true},
		"mov.u32 %r1, %tid.x;": {slots: 1, latency: 59, pure: true}, "mov.u32 %r1, %clock;": {slots: 1, latency: 59}, "mov.u64 %rd1, %globaltimer;": {slots: 1, latency: 59},
		"ret;": {unit: Branch, slots: 1, kind: ends}, "exit;": {unit: Branch, slots: 1, kind: ends}, "bra $L;": {unit: Branch, slots: 1, kind: jumps},
		// Integers.
		"add.u32 %r1, %r2, %r3;": arithmetic(ALU, 1), "add.u64 %rd1, %rd2, %rd3;": arithmetic(ALU, 2), "and.b64 %rd1, %rd2, %rd3;": arithmetic(ALU, 2),
		"mul.lo.u32 %r1, %r2, %r3;": arithmetic(IMad, 1), "mul.lo.u64 %rd1, %rd2, %rd3;": arithmetic(IMad, 4), "mul.wide.u32 %rd1, %r2, %r3;": arithmetic(IMad, 1),
		"mad.lo.s32 %r1, %r2, %r3, %r4;": arithmetic(IMad, 1),
		"bfe.u32 %r1, %r2, 3, 4;":        arithmetic(ALU, 2), "bfe.u64 %rd1, %rd2, 3, 4;": arithmetic(ALU, 4), "popc.b32 %r1, %r2;": arithmetic(Convert, 1), "clz.b64 %r1, %rd2;": arithmetic(Convert, 1),
		"vote.sync.ballot.b32 %r1, %p1, -1;": {unit: ALU, slots: 1, latency: 61}, "redux.sync.add.s32 %r1, %r2, -1;": {unit: ALU, slots: 1, latency: 67, hold: 8},
		"div.u32 %r1, %r2, %r3;": {unit: ALU, slots: 20, latency: 140, pure: true}, "rem.u64 %rd1, %rd2, %rd3;": {unit: ALU, slots: 70, latency: 450, pure: true},
		"div.u32 %r1, %r2, 7;": {unit: ALU, slots: 3, latency: 15, pure: true}, "div.u32 %r1, %r2, 8;": {unit: ALU, slots: 1, latency: 6, pure: true}, "rem.u32 %r1, %r2, 1;": {unit: ALU, slots: 1, latency: 6, pure: true},
		"div.s32 %r1, %r2, -8;": {unit: ALU, slots: 3, latency: 15, pure: true},
		// Floats.
		"add.rn.f32 %f1, %f2, %f3;": arithmetic(Float, 1), "max.f32 %f1, %f2, %f3;": arithmetic(ALU, 1), "neg.f32 %f1, %f2;": arithmetic(Float, 0), "abs.f32 %f1, %f2;": arithmetic(Float, 0),
		"add.rn.f16x2 %r1, %r2, %r3;": arithmetic(Half, 1), "max.f16x2 %r1, %r2, %r3;": arithmetic(Half, 1), "add.rn.f64 %d1, %d2, %d3;": arithmetic(Double, 1), "min.f64 %d1, %d2, %d3;": arithmetic(ALU, 1),
		"div.rn.f64 %d1, %d2, %d3;": {unit: Double, slots: 9, latency: 60, pure: true},
		// Special functions: 20 cycles, which hold the pipe for 8.
		"ex2.approx.ftz.f32 %f1, %f2;": exp(1, 20, 8), "ex2.approx.f32 %f1, %f2;": exp(4, 20+3*4, 8), "tanh.approx.f32 %f1, %f2;": exp(1, 20, 8), "ex2.approx.f16x2 %r1, %r2;": exp(2, 20, 16),
		"ex2.approx.ftz.bf16x2 %r1, %r2;": exp(2, 20, 16), "ex2.approx.f16 %h1, %h2;": exp(1, 20, 8), "sin.approx.f32 %f1, %f2;": exp(1, 20, 8), "cos.approx.f32 %f1, %f2;": exp(1, 20, 8),
		"sqrt.approx.ftz.f32 %f1, %f2;": exp(2, 20+4, 8), "sqrt.rn.f32 %f1, %f2;": exp(9, 20+8*4, 8), "rcp.rz.f32 %f1, %f2;": exp(9, 20+8*4, 8), "rcp.rm.f32 %f1, %f2;": exp(9, 20+8*4, 8),
		"rcp.rp.f32 %f1, %f2;": exp(9, 20+8*4, 8), "rcp.approx.ftz.f32 %f1, %f2;": exp(1, 20, 8), "div.approx.f32 %f1, %f2, %f3;": exp(2, 20+4, 8),
		// Conversions.
		"cvt.rn.f16.f32 %h1, %f1;": arithmetic(Pack, 1), "cvt.rn.bf16.f32 %h1, %f1;": arithmetic(Pack, 1), "cvt.rn.f32.u32 %f1, %r1;": arithmetic(Convert, 1), "cvt.rzi.s32.f32 %r1, %f1;": arithmetic(Convert, 1),
		"cvt.u64.u32 %rd1, %r1;": arithmetic(ALU, 0), "cvt.u32.u64 %r1, %rd1;": arithmetic(ALU, 0), "cvt.s64.s32 %rd1, %r1;": arithmetic(ALU, 1), "cvt.u32.u16 %r1, %h1;": arithmetic(ALU, 1),
		"cvt.f64.f32 %d1, %f1;": {unit: Double, slots: 1, latency: 20, pure: true}, "cvt.rn.f32.f64 %f1, %d1;": {unit: Double, slots: 1, latency: 20, pure: true},
		// Memory.
		"ld.global.u32 %r1, [%rd1];": {unit: Memory, slots: 1, kind: loads}, "ld.global.cg.u32 %r1, [%rd1];": {unit: Memory, slots: 1, kind: loads, pastL1: true},
		"ld.global.cv.u32 %r1, [%rd1];": {unit: Memory, slots: 1, kind: loads, pastL1: true}, "ld.const.u32 %r1, [%rd1];": {unit: Memory, slots: 1, kind: loads, latency: 71},
		"st.global.u32 [%rd1], %r1;": {unit: Memory, slots: 1, kind: stores}, "red.global.add.u32 [%rd1], %r1;": {unit: Memory, slots: 1, kind: stores},
		"atom.global.add.u32 %r1, [%rd1], %r2;": {unit: Memory, slots: 1, kind: atomics}, "atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], %r2;": {unit: Memory, slots: 1, kind: atomics, visible: true, fresh: true},
		"red.release.sys.global.add.u32 [%rd1], %r1;": {unit: Memory, slots: 1, kind: stores, visible: true}, "ld.acquire.gpu.global.u32 %r1, [%rd1];": {unit: Memory, slots: 1, kind: loads, fresh: true}, "atom.acq_rel.cta.global.add.u32 %r1, [%rd1], %r2;": {unit: Memory, slots: 1, kind: atomics},
		"membar.cta;": {unit: Memory, slots: 1, kind: fences, latency: 43}, "membar.gl;": {unit: Memory, slots: 1, kind: fences, latency: 47, visible: true},
		"membar.sys;": {unit: Memory, slots: 1, kind: fences, latency: 47, visible: true}, "fence.acq_rel.gpu;": {unit: Memory, slots: 1, kind: fences, latency: 47, visible: true}, "fence.acq_rel.cta;": {unit: Memory, slots: 1, kind: fences, latency: 43},
		// Copies.
		"cp.async.ca.shared.global [%r1], [%rd1], 16;": {unit: Memory, slots: 1, kind: copies}, "cp.async.cg.shared.global [%r1], [%rd1], 16;": {unit: Memory, slots: 1, kind: copies, pastL1: true},
		"cp.async.commit_group;": {unit: Memory, slots: 1, kind: copyCommit}, "cp.async.wait_group 1;": {unit: Memory, slots: 1, kind: copyWait},
		"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r2];": {unit: Copy, slots: 3, kind: bulk},
		"cp.async.bulk.commit_group;": {unit: Copy, slots: 1, kind: bulkCommit}, "cp.async.bulk.wait_group 0;": {unit: Copy, slots: 1, kind: bulkWait},
		// Barriers.
		"bar.sync 0;": {unit: Sync, slots: 1, kind: barriers, latency: 31}, "bar.warp.sync -1;": {slots: 1, kind: fences, latency: 1},
		"mbarrier.arrive.shared.b64 _, [%r1];":                 {unit: Sync, slots: 1, kind: barriers, latency: 31},
		"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;": {unit: Sync, slots: 1, kind: barriers, latency: 37, polls: true},
		"barrier.cluster.arrive;":                              {unit: Sync, slots: 1, kind: barriers, latency: 41}, "barrier.cluster.arrive.relaxed;": {unit: Sync, slots: 1, kind: barriers},
		"barrier.cluster.wait;": {unit: Sync, slots: 1, kind: barriers, latency: 31},
		// Products of warpgroups, and the rest.
		"wgmma.commit_group.sync.aligned;": {unit: WGMMA, kind: productCommit}, "wgmma.wait_group.sync.aligned 0;": {unit: WGMMA, slots: 1, kind: productWait},
		"wgmma.fence.sync.aligned;":               {unit: WGMMA, slots: 1, kind: fences, latency: 1},
		"shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;": {unit: Shuffle, slots: 1}, "match.any.sync.b32 %r1, %r2, -1;": {unit: Shuffle, slots: 1, latency: 46},
		"setmaxnreg.dec.sync.aligned.u32 40;": {slots: 1, kind: stops, latency: 53}, "nanosleep.u32 20;": {slots: 1, kind: stops, latency: 500},
		"activemask.b32 %r1;": {slots: 1, latency: 61},
	} {
		if got := costOf(instruction(t, text), known(), ptx.SM90a); got != want {
			t.Errorf("%s\n\t%+v, want\n\t%+v", text, got, want)
		}
	}
}

// TestProducts computes the time of products of a warp by their operations: the rate of a sub-core is a quarter
// of the SM's, of which mma.sync gets the half.
func TestProducts(t *testing.T) {
	const regs = " {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r1, %r2, %r3, %r4};"
	const small = " {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r9}, {%r1, %r2, %r3, %r4};"
	for _, c := range []struct {
		text          string
		target        ptx.Target
		slots         int
		latency, hold float64
	}{
		// 2·16·8·16 operations at 1024·0.5/4 = 128 per cycle are 32 cycles, which is not longer than the latency.
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + regs, ptx.SM90a, 1, 32, 32},
		// Half of them.
		{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32" + small, ptx.SM90a, 1, 32, 16},
		// Factors of 32 bits have half the rate: 2·16·8·8/64 is 32.
		{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" + regs, ptx.SM90a, 1, 32, 32},
		// Factors of 8 bits have twice the rate.
		{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" + regs, ptx.SM90a, 1, 32, 32},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32" + regs, ptx.SM89, 1, 32, 32},
		// Hopper computes them in f16: 64 cycles, which take longer than the latency, and 12 conversions.
		{"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32" + regs, ptx.SM90a, 14, 32 + 2*7 + 64/2, 64},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32" + regs, ptx.SM90, 14, 32 + 2*7 + 64/2, 64},
	} {
		want := cost{unit: Tensor, slots: c.slots, latency: c.latency, hold: c.hold, pure: true}
		if got := costOf(instruction(t, c.text), known(), c.target); got != want {
			t.Errorf("%s on %s\n\t%+v, want\n\t%+v", c.text, c.target, got, want)
		}
	}
	// Where products are fast, the conversions hold the pipe: 12 of 3 cycles each.
	fast := known()
	fast.tensorF16 = 1 << 20
	if got := costOf(instruction(t, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"+regs), fast, ptx.SM90); got.hold != 36 {
		t.Errorf("conversions hold the pipe for %v cycles, want 36", got.hold)
	}
}

// TestRates wants each rate to come from its number, and those in nanoseconds to depend on the clock.
func TestRates(t *testing.T) {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]chips.Number{}
	for name := range chip.Numbers {
		numbers[name] = chips.Number{Value: float64(len(numbers) + 8)} // each value once
	}
	chip.Numbers = numbers
	n := chip.Get
	r := ratesOf(&chip, 2500)
	for u, name := range map[Unit]string{Float: "float", IMad: "imad", Half: "half", Double: "double", ALU: "alu", Pack: "cvt", Exp: "mufu", Convert: "convert", Shuffle: "shuffle", Branch: "branch"} {
		if r.latency[u] != n(name+"_latency") || r.interval[u] != n(name+"_interval") {
			t.Errorf("%s: %v and %v, want %v and %v", name, r.latency[u], r.interval[u], n(name+"_latency"), n(name+"_interval"))
		}
	}
	for name, got := range map[string]float64{
		"uniform_latency": r.latency[Uniform], "mma_latency": r.latency[Tensor], "wgmma_issue": r.interval[WGMMA], "tensor_f16": r.tensorF16, "tensor_fp8": r.tensorFP8, "mma_sync_share": r.mmaShare,
		"shared_latency": r.shared, "wavefront_interval": r.wavefront, "wavefront_latency": r.wavefrontLatency, "memory_sm_interval": r.memorySM, "memory_queue": r.memoryQueue, "l1_latency": r.l1,
		"l2_ns": r.l2, "dram_ns": r.dram, "l2_bytes": r.l2Bytes, "tma_ns": r.tma, "tma_issue": r.tmaIssue, "tma_engine": r.tmaEngine, "tensor_map_ns": r.tensorMap,
		"bulk_bytes": r.bulkBytes, "mbarrier_arrive": r.arrive, "mbarrier_try": r.try, "mbarrier_wake": r.wake, "barrier_latency": r.barrier, "barrier_warp_interval": r.barrierWarp,
		"cluster_latency": r.cluster, "cluster_release": r.clusterRelease, "cluster_start": r.clusterStart, "dsmem_latency": r.dsmem, "dsmem_bytes": r.dsmemBytes, "wgmma_latency": r.wgmma,
		"fence_latency": r.fence, "fence_gpu_latency": r.fenceGPU, "setmaxnreg_latency": r.setmaxnreg, "wgmma_ports": r.wgmmaPorts, "param_ns": r.param, "special_latency": r.special,
		"vote_latency": r.vote, "redux_latency": r.redux, "const_latency": r.constant, "atomic_ns": r.atomic, "block_start": r.blockStart, "block_interval": r.blockInterval,
		"fetch_line": r.fetchLine, "fetch_next": r.fetchNext, "fetch_miss": r.fetchMiss,
	} {
		want := n(name)
		if strings.HasSuffix(name, "_ns") {
			want *= 2.5 // cycles per nanosecond
		}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, u := range []Unit{Memory, Sync, Copy} {
		if r.interval[u] != n("memory_issue_interval") {
			t.Errorf("the interval of %v is %v", u, r.interval[u])
		}
	}
	if want := int(n("loop_instructions")) / 8; r.nearLines != want {
		t.Errorf("%d lines of code, want %d", r.nearLines, want)
	}
}
