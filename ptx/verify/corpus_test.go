package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"attest/ptx/parse"
)

// TestCorpus holds Check to its first duty: what compilers emit has no errors.
func TestCorpus(t *testing.T) {
	var files []string
	for _, dir := range []string{"nvcc*", "clang*"} {
		found, err := filepath.Glob("../parse/testdata/" + dir + "/*.ptx")
		if err != nil || len(found) == 0 {
			t.Fatal("no PTX of "+dir+" under ../parse/testdata", err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range Check(mustParse(t, file, string(text))) {
			if d.Severity == Error {
				t.Error(d.Format(file))
			}
		}
	}
}

// hostile are programs on which a careless analysis takes quadratic time.
var hostile = []struct {
	name string
	text func(n int) string
}{
	{"early exits that part lanes", func(n int) string {
		var b strings.Builder
		b.WriteString("mov.u32 %r1, %tid.x;\n")
		for i := range n {
			fmt.Fprintf(&b, "setp.eq.u32 %%p1, %%r1, %d;\n@%%p1 bra END;\nadd.s32 %%r%d, %%r1, 1;\n", i, 2+i%60)
		}
		return b.String() + "bar.sync 0;\nEND:\nst.shared.u32 [%r1], %r7;\nret;"
	}},
	{"nested loops", func(n int) string {
		var open, shut strings.Builder
		for i := range n {
			fmt.Fprintf(&open, "L%d: add.s32 %%r1, %%r1, 1;\n", i)
			fmt.Fprintf(&shut, "@%%p1 bra L%d;\n", n-1-i)
		}
		return "mov.u32 %r1, 0;\nsetp.eq.u32 %p1, %r1, 1;\n" + open.String() + shut.String() + "ret;"
	}},
	{"every register live everywhere", func(n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, ".reg .b32 %%x<%d>;\nmov.u32 %%r1, 0;\nsetp.eq.u32 %%p1, %%r1, 1;\n", n)
		for i := range n {
			fmt.Fprintf(&b, "mov.u32 %%x%d, 1;\n@%%p1 bra L%d;\nL%d:\n", i, i, i)
		}
		for i := range n {
			fmt.Fprintf(&b, "add.s32 %%r1, %%r1, %%x%d;\n", i)
		}
		return b.String() + "ret;"
	}},
	{"names that are not declared", func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "add.s32 %%u%d, %%v%d, 1;\n", i, i)
		}
		return b.String() + "ret;"
	}},
}

func TestHostile(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			m, _ := kernelOf(t, h.text(40_000))
			start := time.Now()
			Check(m)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func FuzzCheck(f *testing.F) {
	files, _ := filepath.Glob("testdata/check/*.ptx")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parse.Parse("fuzz.ptx", text)
		if err != nil {
			return
		}
		Check(m)
		MinTarget(m)
		for _, fn := range m.Funcs() {
			Pressure(fn, NewCFG(fn))
			SharedStatic(m, fn)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	text, err := os.ReadFile("../parse/testdata/nvcc12/language-debug.ptx")
	if err != nil {
		b.Fatal(err)
	}
	m := mustParse(b, "bench.ptx", string(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Check(m)
	}
}
