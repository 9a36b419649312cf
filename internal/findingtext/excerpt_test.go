package findingtext

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestPrintDiagnostics: findings about a text that did not run.
func TestPrintDiagnostics(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		name, text string
		d          finding.Finding
		want       string
	}{
		{
			"token under the column", "a\n\tfma.rn.f32 %f3, %f9, %f1;\n",
			finding.Finding{Place: finding.Place{Pos: ptx.Pos{Line: 2, Col: 18}, Warp: finding.NoWarp, Func: "saxpy", Source: "saxpy.go:19:1"}, Severity: finding.Error, Kind: "k", Message: "bad"},
			"f.ptx:2:18: error: bad [k]\n" +
				"    2 |     fma.rn.f32 %f3, %f9, %f1;\n" +
				"      |                     ^~~\n" +
				"      = in saxpy, from saxpy.go:19:1\n",
		},
		{
			"end of a line", "ret\r\n",
			finding.Finding{Place: finding.At(ptx.Pos{Line: 1, Col: 4}), Severity: finding.Warning, Kind: "k", Message: "bad"},
			"f.ptx:1:4: warning: bad [k]\n    1 | ret\n      |    ^\n",
		},
		{
			"no position", "ret",
			finding.Finding{Place: finding.At(ptx.Pos{}), Severity: finding.Error, Kind: "k", Message: "bad"},
			"f.ptx: error: bad [k]\n",
		},
		{
			"beyond the text", "ret",
			finding.Finding{Place: finding.At(ptx.Pos{Line: 9, Col: 9}), Severity: finding.Error, Kind: "k", Message: "bad"},
			"f.ptx:9:9: error: bad [k]\n",
		},
		{
			"characters of several bytes", "// µµ µ;",
			finding.Finding{Place: finding.At(ptx.Pos{Line: 1, Col: 11}), Severity: finding.Error, Kind: "k", Message: "bad"},
			"f.ptx:1:11: error: bad [k]\n    1 | // µµ µ;\n      |        ^\n",
		},
		{
			"escape sequences", "\x1b]0;owned\a ret",
			finding.Finding{Place: finding.At(ptx.Pos{Line: 1, Col: 12}), Severity: finding.Error, Kind: "k", Message: "found \x1b[2J"},
			"f.ptx:1:12: error: found �[2J [k]\n    1 | �]0;owned� ret\n      |            ^~~\n",
		},
		{
			"a long line is cut", long + " y " + long,
			finding.Finding{Place: finding.At(ptx.Pos{Line: 1, Col: 202}), Severity: finding.Error, Kind: "k", Message: "bad"},
			"f.ptx:1:202: error: bad [k]\n" +
				"    1 | …" + long[:71] + " y " + long[:71] + "…\n" +
				"      | " + strings.Repeat(" ", 73) + "^\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			NewPrinter(&b, term.Style{}, "f.ptx", c.text).Print([]finding.Finding{c.d})
			if b.String() != c.want {
				t.Errorf("got\n%s\nwant\n%s", b.String(), c.want)
			}
		})
	}
}

// TestExcerptFitsTerminal: 40 columns, the token whole, the rest cut.
func TestExcerptFitsTerminal(t *testing.T) {
	long := strings.Repeat("abcdefg ", 30)
	for _, c := range []struct {
		line   string
		column int
		want   string
	}{
		{long, 1, "    7 | abcdefg abcdefg abcdefg abcdefg…\n      | ^~~~~~~\n"},
		{long, 81, "    7 | …fg abcdefg abcdefg abcdefg abc…\n      |             ^~~~~~~\n"},
		{"short", 0, "    7 | short\n"},
	} {
		var b strings.Builder
		e := Excerpt{Text: c.line, Line: 7, Column: c.column, Gutter: 5, Width: 40}
		e.Write(&b, term.Style{})
		if b.String() != c.want {
			t.Errorf("got\n%s\nwant\n%s", b.String(), c.want)
		}
	}
}
