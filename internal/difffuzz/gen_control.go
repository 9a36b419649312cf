package difffuzz

import (
	"fmt"
	"strings"
)

// stack makes a node that allocates memory on the stack, writes and reads it, and frees it.
func (g *gen) stack(scope) *Node {
	if !g.has(52, 73) {
		return nil
	}
	n := node(
		inst("stacksave.u64", "%sp"),
		inst("alloca.u64", "%room", "32", "16"),
		act("st.local.b64", "[%room+8]", g.reg('d')),
		act("st.local.b32", "[%room+16]", g.reg('r')),
		inst("ld.local.b64", g.out('d'), "[%room+8]"),
		inst("ld.local.b32", g.out('r'), "[%room+16]"),
		act("stackrestore.u64", "%sp"))
	return n.with(".reg .b64 %sp, %room;")
}

// callees are bodies of functions with 32-bit arguments a, b and c.
var callees = []string{
	"add.u32 %o, %a, %b; xor.b32 %o, %o, %c;",
	"fma.rn.f32 %o, %a, %b, %c;",
	"mad.lo.s32 %o, %a, %b, %c;",
	"min.s32 %o, %a, %b; max.s32 %o, %o, %c;",
	"{ .reg .pred %z; setp.gt.u32 %z, %a, %b; @%z bra over; sub.u32 %o, %c, %a; bra done; over: mul.lo.u32 %o, %b, %c; done: }",
	"lop3.b32 %o, %a, %b, %c, 0x96; popc.b32 %b, %o; shl.b32 %o, %o, %b;",
	"{ .reg .b32 %n; and.b32 %n, %c, 3; add.u32 %n, %n, 1; mov.b32 %o, %a; again: mad.lo.u32 %o, %o, 31, %b; sub.u32 %n, %n, 1; " +
		".reg .pred %z; setp.ne.u32 %z, %n, 0; @%z bra again; }",
}

// function returns the name and text of a function with three arguments and at most one
// result.
func (g *gen) function() (name, text string) {
	name = fmt.Sprintf("FN%d", g.funcs)
	g.funcs++
	body := callees[g.IntN(len(callees))]
	text = ".func (.param .b32 o) " + name + "(.param .b32 a, .param .align 8 .b8 bc[8])\n{\n\t.reg .b32 %a, %b, %c, %o;\n" +
		"\tld.param.b32 %a, [a];\n\tld.param" + g.pick("", "::func") + ".b32 %b, [bc];\n\tld.param.b32 %c, [bc+4];\n\t" +
		body + "\n\tst.param" + g.pick("", "::func") + ".b32 [o], %o;\n\tret;\n}"
	if !g.has(50, 83) {
		text = strings.ReplaceAll(text, "param::func", "param")
	}
	return name, text
}

// call makes a node that calls a function by name or by address.
func (g *gen) call(s scope) *Node {
	if g.oneIn(4) {
		return g.procedure(s)
	}
	name, text := g.function()
	n := &Node{Funcs: []string{text}}
	n.with(".param .b32 o;", ".param .b32 a;", ".param .align 8 .b8 bc[8];")
	n.Insts = append(n.Insts,
		act("st.param.b32", "[a]", g.reg('r')),
		act("st.param.b32", "[bc]", g.reg('r')),
		act("st.param.b32", "[bc+4]", g.reg('r')))
	if s.block && g.oneIn(3) { // ptxas of CUDA 12.4 crashes on some calls by address inside branches
		n.with(".reg .b64 %fp;")
		n.Insts = append(n.Insts, inst("mov.u64", "%fp", name),
			raw("proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[8]);"),
			act("call", "(o)", "%fp", "(a, bc)", "proto"))
	} else {
		op := "call"
		if s.block && g.oneIn(2) {
			op = "call.uni"
		}
		n.Insts = append(n.Insts, act(op, "(o)", name, "(a, bc)"))
	}
	n.Insts = append(n.Insts, inst("ld.param.b32", g.out('r'), "[o]"))
	return n
}

// procedure makes a node that calls functions without arguments or without results.
func (g *gen) procedure(s scope) *Node {
	name := fmt.Sprintf("FN%d", g.funcs)
	g.funcs++
	kinds := 3
	if s.block {
		kinds = 4
	}
	switch g.IntN(kinds) {
	case 0:
		n := node(act("call", name))
		n.Funcs = []string{".func " + name + "()\n{\n\tret;\n}"}
		return n.with(".reg .b32 %none;")
	case 1:
		n := node(act("call", "(o)", name), inst("ld.param.b32", g.out('r'), "[o]"))
		n.Funcs = []string{".func (.param .b32 o) " + name + "()\n{\n\t.reg .b32 %o;\n\tmov.u32 %o, %laneid;\n\tst.param.b32 [o], %o;\n\tret;\n}"}
		return n.with(".param .b32 o;")
	case 2:
		n := node(act("st.param.b64", "[a]", "%mem"), act("call", name, "(a)"), inst("ld.global.b32", g.out('r'), "[%mem+32]"))
		n.Funcs = []string{addingFunction(name)}
		return n.with(".param .b64 a;")
	}
	if g.oneIn(2) {
		n := node(inst("mov.u64", "%fp", name), raw("proto: .callprototype _ ();"), act("call", "%fp", "proto"))
		n.Funcs = []string{".func " + name + "()\n{\n\tret;\n}"}
		return n.with(".reg .b64 %fp;")
	}
	n := node(act("st.param.b64", "[a]", "%mem"), inst("mov.u64", "%fp", name),
		raw("proto: .callprototype _ (.param .b64 _);"), act("call", "%fp", "(a)", "proto"))
	n.Funcs = []string{addingFunction(name)}
	return n.with(".param .b64 a;", ".reg .b64 %fp;")
}

// addingFunction returns the text of a function that adds to a word of memory.
func addingFunction(name string) string {
	return ".func " + name + "(.param .b64 a)\n{\n\t.reg .b64 %a;\n\t.reg .b32 %o;\n\tld.param.b64 %a, [a];\n" +
		"\tld.global.b32 %o, [%a+32];\n\tadd.u32 %o, %o, 77;\n\tst.global.b32 [%a+32], %o;\n\tret;\n}"
}

// jumpTable makes a node that branches to one of four labels, selected by a register.
func (g *gen) jumpTable(s scope) *Node {
	d := g.out('r')
	n := node(
		inst("and.b32", "%way", g.reg('r'), "3"),
		raw("ways: .branchtargets two, zero, three, one;"),
		act("brx.idx", "%way", "ways"),
		raw("zero:"), inst("add.u32", d, g.reg('r'), g.reg('r')), act("bra", "join"),
		raw("one:"), inst("xor.b32", d, g.reg('r'), g.reg('r')), act("bra", "join"),
		raw("two:"), inst("mul.hi.u32", d, g.reg('r'), g.reg('r')),
		raw("three:"), inst("sub.u32", d, d, g.reg('r')),
		raw("join:"), inst("not.b32", d, d))
	n.Reconverge = s.warp()
	return n.with(".reg .b32 %way;")
}
