package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestCorpus checks that Check finds no errors in the PTX that compilers emit.
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
			if d.Severity == finding.Error {
				t.Error(d.Format(file))
			}
		}
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
