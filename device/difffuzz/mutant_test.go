package difffuzz

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attest/device/launchfile"
)

// TestMutants plants differences and demands that each is found, shrunk to a handful of
// instructions, blamed on the right one, and can be replayed.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	for _, c := range []struct{ from, to string }{
		{"min.s32 %r", "max.s32 %r"},
		{".rz.f32 ", ".rn.f32 "},
		{"shr.s32 ", "shr.u32 "},
		{"brev.b32 ", "not.b32 "},
		{"shfl.sync.up", "shfl.sync.down"},
	} {
		t.Run(strings.TrimSpace(c.from), func(t *testing.T) {
			f := findMutant(t, c.from, c.to)
			if n := f.Kernel.Size(); n > 4 {
				t.Errorf("shrunk to %d instructions only:\n%s", n, Text([]*Kernel{f.Kernel}, []string{"k"}))
			}
			if f.First == nil || !strings.Contains(f.First.Inst, strings.TrimSpace(c.from)) {
				t.Errorf("blames %v", f.First)
			}
			replay(t, f)
		})
	}
}

func findMutant(t *testing.T, from, to string) *Find {
	t.Helper()
	fz := &Fuzzer{Options: latest, Batch: 16, Kernels: 800, Open: func() (*Pair, error) {
		bad := &mutant{Device: emulator(t, latest.Target, 0), change: func(s string) string { return strings.ReplaceAll(s, from, to) }}
		return &Pair{&Local{Device: emulator(t, latest.Target, 0)}, &Local{Device: bad}}, nil
	}}
	ctx, stop := contextWithStop(t)
	fz.Found = func(*Find) error { stop(); return nil }
	stats, err := fz.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(stats.Finds) == 0 {
		t.Fatalf("not found in %d kernels", stats.Kernels)
	}
	return stats.Finds[0]
}

// replay writes the find and runs its launch file: the reference gives what is expected
// there, and the folder has no leftovers beside it.
func replay(t *testing.T, f *Find) {
	t.Helper()
	dir := t.TempDir()
	for range 2 { // a find may be written again
		if err := f.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	readme, err := os.ReadFile(filepath.Join(f.Path, "README.md"))
	if err != nil || !strings.Contains(string(readme), "The first result that differs") {
		t.Errorf("README: %v\n%s", err, readme)
	}
	if err := runFolder(t.Context(), f.Path, emulator(t, latest.Target, 3)); err != nil {
		t.Error(err)
	}
	if _, err := launchfile.Parse("launch.json", f.files()["launch.json"]); err != nil {
		t.Error(err)
	}
}
