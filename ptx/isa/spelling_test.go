package isa_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestSpellings checks that Lookup finds opcodes as compilers and libraries write them, and
// checks their needs. Their modifiers are not always in the order of the manual.
func TestSpellings(t *testing.T) {
	for _, c := range []struct{ op, version, target string }{
		{"mov.b128", "8.3", "sm_70"},
		{"ld.param.u64", "0.0", "sm_0"},
		{"ld.param::entry.b32", "8.3", "sm_0"},
		{"ld.const.v4.f32", "0.0", "sm_0"},
		{"ld.global.nc.v4.u32", "4.0", "sm_32"},
		{"ld.global.nc.L1::no_allocate.L2::128B.v4.s32", "7.4", "sm_75"},
		{"ld.global.L1::evict_last.L2::cache_hint.v4.b32", "7.4", "sm_80"},
		{"ld.global.acquire.gpu.u32", "6.0", "sm_70"},
		{"ld.relaxed.cluster.global.b32", "7.8", "sm_90"},
		{"ld.acquire.gpu.global.b128", "8.3", "sm_70"},
		{"ld.acquire.sys.global.b128", "8.4", "sm_70"},
		{"ld.global.mmio.relaxed.sys.u32", "8.2", "sm_70"},
		{"ld.shared::cluster.f32", "7.8", "sm_90"},
		{"st.shared.v4.b32", "0.0", "sm_0"},
		{"st.global.release.sys.u64", "6.0", "sm_70"},
		{"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32", "8.1", "sm_90"},
		{"prefetch.tensormap", "8.0", "sm_90"},
		{"createpolicy.fractional.L2::evict_first.b64", "7.4", "sm_80"},
		{"atom.global.add.u32", "0.0", "sm_0"},
		{"atom.global.gpu.acq_rel.add.noftz.f16", "6.3", "sm_70"},
		{"atom.shared.cas.b16", "6.3", "sm_70"},
		{"atom.sys.global.exch.b128", "8.4", "sm_90"},
		{"atom.add.f64", "5.0", "sm_60"},
		{"red.global.add.noftz.bf16x2", "7.8", "sm_90"},
		{"red.global.v4.f32.add", "8.1", "sm_90"},
		{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64", "8.1", "sm_90"},
		{"barrier.cta.sync.aligned", "7.8", "sm_30"},
		{"barrier.cluster.arrive.aligned", "7.8", "sm_90"},
		{"barrier.cluster.arrive.relaxed.aligned", "8.0", "sm_90"},
		{"fence.acq_rel.gpu", "6.0", "sm_70"},
		{"fence.sc.cluster", "7.8", "sm_90"},
		{"fence.acquire.cluster", "8.6", "sm_90"},
		{"fence.proxy.async.shared::cta", "8.0", "sm_90"},
		{"fence.proxy.tensormap::generic.release.gpu", "8.3", "sm_90"},
		{"vote.ballot.sync.b32", "6.0", "sm_30"},
		{"setmaxnreg.inc.sync.aligned.u32", "8.0", "sm_90a"},
		{"mbarrier.init.shared::cta.b64", "7.8", "sm_80"},
		{"mbarrier.try_wait.parity.shared::cta.b64", "7.8", "sm_90"},
		{"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", "8.0", "sm_90"},
		{"mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64", "8.6", "sm_90"},
		{"mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "8.0", "sm_90"},
		{"cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint", "8.0", "sm_90"},
		{"cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group", "8.0", "sm_90"},
		{"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", "8.6", "sm_90"},
		{"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group", "8.0", "sm_90"},
		{"tensormap.replace.tile.global_dim.shared::cta.b1024.b32", "8.3", "sm_90a"},
		{"ldmatrix.sync.aligned.x4.m8n8.trans.shared.b16", "6.5", "sm_75"},
		{"stmatrix.sync.aligned.m8n8.x4.shared.b16", "7.8", "sm_90"},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "8.4", "sm_89"},
		{"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", "8.7", "sm_89"},
		{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite", "7.0", "sm_80"},
		{"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rn", "7.8", "sm_90"},
		{"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "6.3", "sm_70"},
		{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", "7.0", "sm_80"},
		{"wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "7.1", "sm_80"},
	} {
		ms := isa.Lookup(ptx.NewOpcode(c.op))
		if len(ms) == 0 {
			t.Errorf("%s is not in the table", c.op)
			continue
		}
		if n := ms[0].Needs(); n.Version.String() != c.version || n.Target.String() != c.target {
			t.Errorf("%s needs PTX %s %s, want %s %s", c.op, n.Version, n.Target, c.version, c.target)
		}
	}
}

// TestRefusals checks that Lookup refuses opcodes that differ from a legal one in one modifier.
// ptxas refuses them too.
func TestRefusals(t *testing.T) {
	for op := range strings.FieldsSeq(`
		mov.f16 mov.b8 mov.f16x2
		ld.volatile.local.b32 ld.volatile.param.b32 ld.relaxed.global.b32 ld.relaxed.gpu.const.b32
		ld.global.f16 ld.shared.nc.b32 ld.nc.b32 ld.global.nc.lu.b32 ld.shared.v4.b64 ld.global.v2.b128
		ld.shared.L1::evict_last.b32 ld.global.L1::evict_last.ca.b32 ld.shared.L2::cache_hint.b32
		st.const.b32 st.volatile.param.b32 st.param::entry.b32 ldu.const.b32
		cvta.to.global.b64 prefetch.shared.L1 prefetch.global.tensormap
		atom.global.add.s64 atom.global.add.f16 atom.global.exch.u32 atom.global.cas.u32 atom.global.inc.u64
		atom.global.min.f32 atom.shared.exch.L2::cache_hint.b32 atom.global.min.noftz.f16
		red.acquire.gpu.global.add.u32 red.global.add.s64
		bar.sync.aligned membar.gpu membar.proxy.async fence.sc fence.proxy.async.shared
		redux.sync.add.b32 barrier.cluster.wait.relaxed
		cp.async.shared.global cp.async.mbarrier.arrive.shared::cluster.b64
		mbarrier.arrive.release.shared.b64 mbarrier.arrive.cta.shared.b64 mbarrier.test_wait.shared::cluster.b64
		tensormap.replace.tile.rank.shared.b1024.b32
		ldmatrix.sync.aligned.m8n8.x4.shared::cluster.b16 ldmatrix.sync.aligned.m8n8.x3.shared.b16
		mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16
		mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16
		wmma.mma.sync.row.col.m16n16k16.f32.f32 wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32
		wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc
		wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 mapa.shared::cta.u32
		mov.v8.b32 ld.global.v8.u8 ld.global.v8.b64 ld.shared.v8.b32 st.global.v8.u16
	`) {
		if ms := isa.Lookup(ptx.NewOpcode(op)); len(ms) > 0 {
			t.Errorf("%s is found as %q, want no form", op, ms[0].Form.Syntax)
		}
	}
}

// TestOperandsChoose checks opcodes that have several forms, among which the operands decide.
func TestOperandsChoose(t *testing.T) {
	reg := func(typ ptx.Type) ptx.Operand {
		return ptx.RegOp(&ptx.Symbol{Name: "%" + typ.String(), Kind: ptx.RegSymbol, Type: typ})
	}
	r, d, p := reg(ptx.B32), reg(ptx.B64), reg(ptx.Pred)
	name := ptx.SymOp(&ptx.Symbol{Name: "f", Kind: ptx.FuncSymbol})
	list := ptx.Operand{Kind: ptx.ListOperand}
	sink := ptx.Operand{Kind: ptx.SinkOperand}
	at := ptx.AddrOp(d.Sym, 0)
	one, four := ptx.ImmOp(1), ptx.VecOp(r, r, r, r)
	acc := ptx.VecOp(reg(ptx.F32), reg(ptx.F32), reg(ptx.F32), reg(ptx.F32))
	for _, c := range []struct {
		op   string
		args []ptx.Operand
		last string // the parameter of the last operand, or "" if no form fits
	}{
		{"cp.async.ca.shared.global", []ptx.Operand{at, at, ptx.ImmOp(4), r}, "srcSize"},
		{"cp.async.ca.shared.global", []ptx.Operand{at, at, ptx.ImmOp(4), p}, "ignoreSrc"},
		{"cp.async.cg.shared.global", []ptx.Operand{at, at, ptx.ImmOp(4)}, ""},
		{"mbarrier.arrive.shared::cluster.b64", []ptx.Operand{sink, at}, "addr"},
		{"mbarrier.arrive.shared::cluster.b64", []ptx.Operand{d, at}, ""},
		{"mbarrier.arrive.shared.b64", []ptx.Operand{d, at}, "addr"},
		{"mbarrier.arrive.shared.b64", []ptx.Operand{d, at, r}, "count"},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", []ptx.Operand{acc, d, d, p, one, one, one, one}, "immTransB"},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", []ptx.Operand{acc, four, d, p, one, one, one}, "immTransB"},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", []ptx.Operand{acc, four, d, p, one, one, one, one}, ""},
		{"wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16", []ptx.Operand{acc, four, d, p, one, one, one}, ""},
		{"call.uni", []ptx.Operand{name}, "func"},
		{"call.uni", []ptx.Operand{list, name}, "func"},
		{"call.uni", []ptx.Operand{list, name, list}, "params"},
		{"call", []ptx.Operand{list, d, list, name}, "fproto"},
		{"elect.sync", []ptx.Operand{r, one}, ""},
		{"tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32", []ptx.Operand{at, ptx.ImmOp(3)}, "newVal"},
		{"tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32", []ptx.Operand{at, ptx.ImmOp(5)}, ""},
		{"setmaxnreg.dec.sync.aligned.u32", []ptx.Operand{ptx.ImmOp(25)}, ""},
	} {
		in := &ptx.Inst{Op: ptx.NewOpcode(c.op), Args: c.args}
		if last := lastOperand(in); last != c.last {
			t.Errorf("%s: the last operand is %q, want %q", in, last, c.last)
		}
	}
}

// lastOperand returns the name of the parameter to which the last operand belongs.
func lastOperand(in *ptx.Inst) string {
	m, err := isa.Resolve(in)
	if err != nil {
		return ""
	}
	at, err := m.Bind(in.Args)
	if err != nil {
		return ""
	}
	return m.Form.Params[slices.Index(at, len(in.Args)-1)].Name
}
