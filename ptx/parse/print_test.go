package parse_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares the printed form of texts that use the whole grammar with golden files.
func TestGolden(t *testing.T) {
	for _, name := range []string{"spacing", "constants", "calls", "video", "opaque", "triton"} {
		t.Run(name, func(t *testing.T) {
			src := filepath.Join("testdata", "hand", name+".ptx")
			golden := filepath.Join("testdata", "golden", name+".golden")
			got := mustParse(t, src, read(t, src)).String()
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, golden); got != want {
				t.Errorf("%s:\n%s", golden, firstDifference(want, got))
			}
		})
	}
}

// TestComments checks that printing keeps comments in their places. A comment inside a
// statement moves in front of the statement.
func TestComments(t *testing.T) {
	m := mustParse(t, "x.ptx", `// first
.version 8.4 // of the version
.target sm_90 /* of the target */
.address_size 64
/* before x */ .global .u32 x; // after x
// above k
.entry k( /* inside the head */ ) // still the head
{ // after the brace
	// alone
	add.s32 /* inside */ %r1, // the first operand
		%r2, %r3; /* after */ // and after
L: /* of the label */ .loc 1 2 3 // of the line
	ret; /* over
	two lines */ // not on the line of ret
	// at the end
} // after k
// last`)
	got := m.String()
	want := `.version 8.4
.target sm_90
.address_size 64

// first
// of the version
/* of the target */
/* before x */
.global .u32 x; // after x

// above k
/* inside the head */
// still the head
.entry k()
{ // after the brace
	// alone
	/* inside */
	// the first operand
	add.s32 %r1, %r2, %r3; /* after */ // and after
L: /* of the label */
	.loc 1 2 3 // of the line
	ret; /* over
	two lines */
	// not on the line of ret
	// at the end
} // after k
// last
`
	if got != want {
		t.Errorf("got\n%s\n%s", got, firstDifference(want, got))
	}
}

// TestLineEnds checks that the parser ignores Windows line ends, a byte order mark, form feeds
// and a NUL at the end of the text.
func TestLineEnds(t *testing.T) {
	src := read(t, "testdata/hand/calls.ptx")
	want := dump(mustParse(t, "x.ptx", src))
	odd := "\ufeff" + strings.ReplaceAll(src, "\n", "\r\n\f") + "\v\x00"
	if got := dump(mustParse(t, "x.ptx", odd)); got != want {
		t.Errorf("the module differs:\n%s", firstDifference(want, got))
	}
}

// TestUnknownDirectives checks that unknown directives are kept, with their arguments.
func TestUnknownDirectives(t *testing.T) {
	m := mustParse(t, "x.ptx", head+`
.novel 5, word, "text", -1
.func .attribute(.unified(1, 0x2), .other) f(.param .b32 a) .abi_preserve 8 .abi_preserve_control 2;
.global .attribute(.managed) .u32 g;
.entry k()
.explicitcluster
.reqnctapercluster 2, 1, 1
.maxclusterrank 8
.blocksareclusters
.novel 7
{
	.pragma "nounroll", "used_bytes_mask 3";
	.novel;
	.novel 1, 2
	ret;
}`)
	text := m.String()
	for _, want := range []string{
		"\n.novel 5, word, \"text\", -1\n",
		".func .attribute (.unified(1, 0x2), .other) f(.param .b32 a)\n.abi_preserve 8\n.abi_preserve_control 2;\n",
		".global .attribute(.managed) .u32 g;",
		"\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n.maxclusterrank 8\n.blocksareclusters\n.novel 7\n{\n",
		"\t.pragma \"nounroll\", \"used_bytes_mask 3\";\n\t.novel;\n\t.novel 1, 2\n\tret;\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
	k := m.Func("k")
	if d := k.Directive(".reqnctapercluster"); d == nil || len(d.Args) != 3 || d.Args[0].Val != 2 {
		t.Errorf("reqnctapercluster: %+v", d)
	}
	if d, ok := k.Body[0].(*ptx.Directive); !ok || d.Args[0].Kind != ptx.StringOperand || d.Args[0].Sym.Name != "nounroll" {
		t.Errorf("pragma: %+v", k.Body[0])
	}
	checkStable(t, m)
}

// TestSectionLabels checks that a .loc that names a label refers to the label in a later
// section.
func TestSectionLabels(t *testing.T) {
	m := mustParse(t, "x.ptx", inBody(".loc 1 2 3, function_name $name+7, inlined_at 2 4 5\nret;\n.loc 1 2 3, function_name gone, inlined_at 2 4 5")+
		".section .debug_str { // }\n\n.b8 1\n$name: .b8 2 }")
	var locs []*ptx.Loc
	for _, s := range m.Func("k").Body {
		if l, ok := s.(*ptx.Loc); ok {
			locs = append(locs, l)
		}
	}
	if l := locs[0]; l.Func.Kind != ptx.LabelSymbol || l.Func.Name != "$name" || l.FuncOff != 7 || *l.At != (ptx.SrcPos{File: 2, Line: 4, Col: 5}) {
		t.Errorf("%+v", l)
	}
	if k := locs[1].Func.Kind; k != ptx.UndefinedSymbol {
		t.Errorf("a label that no section has is a %s", k)
	}
	s := m.Items[len(m.Items)-1].(*ptx.Section)
	if got, want := strings.Join(s.Lines, "|"), " // }||.b8 1|$name: .b8 2"; got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}
