package ptxstat

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

const text = `.version 8.0
.target sm_90
.address_size 64
.global .align 8 .b8 g[24];
.visible .entry f(.param .b8 a, .param .u64 b)
{
	.reg .b32 %r<3>, %x;
	.reg .v2 .f32 %v<2>;
	.reg .pred %p;
	.shared .b64 bar[2];
	mov.u32 %r0, 1;
OUTER:
	mov.u32 %r2, 1;
INNER:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, 9;
	@%p bra INNER;
	frob.u32 %r1, %r0;
	@%p bra OUTER;
	bar.warp.sync -1;
	barrier.cta.sync 1;
	barrier.cluster.arrive.release.aligned;
	mbarrier.init.shared::cta.b64 [bar], 1;
	ret;
}
.func g2_a_very_long_name_as_compilers_of_templates_make_them_all_the_time() { ret; }
`

func TestOf(t *testing.T) {
	m := parsed(t, text)
	s := Of(m)
	if s.GlobalBytes != 24 || s.ConstBytes != 0 || len(s.Functions) != 2 {
		t.Errorf("%d global bytes, %d constant, %d functions; want 24, 0, 2", s.GlobalBytes, s.ConstBytes, len(s.Functions))
	}
	if n := s.Needs; n.Target != "sm_90" || n.Function != "f" || n.Line != 22 {
		t.Errorf("needs %+v, want sm_90 because of line 22", n)
	}
	f := s.Functions[0]
	if f.Params != 2 || f.ParamBytes != 16 {
		t.Errorf("%d parameters of %d bytes, want 2 of 16: the second is aligned", f.Params, f.ParamBytes)
	}
	check(t, "registers", f.Declared, "4 .b32, 2 .f32, 1 .pred")
	check(t, "barriers", f.Barriers, "1 .bar.warp.sync, 1 .barrier.cluster.arrive, 1 .barrier.sync, 1 .mbarrier.init")
	check(t, "families", f.Families, "3 .control, 2 .memory, 2 .sync, 1 .cluster, 1 .compare, 1 .integer, 1 .mbarrier, 1 .unknown")
	if f.Instructions != sum(f.Families) || f.Instructions != sum(f.Opcodes) || f.Instructions != 12 {
		t.Errorf("%d instructions, %d by family, %d by opcode; want 12", f.Instructions, sum(f.Families), sum(f.Opcodes))
	}
	if f.Loops != 2 || f.LoopDepth != 2 {
		t.Errorf("%d loops, %d deep; want 2 and 2", f.Loops, f.LoopDepth)
	}
	if f.Kind != "entry" || s.Functions[1].Kind != "func" {
		t.Errorf("kinds are %s and %s", f.Kind, s.Functions[1].Kind)
	}
}

func check(t *testing.T, what string, got []Count, want string) {
	t.Helper()
	if s := list(got, "."); s != want {
		t.Errorf("%s: %s, want %s", what, s, want)
	}
}

// TestExamples counts real kernels: nothing of theirs is unknown to the table,
// and counting does not change them.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/testdata/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := parsed(t, string(b))
		s := Of(m)
		for _, f := range s.Functions {
			for _, c := range f.Families {
				if c.Name == unknownFamily {
					t.Errorf("%s: %d instructions of unknown family", file, c.Count)
				}
			}
			if f.Estimate.Registers == 0 || f.Estimate.Line == 0 {
				t.Errorf("%s: estimate is %+v", file, f.Estimate)
			}
		}
		if !reflect.DeepEqual(m, parsed(t, string(b))) {
			t.Errorf("%s: counting changed the module", file)
		}
	}
}

// TestTextLinesUp checks that no line of the tables is longer than a terminal and
// that colour does not shift a column.
func TestTextLinesUp(t *testing.T) {
	s := Of(parsed(t, text))
	var plain, coloured strings.Builder
	s.WriteText(&plain, term.Style{}, "f.ptx", 3)
	s.WriteText(&coloured, term.Style{On: true}, "f.ptx", 3)
	strip := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "")
	if got := strip.Replace(coloured.String()); got != plain.String() {
		t.Errorf("without its colours the text is\n%s\nwant\n%s", got, plain.String())
	}
	if want := "\n  g2_a_very_long_n…em_all_the_time"; !strings.Contains(plain.String(), want) {
		t.Errorf("the long name is not cut to %q in\n%s", want, plain.String())
	}
	for line := range strings.Lines(plain.String()) {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func parsed(t *testing.T, src string) *ptx.Module {
	t.Helper()
	m, err := parse.Parse("f.ptx", src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
