package parse_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx/parse"
)

const head = ".version 8.4\n.target sm_90a\n.address_size 64\n"

// inBody returns a kernel with the statements. The first statement is on line 6.
func inBody(stmts string) string {
	return head + ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<9>; .reg .pred %p<3>; .reg .b64 %rd<3>;\n" + stmts + "\n}\n"
}

// errorCases lists texts with all errors that Parse returns for them.
var errorCases = []struct {
	name, src string
	want      []string
}{
	{"empty", "", []string{
		"1:1: expected `.version` at the start of the text, found the end of the text",
		"1:1: expected `.target` after .version, found the end of the text"}},
	{"no version", ".target sm_90\n", []string{"1:1: expected `.version` at the start of the text, found `.target`"}},
	{"no target", ".version 8.0\n.address_size 64\n", []string{"2:1: expected `.target` after .version, found `.address_size`"}},
	{"bad version", ".version eight\n.target sm_90\n", []string{"1:10: expected a version such as `8.4`, found `eight`"}},
	{"version without minor", ".version 8\n.target sm_90\n", []string{"1:10: expected a version such as `8.4`"}},
	{"bad target", ".version 8.0\n.target gfx90a\n", []string{"2:9: target \"gfx90a\" is not an architecture such as sm_89 or sm_90a"}},
	{"bad address size", ".version 8.0\n.target sm_90\n.address_size 48\n", []string{"3:14: address size 48 is neither 32 nor 64"}},
	{"late version", head + ".version 8.4\n", []string{"4:1: .version belongs to the start of the text"}},
	{"nul", head + "// a\x00b", []string{"4:5: NUL byte inside the text"}},
	{"latin1", head + ".file 1 \"caf\xe9.cu\"", []string{"4:13: byte 0xe9 is not UTF-8"}},
	{"utf16", "\xff\xfe.\x00v\x00", []string{"1:4: NUL byte inside the text"}},
	{"not ptx", "#include <cuda.h>\nint main() { return 0; }\n", []string{
		"1:1: expected `.version` at the start of the text, found `#`",
		"1:1: expected `.target` after .version, found `#`",
		"1:1: expected a directive such as `.entry` or `.global`, found `#`"}},
	{"emoji", head + "💥", []string{"4:1: expected a directive such as `.entry` or `.global`, found `💥`"}},
	{"control character", inBody("add\x01 %r1, %r2, %r3;"), []string{"6:4: expected an operand, found the control character 0x01"}},

	{"missing semicolon", inBody("add.s32 %r1, %r2, %r3\nld.global.u32 %r1, [%rd1];"), []string{"7:1: expected `,` or `;` after operand, found `ld.global.u32`"}},
	{"missing semicolons outside", head + ".global .u32 x\n.global .u33 y;\n.file 1\n.global .u33 z;", []string{
		"5:1: expected `;` after the declaration, found `.global`",
		"5:9: `.u33` is no type or state space PTX knows",
		"7:1: expected a string in double quotes, found `.global`",
		"7:9: `.u33` is no type or state space PTX knows"}},
	{"several", inBody("add.s32 %r1 %r2;\nmov.u32 %r1, ;\nsub.s32 %r1, %r2, %r3;\nst.u32 [%rd1-8], %r1;\n"), []string{
		"6:13: expected `,` or `;` after operand, found `%r2`",
		"7:14: expected an operand, found `;`",
		"9:13: PTX writes a negative offset with a plus: `[%rd1+-8]`"}},
	{"error in a long operand list", inBody("mma.x {%r1,\n%r2 %r3\n},\n%r4;\nmov.u32 ?;"), []string{
		"7:5: expected `,` or `}` after an element, found `%r3`",
		"10:9: expected an operand, found `?`"}},
	{"missing comma", inBody("add.s32 %r1, 5 %r2;"), []string{"6:16: expected `,` or `;` after operand, found `%r2`"}},
	{"guard without instruction", inBody("@%p1 ;"), []string{"6:6: expected an instruction after the predicate, found `;`"}},
	{"guard without predicate", inBody("@5 add;"), []string{"6:2: expected a predicate after `@`, found `5`"}},
	{"empty modifier", inBody("add..s32 %r1, %r2, %r3;\nadd.s32. %r1;"), []string{
		"6:1: opcode `add..s32` has an empty modifier",
		"7:1: opcode `add.s32.` has an empty modifier"}},
	{"trailing comma", inBody("add.s32 %r1, %r2,;"), []string{"6:18: expected an operand, found `;`"}},
	{"unclosed bracket", inBody("ld.u32 %r1, [%rd1;"), []string{"6:18: expected `]` after the address, found `;`"}},
	{"empty vector", inBody("mov.b64 {}, %rd1;"), []string{"6:10: expected an operand, found `}`"}},
	{"offset on a part", inBody("add.s32 %r1, %r2.x+4, %r3;\nmov.u32 %r1, %tid.x+1;\nmov.u32 %r1, %r2-1;"), []string{
		"6:19: only a whole register, a variable or a function takes an offset",
		"7:20: only a whole register, a variable or a function takes an offset",
		"8:17: PTX writes a negative offset with a plus: `%r2+-8`"}},
	{"half pair", inBody("setp.eq.u32 %p1|5, %r1, %r2;"), []string{"6:17: expected a register or `_` after `|`, found `5`"}},
	{"suffix after bracket", inBody("ld.u32 %r1, [%rd1].x;"), []string{"6:21: expected `.unified` or nothing after `]`, found `.x`"}},
	{"semicolon alone", inBody(";"), []string{"6:1: expected a statement, found `;`"}},

	{"bad number", inBody("mov.u32 %r1, 12abc;\nmov.u32 %r1, 0x;\nmov.u32 %r1, 99999999999999999999;\nmov.u32 %r1, 09;\nmov.u32 %r1, 0f3F80;\nmov.f32 %r1, 1.5.2;"), []string{
		"6:14: `12abc` is not a number",
		"7:14: `0x` is not an integer of at most 64 bits",
		"8:14: `99999999999999999999` is not an integer of at most 64 bits",
		"9:14: `09` is not an integer of at most 64 bits",
		"10:14: `0f3F80` has 4 hexadecimal digits, expected 8",
		"11:17: expected `,` or `;` after operand, found `.2`"}},
	{"bad expression", inBody("mov.u32 %r1, 1/0;\nmov.u32 %r1, 1+2.0;\nmov.u32 %r1, ~1.0;\nmov.f32 %r1, 0f3F800000+1.0;\nmov.u32 %r1, (1;\nmov.u64 %rd1, (.u32)5;\nmov.f32 %r1, -0f3F800000;\nmov.u32 %r1, 1?2;"), []string{
		"6:15: division by zero",
		"7:15: `+` between an integer and a floating-point constant",
		"8:14: `~` needs an integer",
		"9:24: a 0f constant takes no operator: write its bits",
		"10:16: expected `)` after the expression, found `;`",
		"11:20: a constant casts to .s64 or .u64 only, found `.u32`",
		"12:14: a 0f constant takes no operator: write its bits",
		"13:17: expected `:` between the two results of `?`, found `;`"}},

	{"unclosed comment", head + "/* never", []string{"4:1: comment is never closed: expected `*/`"}},
	{"unclosed string", head + ".file 1 \"never\n.global .u32 x;", []string{"4:9: string is never closed: expected `\"` on the same line"}},
	{"unclosed function", head + ".entry k() {\nret;", []string{"5:5: function is never closed: expected `}`"}},
	{"unclosed scope", inBody("{ ret;"), []string{"8:1: function is never closed: expected `}`"}},
	{"unclosed section", head + ".section .debug_str {\n.b8 1", []string{"4:1: section is never closed: expected `}`"}},
	{"stray brace", head + "}\n.global .u32 x", []string{"4:1: `}` closes nothing", "5:15: expected `;` after the declaration, found the end of the text"}},
	{"no name", head + ".entry () { ret; }", []string{"4:8: expected the name of the function, found `(`"}},
	{"bad param", head + ".entry k(.u32 x) { ret; }", []string{"4:15: a parameter needs the state space `.param` or `.reg`"}},
	{"param without type", head + ".func f(.param x);", []string{"4:16: expected a type such as `.b32` before the name, found `x`"}},
	{"param list", head + ".func f(.param .b32 x .param .b32 y);", []string{"4:23: expected `,` or `)` after a parameter, found `.param`"}},
	{"no body", head + ".entry k()\n.global .u32 x;", []string{"5:1: expected `{` or `;` after the head of the function, found `.global`"}},

	{"unknown type", head + ".global .u33 x;", []string{"4:9: `.u33` is no type or state space PTX knows"}},
	{"no type", head + ".global x;", []string{"4:9: expected a type such as `.b32` before the name, found `x`"}},
	{"bad alignment", head + ".global .align 3 .u32 x;", []string{"4:15: alignment 3 is not a power of two"}},
	{"bad length", head + ".global .u32 x[-1];\n.global .u32 y[1.5];", []string{
		"4:16: an array's length must be an integer of zero or more",
		"5:16: an array's length must be an integer of zero or more"}},
	{"bad initialiser", head + ".global .u32 x = {1 2};\n.global .u64 y = 1.5(x);", []string{
		"4:21: expected `,` or `}` after an initial value, found `2`",
		"5:21: the mask in front of `(` must be an integer"}},
	{"register outside", head + ".reg .b32 %r;", []string{"4:1: registers are declared inside a function"}},
	{"bad range", inBody(".reg .b32 %x<-1>;\n.reg .b32 %y<>;\n.reg %z;"), []string{
		"6:14: expected the number of registers after `<`, found `-`",
		"7:14: expected the number of registers after `<`, found `>`",
		"8:6: expected a register type such as `.b32`, found `%z`"}},
	{"too many names", head + ".global .u32 x<70000>;", []string{"4:14: more than 65536 variables with parameterised names"}},

	{"declared twice", inBody(".reg .b32 %r<2>; .reg .u32 %r1; L: L: .reg .u32 x, x; .local .u32 p;") + ".global .u32 k; .entry k() {ret;}", []string{
		"6:11: registers `%r<…>` are declared twice in this scope, first at line 5",
		"6:28: `%r1` is declared twice in this scope, first by `%r<9>` at line 5",
		"6:36: `L` is declared twice in this scope, first at line 6",
		"6:52: `x` is declared twice in this scope, first at line 6",
		"6:67: `p` is declared twice in this scope, first at line 4",
		"8:14: `k` is declared twice, first at line 4",
		"8:24: function `k` has two bodies, the first at line 4"}},
	{"bad argument", head + ".entry k() .maxntid 1, ;", []string{"4:24: expected an argument of the directive, found `;`"}},
	{"pragma without end", inBody(".pragma \"x\"\nret;"), []string{"7:1: expected `;` after .pragma, found `ret`"}},
	{"bare targets", inBody(".branchtargets A;"), []string{"6:1: .branchtargets needs a label in front of it"}},
	{"bad loc", inBody(".loc 1 x\n.loc 1 2 3, inlined 4\n.loc 1 2 -3"), []string{
		"6:8: expected a number, found `x`",
		"7:20: expected `function_name` or `inlined_at`, found `inlined`",
		"8:10: expected a number, found `-`"}},
}

func TestErrors(t *testing.T) {
	for _, c := range errorCases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse.Parse("x.ptx", c.src)
			if err == nil {
				t.Fatal("no error")
			}
			checkErrors(t, c.src, err)
			got := strings.Split(err.Error(), "\n")
			for i := range max(len(got), len(c.want)) {
				g, w := "(nothing)", "(nothing)"
				if i < len(got) {
					g = got[i]
				}
				if i < len(c.want) {
					w = "x.ptx:" + c.want[i]
				}
				if g != w {
					t.Errorf("error %d\n got %s\nwant %s", i, g, w)
				}
			}
		})
	}
}

func TestErrorsStop(t *testing.T) {
	_, err := parse.Parse("x.ptx", inBody(strings.Repeat("add.s32 %r1 %r2;\n", 1000)))
	if n := len(err.(parse.Errors)); n != 20 {
		t.Errorf("%d errors, want 20", n)
	}
}
