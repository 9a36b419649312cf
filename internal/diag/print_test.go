package diag

import (
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

func TestPrint(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		name, text string
		d          Diagnostic
		want       string
	}{
		{
			"token under the column", "a\n\tfma.rn.f32 %f3, %f9, %f1;\n",
			Diagnostic{Line: 2, Column: 18, Severity: Error, Kind: "k", Message: "bad", Function: "saxpy", Source: "saxpy.go:19:1"},
			"f.ptx:2:18: error: bad [k]\n" +
				"    2 |     fma.rn.f32 %f3, %f9, %f1;\n" +
				"      |                     ^~~\n" +
				"      = in saxpy, from saxpy.go:19:1\n",
		},
		{
			"end of a line", "ret\r\n",
			Diagnostic{Line: 1, Column: 4, Severity: Warning, Kind: "k", Message: "bad"},
			"f.ptx:1:4: warning: bad [k]\n    1 | ret\n      |    ^\n",
		},
		{
			"no position", "ret",
			Diagnostic{Severity: Error, Kind: "k", Message: "bad"},
			"f.ptx: error: bad [k]\n",
		},
		{
			"beyond the text", "ret",
			Diagnostic{Line: 9, Column: 9, Severity: Error, Kind: "k", Message: "bad"},
			"f.ptx:9:9: error: bad [k]\n",
		},
		{
			"characters of several bytes", "// µµ µ;",
			Diagnostic{Line: 1, Column: 11, Severity: Error, Kind: "k", Message: "bad"},
			"f.ptx:1:11: error: bad [k]\n    1 | // µµ µ;\n      |        ^\n",
		},
		{
			"escape sequences", "\x1b]0;owned\a ret",
			Diagnostic{Line: 1, Column: 12, Severity: Error, Kind: "k", Message: "found \x1b[2J"},
			"f.ptx:1:12: error: found �[2J [k]\n    1 | �]0;owned� ret\n      |            ^~~\n",
		},
		{
			"a long line is cut", long + " y " + long,
			Diagnostic{Line: 1, Column: 202, Severity: Error, Kind: "k", Message: "bad"},
			"f.ptx:1:202: error: bad [k]\n" +
				"    1 | …" + long[:71] + " y " + long[:71] + "…\n" +
				"      | " + strings.Repeat(" ", 73) + "^\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			Print(&b, term.Style{}, &Report{"f.ptx", []Diagnostic{c.d}}, c.text)
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

func TestPrintColours(t *testing.T) {
	var b strings.Builder
	Print(&b, term.Style{On: true}, &Report{"f.ptx", []Diagnostic{{Severity: Error, Message: "bad", Kind: "k"}}}, "")
	if want := "\x1b[1;31merror:\x1b[0m"; !strings.Contains(b.String(), want) {
		t.Errorf("%q does not have a red %q", b.String(), want)
	}
}

func TestReport(t *testing.T) {
	r := Report{File: "f.ptx"}
	r.Syntax(parse.Errors{{File: "f.ptx", Pos: ptx.Pos{Line: 3, Col: 4}, Msg: "expected `;`"}})
	r.Syntax(errors.New("no list"))
	r.Verified([]verify.Diag{{
		Pos: ptx.Pos{Line: 5, Col: 6}, Severity: verify.Warning, Kind: "odd", Func: "f", Msg: "m", Source: "a.go:1:1",
	}})
	want := []Diagnostic{
		{3, 4, Error, "syntax", "expected `;`", "", ""},
		{0, 0, Error, "syntax", "no list", "", ""},
		{5, 6, Warning, "odd", "m", "f", "a.go:1:1"},
	}
	if len(r.Diagnostics) != len(want) {
		t.Fatalf("got %d findings, want %d", len(r.Diagnostics), len(want))
	}
	for i := range want {
		if r.Diagnostics[i] != want[i] {
			t.Errorf("finding %d is %+v, want %+v", i, r.Diagnostics[i], want[i])
		}
	}
	if errs, warnings := r.Count(); errs != 2 || warnings != 1 {
		t.Errorf("counted %d errors and %d warnings, want 2 and 1", errs, warnings)
	}
}
