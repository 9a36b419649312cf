package parse_test

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// operand parses one operand of an unknown instruction.
func operand(t *testing.T, text string) ptx.Operand {
	t.Helper()
	f := kernel(t, ".reg .v4 .b32 v; .shared .u32 s[4]; op _, "+text+";")
	args := insts(f)["op"].Args
	if len(args) != 2 {
		t.Fatalf("%s: %d operands", text, len(args))
	}
	return args[1]
}

func TestConstants(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "42": 42, "-1": -1, "017": 15, "0x1F": 31, "0X1f": 31, "0b101": 5, "0B11": 3,
		"0xFFFFFFFFFFFFFFFF": -1, "-9223372036854775808": math.MinInt64, "9223372036854775807": math.MaxInt64,
		"1+2*3": 7, "(1+2)*3": 9, "10-4-3": 3, "100/7/2": 7, "17%5": 2, "-7/2": -3, "-7%2": -1,
		"1<<4|1": 17, "6&3^1": 3, "1|6&2": 3, "0xF0>>4": 15, "-16>>2": -4, "-16U>>60": 15, "1<<64": 0,
		"1<2": 1, "2<=1": 0, "3>2": 1, "2>=3": 0, "1==1": 1, "1!=1": 0, "-1<1U": 0, "(.u64)-1>(.u64)1": 1,
		"1&&0": 0, "2||0": 1, "!0": 1, "!5": 0, "~0": -1, "- -5": 5, "+5": 5, "!!7": 1,
		"1?2:3": 2, "0?2:3": 3, "0?1:0?2:3": 3, "1 ? 2 : 3 + 4": 2, "(0?1:2)+4": 6,
		"(s64)5": 5, "(.s64)0xFFFFFFFFFFFFFFFF/2": 0, "(u64)-1/2": math.MaxInt64, "WARP_SZ*2": 64, "-WARP_SZ": -32, "1+WARP_SZ": 33,
		"1<<2+1": 8, "1<2==1": 1, "5&1==1": 1,
	} {
		if o := operand(t, text); o.Kind != ptx.ImmOperand || o.Val != want {
			t.Errorf("%s = %d (kind %d), want %d", text, o.Val, o.Kind, want)
		}
	}
	for text, want := range map[string]float64{
		"1.0": 1, "1.": 1, ".5": 0.5, "-2.5e3": -2500, "1e2": 100, "1E-1": 0.1, "0.0": 0, "1.5*2.0-0.5/2.0": 2.75,
		"0d3FF8000000000000": 1.5, "-0d3FF8000000000000": -1.5, "(1.5)": 1.5, "1?1.5:2.5": 1.5, "1e999": math.Inf(1),
	} {
		o := operand(t, text)
		if got := math.Float64frombits(uint64(o.Val)); o.Kind != ptx.F64Operand || got != want {
			t.Errorf("%s = %v (kind %d), want %v", text, got, o.Kind, want)
		}
	}
	for text, want := range map[string]int64{"0f3F800000": 0x3F800000, "0F7fc00001": 0x7FC00001, "0fFFFFFFFF": 0xFFFFFFFF} {
		if o := operand(t, text); o.Kind != ptx.F32Operand || o.Val != want {
			t.Errorf("%s = %x (kind %d), want %x", text, o.Val, o.Kind, want)
		}
	}
}

