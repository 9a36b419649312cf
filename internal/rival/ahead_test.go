package rival

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

// TestAhead wants everything to be compiled, once, when Start returns.
func TestAhead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("COMPILED", dir)
	fake(t, Options{Ahead: &Ahead{
		DType: "e4m3", Kernels: []AheadKernel{{64, false, false}, {128, true, true}, {256, true, false}},
		Decode: []Case{{Shape: problem.Shape{B: 2, Hq: 8, Hkv: 4, Sq: 1, Skv: 99, D: 64}, Causal: true}},
	}})
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workers, %v", len(files), err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil || !strings.HasPrefix(string(text), `["e4m3"`) {
			t.Errorf("%s, %v", text, err)
		}
		all.Write(text)
	}
	for _, want := range []string{"[64, false, 1]", "[128, true, 2]", "[256, true, 1]", "[[2, 8, 1, 64], [2, 4, 99, 64], true]"} {
		if strings.Count(all.String(), want) != 1 {
			t.Errorf("%s: %s", want, &all)
		}
	}
}

// TestRows wants the rows that are asked for, in that order.
func TestRows(t *testing.T) {
	r := fake(t, Options{})
	p, err := r.Prepare(t.Context(), Case{Shape: tiny, DType: "f16", Implementation: "good"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Rows(t.Context(), [][3]int{{0, 0, 1}, {0, 0, 0}})
	if err != nil || len(got) != 4 || got[0] != 2 || got[1] != 3 || got[2] != 0 || got[3] != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
