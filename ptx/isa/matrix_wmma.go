package isa

import (
	"slices"
	"strconv"
	"strings"
)

// wmma lists the older instructions that multiply fragments. PTX does not specify the layout
// of their fragments in registers.
var wmma = &Family{
	Name: "wmma",
	Doc:  "matrix products of a warp on fragments of unspecified layout",
	Forms: slices.Concat(
		inst("r = the warp's fragment of the matrix at p", fragmentLoads()...),
		inst("stores the warp's fragment of the matrix at p", fragmentStores()...),
		inst("d = a · b + c", slices.Concat(wmmaFloat(), wmmaInteger())...),
	),
}

// fragment describes the matrices that a form of wmma.load loads.
type fragment struct {
	matrices string // which of a, b and c
	shapes   string
	layouts  string
	typ      string // the type of the elements
	reg      string // the type of the registers
	count    int
	needs    option
}

var fragments = []fragment{
	{"a b", halfShapes, "row col", "f16", "f16x2", 8, nil},
	{"c", halfShapes, "row col", "f16", "f16x2", 4, nil},
	{"c", halfShapes, "row col", "f32", "f32", 8, nil},
	{"a b", "m16n16k16", "row col", "bf16", "bf16x2", 4, ampere},
	{"a", "m8n32k16", "row col", "bf16", "bf16x2", 2, ampere},
	{"b", "m8n32k16", "row col", "bf16", "bf16x2", 8, ampere},
	{"a", "m32n8k16", "row col", "bf16", "bf16x2", 8, ampere},
	{"b", "m32n8k16", "row col", "bf16", "bf16x2", 2, ampere},
	{"a b", "m16n16k8", "row col", "tf32", "b32", 4, ampere},
	{"c", "m16n16k8", "row col", "f32", "f32", 8, ampere},
	{"a b", "m8n8k4", "row col", "f64", "f64", 1, ampere},
	{"c", "m8n8k4", "row col", "f64", "f64", 2, ampere},
	{"a b", "m16n16k16", "row col", "s8 u8", "b32", 2, turing},
	{"a", "m8n32k16", "row col", "s8 u8", "b32", 1, turing},
	{"b", "m8n32k16", "row col", "s8 u8", "b32", 4, turing},
	{"a", "m32n8k16", "row col", "s8 u8", "b32", 4, turing},
	{"b", "m32n8k16", "row col", "s8 u8", "b32", 1, turing},
	{"c", halfShapes, "row col", "s32", "s32", 8, turing},
	{"a", "m8n8k32", "row", "s4 u4", "b32", 1, subByte},
	{"b", "m8n8k32", "col", "s4 u4", "b32", 1, subByte},
	{"a", "m8n8k128", "row", "b1", "b32", 1, subByte},
	{"b", "m8n8k128", "col", "b1", "b32", 1, subByte},
	{"c", "m8n8k32 m8n8k128", "row col", "s32", "s32", 2, subByte},
}

const halfShapes = "m16n16k16 m8n32k16 m32n8k16"

var (
	turing  = options(sm(72), isa(63))
	subByte = options(sm(75), isa(63))
	ampere  = options(sm(80), isa(70))
)

func (f *fragment) options() option {
	opts := []option{sm(70), isa(63), set("ss", "global shared shared::cta"), set("matrix", f.matrices),
		set("layout", f.layouts), set("shape", f.shapes), set("type", f.typ)}
	if f.needs != nil {
		opts = append(opts, f.needs)
	}
	return options(opts...)
}

func (f *fragment) registers() string { return "r:" + f.reg + "[" + strconv.Itoa(f.count) + "]" }

func fragmentLoads() (fs []*Form) {
	for i := range fragments {
		f := &fragments[i]
		fs = append(fs, form("wmma.load.matrix.sync.aligned.layout.shape{.ss}.type ="+f.registers()+", [p]{, stride:u32}", f.options()))
	}
	return fs
}

func fragmentStores() (fs []*Form) {
	for i := range fragments {
		if f := &fragments[i]; f.matrices == "c" {
			fs = append(fs, form("wmma.store.d.sync.aligned.layout.shape{.ss}.type [p], "+f.registers()+"{, stride:u32}", f.options()))
		}
	}
	return fs
}

// wmmaFloat returns the products of floating-point fragments.
func wmmaFloat() []*Form {
	layouts := options(set("alayout", "row col"), set("blayout", "row col"), set("shape", halfShapes))
	half := options(layouts, sm(70), isa(63))
	const factors = ", a:f16x2[8], b:f16x2[8], "
	fs := []*Form{
		form("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f16 =d:f16x2[4]"+factors+"c:f16x2[4]", half),
		form("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f32 =d:f16x2[4]"+factors+"c:f32[8]", half),
		form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f16 =d:f32[8]"+factors+"c:f16x2[4]", half),
		form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f32 =d:f32[8]"+factors+"c:f32[8]", half),
		form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.tf32.tf32.f32 =d:f32[8], a:b32[4], b:b32[4], c:f32[8]", layouts, set("shape", "m16n16k8"), ampere),
		form("wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.f64.f64.f64.f64 =d:f64[2], a:f64[1], b:f64[1], c:f64[2]", layouts, set("shape", "m8n8k4"), ampere),
	}
	for _, s := range []struct{ shape, a, b string }{{"m16n16k16", "4", "4"}, {"m8n32k16", "2", "8"}, {"m32n8k16", "8", "2"}} {
		fs = append(fs, form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32 =d:f32[8], a:bf16x2["+s.a+"], b:bf16x2["+s.b+"], c:f32[8]",
			layouts, set("shape", s.shape), ampere))
	}
	return fs
}

// wmmaInteger returns the products of integer fragments. Both factors are signed, or both are
// unsigned.
func wmmaInteger() []*Form {
	layouts := options(set("alayout", "row col"), set("blayout", "row col"))
	var fs []*Form
	for _, s := range []struct{ shape, a, b string }{{"m16n16k16", "2", "2"}, {"m8n32k16", "1", "4"}, {"m32n8k16", "4", "1"}} {
		fs = append(fs, form("wmma.mma.sync.aligned.alayout.blayout.shape.s32.atype.btype.s32{.satfinite} =d:s32[8], a:b32["+s.a+"], b:b32["+s.b+"], c:s32[8]",
			layouts, set("shape", s.shape), sameSign("s8 u8"), turing))
	}
	return append(fs,
		form("wmma.mma.sync.aligned.row.col.m8n8k32.s32.atype.btype.s32{.satfinite} =d:s32[2], a:b32[1], b:b32[1], c:s32[2]", sameSign("s4 u4"), subByte),
		form("wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 =d:s32[2], a:b32[1], b:b32[1], c:s32[2]",
			set("op", "xor and"), subByte, need("and", 80, 71)))
}

func sameSign(types string) option {
	opts := []option{set("atype", types), set("btype", types)}
	for t := range strings.FieldsSeq(types) {
		opts = append(opts, when("atype="+t, "btype="+t))
	}
	return options(opts...)
}
