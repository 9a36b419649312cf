package findingtext

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

const text = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	st.shared.u32 [%r2], %r1;
	bar.sync 0;
	ld.shared.u32 %r3, [%r4];
}
`

// race returns a made-up finding in which every field is set.
func race() finding.Finding {
	f := finding.Finding{
		Kind: "shared-race", Severity: finding.Error, Kernel: "k",
		Message: "write to s+0x4 races with a read by warp 0",
		Place: finding.Place{
			Func: "k", Pos: ptx.Pos{Line: 6, Col: 2}, Source: "k.cu:2:5", Callers: []string{"k.cu:3:1"}, Inst: "st.shared.u32",
			Action: "write", Warp: 1, Lanes: 0b1111,
		},
		Other: &finding.Place{
			Func: "k", Pos: ptx.Pos{Line: 8, Col: 2}, Source: "gone.cu:9:1", Inst: "ld.shared.u32", Action: "read",
			Block: [3]int{1, 0, 0}, Lanes: 1 << 7,
		},
		Why:   "the two touch the same bytes, one of them writes, and no barrier, fence or atomic is between them",
		Fix:   "bar.sync between them",
		Count: 32,
	}
	f.Touch("shared", "s", 4, 4, "")
	f.Other.Touch("shared", "s", 0, 1, "")
	return f
}

func printed(t *testing.T, width int, style term.Style, f finding.Finding) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "k.cu"), []byte("int i;\n    s[i] = x;\nput(i);\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	p := NewPrinter(&b, style, filepath.Join(dir, "k.ptx"), text)
	p.width = width
	p.Print([]finding.Finding{f})
	return strings.ReplaceAll(b.String(), dir+string(filepath.Separator), "")
}

func TestPrintRace(t *testing.T) {
	want := `k.ptx:6:2: error: write to s+0x4 races with a read by warp 0 [shared-race]
    6 |     st.shared.u32 [%r2], %r1;
      |     ^~~~~~~~~~~~~
      = write of 4 bytes at s+0x4 (shared) by block (0,0,0), warp 1, lanes 0-3
      = element 1 of s (4 bytes each)
      = in k, from k.cu:2:5
    2 |     s[i] = x;
      |     ^
      = called at k.cu:3:1
    3 | put(i);
      | ^~~
k.ptx:8:2: note: the other access: read of 1 byte at s (shared) by block (1,0,0), warp 0, lane 7
    8 |     ld.shared.u32 %r3, [%r4];
      |     ^~~~~~~~~~~~~
      = in k, from gone.cu:9:1
      = why: the two touch the same bytes, one of them writes, and no barrier, fence or atomic is
             between them
      = fix: bar.sync between them
      = seen 32 times
`
	if got := printed(t, term.Unlimited, term.Style{}, race()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPrintNarrow: prose is wrapped for the terminal it is read on.
func TestPrintNarrow(t *testing.T) {
	got := printed(t, 60, term.Style{}, race())
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "k.ptx:") && len(line) > 61 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	if want := "\n             writes, and no barrier,"; !strings.Contains(got, want) {
		t.Errorf("no line %q in\n%s", want, got)
	}
}

// TestPrintColours: colour adds nothing but colour, and a hostile message none.
func TestPrintColours(t *testing.T) {
	f := race()
	f.Message += "\x1b[2J"
	plain, coloured := printed(t, 0, term.Style{}, f), printed(t, 0, term.Style{On: true}, f)
	strip := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[1;31m", "", "\x1b[1;33m", "")
	if strip.Replace(coloured) != plain || plain == coloured || strings.Contains(plain, "\x1b") {
		t.Errorf("plain\n%q\ncoloured\n%q", plain, coloured)
	}
}

func TestPrintWaiters(t *testing.T) {
	f := finding.Finding{
		Kind: finding.Deadlock, Severity: finding.Error, Message: "every thread waits", Place: finding.At(ptx.Pos{Line: 7, Col: 2}),
	}
	at := func(warp int, lanes finding.Lanes, why string) finding.Waiter {
		return finding.Waiter{Place: finding.Place{Pos: ptx.Pos{Line: 7, Col: 2}, Inst: "bar.sync", Warp: warp, Lanes: lanes}, For: why}
	}
	full := finding.Lanes(1<<32 - 1)
	f.Waiters = []finding.Waiter{at(0, full, "barrier 0"), at(3, 0b101, "barrier 1"), at(2, full, "barrier 0"), at(1, full, "barrier 0"), at(5, full, "barrier 0")}
	want := `k.ptx:7:2: error: every thread waits [deadlock]
    7 |     bar.sync 0;
      |     ^~~~~~~~
      = threads that wait, and what they wait for:
        block    warps  lanes  line  at        waits for
        (0,0,0)  0-2,5  all       7  bar.sync  barrier 0
        (0,0,0)  3      0,2       7  bar.sync  barrier 1
