package term

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestColour(t *testing.T) {
	var buffer bytes.Buffer
	if Auto.Colour(&buffer) {
		t.Error("auto colours what is no terminal")
	}
	if !Always.Colour(&buffer) || Never.Colour(&buffer) {
		t.Error("always and never are not obeyed")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if IsTerminal(null) {
		t.Error("the null device counts as a terminal")
	}
}

func TestWhen(t *testing.T) {
	w := Auto
	if err := w.Set("never"); err != nil || w != Never {
		t.Errorf("set to %q with error %v, want never", w, err)
	}
	if err := w.Set("pink"); err == nil || w != Never {
		t.Errorf("set to %q with error %v, want an error and no change", w, err)
	}
}

func TestStyle(t *testing.T) {
	if got := (Style{}).Red("x"); got != "x" {
		t.Errorf("without colour, red x is %q", got)
	}
	if got := (Style{On: true}).Red("x"); got != "\x1b[1;31mx\x1b[0m" {
		t.Errorf("red x is %q", got)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"add.u32\t%r1, µ;": "add.u32\t%r1, µ;",
		"a\x1b[2Jb":        "a�[2Jb",
		"a\x00\x7f\rb\xff": "a���b�",
		"a\u009bb":         "a�b", // the eight-bit form of an escape sequence
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	tab := Table{Indent: "  ", Right: "lr"}
	tab.Head("name", "n", "note")
	tab.Row("µ", 7, "")
	tab.Row("long name", 1234, "x")
	tab.Row("short")
	var b strings.Builder
	tab.WriteTo(&b)
	want := "  name          n  note\n" +
		"  µ             7\n" +
		"  long name  1234  x\n" +
		"  short\n"
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
}

// TestTableWraps wants the last cell of a row to stay within the width of the terminal.
func TestTableWraps(t *testing.T) {
	tab := Table{Indent: "  ", Width: 46}
	tab.Head("name", "idea")
	tab.Row("stage3b", "scores and P in registers, one warp for 16 rows")
	var b strings.Builder
	tab.WriteTo(&b)
	want := "  name     idea\n" +
		"  stage3b  scores and P in registers, one warp\n" +
		"           for 16 rows\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// lockedBuffer is a buffer that two goroutines may use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestProgress(t *testing.T) {
	out := &lockedBuffer{}
	p := newProgress(out)
	go p.run(time.Millisecond, time.Millisecond)
	p.Say("reading %s", strings.Repeat("é", 100))
	for !strings.Contains(out.String(), "reading") {
		time.Sleep(time.Millisecond)
	}
	p.Print(func() { out.Write([]byte("finding\n")) })
	p.Stop()
	got := out.String()
	if !strings.Contains(got, "\r\x1b[Kfinding\n") {
		t.Errorf("the line was not out of the way: %q", got)
	}
	if strings.Contains(got, strings.Repeat("é", 73)) || strings.Contains(got, "�") {
		t.Errorf("a long line is not cut cleanly: %q", got)
	}
	if i := strings.LastIndex(got, "reading"); !strings.Contains(got[i:], "\r\x1b[K") {
		t.Errorf("the line is left at the end: %q", got)
	}
}

func TestNoProgressWithoutTerminal(t *testing.T) {
	out := &lockedBuffer{}
	p := StartProgress(out)
	p.Say("reading")
	p.Print(func() {})
	p.Stop()
	if out.String() != "" {
		t.Errorf("wrote %q", out.String())
	}
}

// TestProgressBar has a line with a bar, which is as wide as any other.
func TestProgressBar(t *testing.T) {
	for _, c := range []struct {
		done float64
		left time.Duration
		want string
	}{
		{0, 0, "╌╌╌╌╌╌╌╌╌╌╌╌  0 % reading"},
		{0.5, 83 * time.Second, "━━━━━━╌╌╌╌╌╌ 50 % 1:23 left reading"},
		{2, 0, "━━━━━━━━━━━━ 100 % reading"},
	} {
		out := &lockedBuffer{}
		p := newProgress(out)
		p.Say("reading %s", strings.Repeat("é", 100))
		p.Share(c.done, c.left)
		p.draw()
		line := strings.TrimPrefix(out.String(), "\r\x1b[K")
		if !strings.HasPrefix(line, c.want) {
			t.Errorf("%v done is %q, want %q", c.done, line, c.want)
		}
		if text, _, _ := strings.Cut(line, " ("); len([]rune(text)) != most {
			t.Errorf("%q has %d columns, want %d", text, len([]rune(text)), most)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"stage0", "stage3b", "xor-swizzle"}
	for name, want := range map[string]string{"stage3": "stage3b", "swizzle": "xor-swizzle", "stgae0": "stage0", "potato": "", "": ""} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// TestProgressLines wants lines that stay where the output is no terminal.
func TestProgressLines(t *testing.T) {
	out := &lockedBuffer{}
	p := newProgress(out)
	p.plain = true
	p.Say("counting")
	go p.run(time.Millisecond, time.Millisecond)
	for !strings.Contains(out.String(), "\n") {
		time.Sleep(time.Millisecond)
	}
	p.Stop()
	if text := out.String(); !strings.HasPrefix(text, "counting (0 s)\n") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}
