package layouts

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestEveryLayout draws each layout in every form. WriteHeader compares its formulas with
// all places.
func TestEveryLayout(t *testing.T) {
	for _, name := range Names("") {
		name = strings.ReplaceAll(name, "nNk", "n24k")
		p, err := Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name != name {
			t.Errorf("%s is called %s", name, p.Name)
		}
		var text, header, svg bytes.Buffer
		p.WriteText(&text, term.Style{})
		if err := p.WriteHeader(&header); err != nil {
			t.Error(err)
		}
		if err := p.WriteSVG(&svg); err != nil {
			t.Error(err)
		}
		if err := xml.Unmarshal(svg.Bytes(), new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: SVG: %v", name, err)
		}
		for _, m := range p.Matrices {
			if !strings.Contains(text.String(), m.What) || !strings.Contains(svg.String(), m.What) {
				t.Errorf("%s: %s is not drawn", name, m.What)
			}
		}
	}
}

// TestInstructionsExist looks every shape and type up in the instruction table.
func TestInstructionsExist(t *testing.T) {
	for _, in := range instructions {
		for _, s := range in.shape {
			for _, f := range in.types {
				d := accumulatorOf(f)
				text := fmt.Sprintf("mma.sync.aligned.%s.row.col.%s.%s.%s.%s", s, d, f, f, d)
				switch {
				case f == "b1":
					text += ".xor.popc"
				case in.name == "mma.sp":
					text = strings.Replace(text, "mma.", "mma.sp::ordered_metadata.", 1)
				case in.name == "wgmma.sp":
					text = fmt.Sprintf("wgmma.mma_async.sp.sync.aligned.%s.%s.%s.%s", s, d, f, f)
				case in.name == "wgmma":
					text = fmt.Sprintf("wgmma.mma_async.sync.aligned.%s.%s.%s.%s", s, d, f, f)
				case in.name == "wmma" && f == "f16":
					text = fmt.Sprintf("wmma.mma.sync.aligned.row.col.%s.f32.f32", s)
				case in.name == "wmma":
					text = fmt.Sprintf("wmma.mma.sync.aligned.row.col.%s.%s.%s.%s.%s", s, d, f, f, d)
				}
				if len(isa.Lookup(ptx.NewOpcode(text))) == 0 {
					t.Errorf("the instruction table does not have %s", text)
				}
				if p, err := Find(text); err != nil || p.Name != fmt.Sprintf("%s.%s.%s", in.name, s, f) {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
}

func TestUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"mma":               "needs a shape: mma.m16n8k16.f16",
		"mma.m16n8k17":      "has no shape m16n8k17",
		"mma.m16n8k16.s32":  "has no .s32: use f16",
		"wgmma.m64n12k32":   "wgmma.m64nNk32.e4m3",
		"ldmatrix.x3":       "use .x1, .x2 or .x4",
		"swizzle.16b":       "use swizzle.32b",
		"add.f32":           "attest ptx layout lists",
		"":                  "attest ptx layout lists",
		"mma.m999999n8k999": "needs a shape",
	} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestText(t *testing.T) {
	p, err := Find("swizzle.64b")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	p.WriteText(&b, term.Style{})
	want := `swizzle.64b: rows of 64 bytes in units of 16 bytes: each cell is the unit of the row that holds it
Eight rows; the pattern repeats below them.
   0  1  2  3
0  0  1  2  3
1  0  1  2  3
2  1  0  3  2
3  1  0  3  2
4  2  3  0  1
5  2  3  0  1
6  3  2  1  0
7  3  2  1  0

The byte at offset x is at x ^ (((x >> 7) & 3) << 4). The tile must be aligned to 512 bytes.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestLane(t *testing.T) {
	p, err := Find("mma.m16n8k32.e4m3")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.WriteLane(&b, 5); err != nil {
		t.Fatal(err)
	}
	// The PTX manual's figure for A of m16n8k32: lane 5 has row 1, columns 4 to 7 in a0.
	if want := "row   1  column   7  in a0, bits 24 to 31\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
	if err := p.WriteLane(&b, 32); err == nil || !strings.Contains(err.Error(), "0 to 31") {
		t.Error(err)
	}
}

// TestHeaderCompiles compares the header's functions, compiled by a C compiler, with the
// layout.
func TestHeaderCompiles(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	p, err := Find("wgmma.m64n24k32.e4m3")
	if err != nil {
		t.Fatal(err)
	}
	var header, want bytes.Buffer
	if err := p.WriteHeader(&header); err != nil {
		t.Fatal(err)
	}
	main := "#include <stdio.h>\n#include \"layout.h\"\nint main() {\n"
	for i := range p.Matrices {
		m := &p.Matrices[i]
		main += fmt.Sprintf("for (int l = 0; l < %d; l++) for (int i = 0; i < %d; i++) printf(\"%%d %%d\\n\", wgmma_m64n24k32_e4m3_%s_row(l, i), wgmma_m64n24k32_e4m3_%[3]s_col(l, i));\n", m.Lanes, m.each, m.Name)
		for lane := range m.Lanes {
			for e := range m.each {
				at := m.at(lane, e)
				fmt.Fprintln(&want, at.Row, at.Col)
			}
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"layout.h": header.String(), "main.c": main + "}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("sh", "-c", cc+" -Wall -Werror -o main main.c && ./main")
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if string(out) != want.String() {
		t.Error("the compiled functions give other places")
	}
}