`
	if got := printed(t, 0, term.Style{}, f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPrintBothWays: a race and the same race with its accesses exchanged are one
// report.
func TestPrintBothWays(t *testing.T) {
	f, g := race(), race()
	g.Place, g.Other = *f.Other, &f.Place
	g.Severity, g.Message, g.Count = finding.Warning, "read races", 1
	again := race()
	again.Line, again.Source, again.Message = 7, "", "another"
	var b strings.Builder
	NewPrinter(&b, term.Style{}, "k.ptx", text).Print([]finding.Finding{f, g, again})
	got := b.String()
	if want := "      = seen 32 times\n      = warning: also with the accesses exchanged: read races; seen once\nk.ptx:7:2: error: another [shared-race]\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if n := strings.Count(got, "[shared-race]"); n != 2 {
		t.Errorf("%d reports, want 2:\n%s", n, got)
	}
}

// TestPrintGuard: the caret is under the opcode; what is no access is named by it.
func TestPrintGuard(t *testing.T) {
	var b strings.Builder
	f := finding.Finding{
		Kind: "barrier-divergence", Severity: finding.Error, Message: "half a warp",
		Place: finding.Place{Pos: ptx.Pos{Line: 1, Col: 2}, Inst: "bar.sync", Lanes: 0xffff},
		Other: &finding.Place{Pos: ptx.Pos{Line: 2, Col: 2}, Inst: "ret", Lanes: 0xffff0000},
	}
	NewPrinter(&b, term.Style{}, "k.ptx", "\t@%p1 bar.sync 0;\n\tret;\n").Print([]finding.Finding{f})
	want := `k.ptx:1:2: error: half a warp [barrier-divergence]
    1 |     @%p1 bar.sync 0;
      |          ^~~~~~~~
      = by block (0,0,0), warp 0, lanes 0-15
k.ptx:2:2: note: see also ret by block (0,0,0), warp 0, lanes 16-31
    2 |     ret;
      |     ^~~
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestPrintWithoutPlace: a timeout is nobody's doing and has no line.
func TestPrintWithoutPlace(t *testing.T) {
	f := finding.Finding{
		Kind: finding.Timeout, Severity: finding.Error, Message: "k has not ended\nafter 1 s", Place: finding.At(ptx.Pos{}),
	}
	want := "k.ptx: error: k has not ended [timeout]\n      after 1 s\n"
	if got := printed(t, 0, term.Style{}, f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParseOrigin(t *testing.T) {
	for in, want := range map[string]origin{
		"k.cu:12:3":     {"k.cu", 12, 3},
		"k.cu:12":       {"k.cu", 12, 0},
		`C:\k\k.cu:1:2`: {`C:\k\k.cu`, 1, 2},
	} {
		if got, ok := parseOrigin(in); !ok || got != want {
			t.Errorf("%q is %+v, %v; want %+v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "k.cu", ":3:4", "k.cu:0:1"} {
		if got, ok := parseOrigin(in); ok {
			t.Errorf("%q is %+v, want no place", in, got)
		}
	}
}

// TestPrintWait wants the wait that did not cover a copy, at its line.
func TestPrintWait(t *testing.T) {
	f := race()
	wait := finding.At(ptx.Pos{Line: 8, Col: 2})
	wait.Note, wait.Source = "the last wait: it leaves the newest group in flight", "k.cu:3:1"
	f.Wait = &wait
	got := printed(t, term.Unlimited, term.Style{}, f)
	for _, want := range []string{"k.ptx:8:2: note: the last wait: it leaves the newest group in flight\n    8 |", "from k.cu:3:1\n    3 | put(i);"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	log := &Log{File: "k.ptx", Text: text, Rules: []finding.Rule{{Kind: "shared-race"}}, Findings: []finding.Finding{f}}
	related := sarif(t, log).Runs[0].Results[0].Related
	if last := related[len(related)-2]; last.Message.Text != wait.Note {
		t.Errorf("the related location is %+v", last)
	}
}
