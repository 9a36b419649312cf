package parse_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// large returns a text of at least n bytes. It repeats the corpus and numbers the names of each
// module, so that no name is declared twice.
func large(t testing.TB, n int) string {
	t.Helper()
	var mods []*ptx.Module
	for _, f := range corpus(t) {
		mods = append(mods, mustParse(t, f, read(t, f)))
	}
	b := []byte(".version 8.4\n.target sm_90a, texmode_independent\n.address_size 64\n")
	for i := 0; len(b) < n; i++ {
		for k, m := range mods {
			b = append(b, renamed(m, fmt.Sprintf("_%d_%d", i, k))...)
		}
	}
	return string(b)
}

// renamed prints the items of the module with a suffix on each name.
func renamed(m *ptx.Module, suffix string) []byte {
	old := map[*ptx.Symbol]string{}
	rename := func(s *ptx.Symbol) {
		if _, ok := old[s]; !ok {
			old[s] = s.Name
			s.Name += suffix
		}
	}
	for _, it := range m.Items {
		switch it := it.(type) {
		case *ptx.Func:
			rename(it.Sym)
		case *ptx.Var:
			rename(it.Sym)
		}
	}
	text := m.Append(nil)
	for s, name := range old {
		s.Name = name
	}
	_, body, _ := bytes.Cut(text, []byte("\n\n")) // without the header
	return body
}

func BenchmarkParse(b *testing.B) {
	src := large(b, 5<<20)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse.Parse("large.ptx", src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	m := mustParse(b, "large.ptx", large(b, 5<<20))
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = m.Append(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

// TestLarge checks that a large module is the same after it is printed and parsed again.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("parses megabytes")
	}
	src := large(t, 1<<20)
	m := mustParse(t, "large.ptx", src)
	if n := len(m.Funcs()); n < 100 {
		t.Errorf("the module has only %d functions", n)
	}
	if !strings.Contains(src, "wgmma") {
		t.Error("the text lacks a part of the corpus")
	}
	checkStable(t, m)
}