// TestOperands checks the printed form of every kind of operand.
func TestOperands(t *testing.T) {
	for text, want := range map[string]string{
		"%r1": "%r1", "%r1+5": "%r1+5", "%r1 + -1": "%r1+-1", "%r1+0": "%r1+0", "! %p1": "!%p1", "- %r1": "-%r1", "-%tid.x": "-%tid.x", "0d7FF4000000000001": "0d7FF4000000000001", "v.x": "v.x", "v.a": "v.w", "v.g": "v.y", "_": "_",
		"%r1.b0": "%r1.b0", "-%r1.h1": "-%r1.h1", "%r1.b3210": "%r1.b3210",
		"%p1|%p2": "%p1|%p2", "_|%p1": "_|%p1", "%r1 | _": "%r1|_", "%p1|!%p2": "%p1|!%p2",
		"{%r1,_ , 5}": "{%r1, _, 5}", "{%r1}": "{%r1}", "{{1,2},{3}}": "{{1, 2}, {3}}",
		"[%rd1]": "[%rd1]", "[ %rd1 + 0 ]": "[%rd1+0]", "[%rd1+-8]": "[%rd1+-8]", "[%rd1+8-16]": "[%rd1+-8]", "[%rd1+0x10]": "[%rd1+16]",
		"[s+4*2]": "[s+8]", "[64]": "[64]", "[0x40]": "[0x40]", "[v.x+4]": "[v.x+4]", "[WARP_SZ]": "[32]",
		"[%rd1, {%r1, %r2}]": "[%rd1, {%r1, %r2}]", "[s, %rd1, {%r1}]": "[s, %rd1, {%r1}]", "[s].unified": "[s].unified",
		"s": "s", "s+4": "s+4", "s+-4": "s+-4", "s+0": "s+0", "s[2]": "s[2]", "s[%r1]": "s[%r1]", "s[%r1+2]": "s[%r1+2]", "s[1+1]": "s[2]",
		"%tid.x": "%tid.x", "%clock64": "%clock64", "WARP_SZ": "WARP_SZ", "(WARP_SZ)": "32",
		"0xFf": "0xff", "5U": "5U", "0xFU": "0xfU", "-5": "-5", "-0x5": "-5", "0xFFFFFFFFFFFFFFFF": "0xffffffffffffffffU",
		"0f3f800000": "0f3F800000", "1.0": "0d3FF0000000000000",
		"undeclared": "undeclared", "undeclared+8": "undeclared+8", "undeclared.x": "undeclared.x", "!undeclared": "!undeclared",
		"generic(s)": "generic(s)", "generic(s)+4": "generic(s)+4", "generic": "generic",
	} {
		if got := operand(t, text).String(); got != want {
			t.Errorf("%s prints as %s, want %s", text, got, want)
		}
	}
}

func TestOpcodes(t *testing.T) {
	f := kernel(t, "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1, %r2}], [%r3];\nadd .s32\n.sat %r1, %r2, %r3;\nadd.s32.sat %r1, %r2, %r3;\nbra L; L: ret;")
	in := insts(f)
	if op := in["cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"]; op == nil || op.Op.Name != "cp" || op.Op.Mods[4] != "shared::cluster" {
		t.Error("cp.async.bulk.tensor is not split at its dots")
	}
	var ops []*ptx.Opcode
	for _, s := range f.Body {
		if in, ok := s.(*ptx.Inst); ok && in.Op.Name == "add" {
			ops = append(ops, in.Op)
		}
	}
	if len(ops) != 2 || ops[0] != ops[1] {
		t.Errorf("opcodes spelled alike are not shared: %v", ops)
	}
	if in["bra"] == nil || len(in["bra"].Args) != 1 {
		t.Error("bra and its label are not separated")
	}
	if in["ret"] == nil || len(in["ret"].Args) != 0 {
		t.Error("ret has operands")
	}
}

func TestPositions(t *testing.T) {
	f := kernel(t, "\t@%p1  add.s32 %r1,\n  %r2, [ s ];\nL: ret;")
	in := insts(f)["add.s32"]
	for _, c := range []struct{ got, want ptx.Pos }{
		{f.Pos, ptx.Pos{Line: 4, Col: 1}}, {f.Sym.Pos, ptx.Pos{Line: 4, Col: 17}},
		{in.Pos, ptx.Pos{Line: 6, Col: 2}}, {in.Args[0].Pos, ptx.Pos{Line: 6, Col: 16}},
		{in.Args[1].Pos, ptx.Pos{Line: 7, Col: 3}}, {in.Args[2].Pos, ptx.Pos{Line: 7, Col: 8}},
		{labels(f)[0].Pos, ptx.Pos{Line: 8, Col: 1}}, {insts(f)["ret"].Pos, ptx.Pos{Line: 8, Col: 4}},
		{in.Args[0].Sym.Pos, ptx.Pos{Line: 5, Col: 11}},
	} {
		if c.got != c.want {
			t.Errorf("position %v, want %v", c.got, c.want)
		}
	}
}
