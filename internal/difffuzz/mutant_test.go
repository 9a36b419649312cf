package difffuzz

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/launchfile"
)

// TestMutants plants differences. Each must be found, shrunk to a few instructions,
// attributed to the right instruction, and replayable.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs on one goroutine")
	}
	for _, c := range []struct{ from, to string }{
		{"\tmin.s32 %r", "\tmax.s32 %r"},
		{".rz.f32 ", ".rn.f32 "},
		{"brev.b32 ", "not.b32 "},
		{"shfl.sync.up", "shfl.sync.down"},
	} {
		t.Run(strings.TrimSpace(c.from), func(t *testing.T) {
			f := findMutant(t, c.from, c.to)
			if n := f.Kernel.Size(); n > 4 {
				t.Errorf("shrunk only to %d instructions:\n%s", n, Text([]*Kernel{f.Kernel}, []string{"k"}))
			}
			if f.First == nil || !strings.Contains(f.First.Inst, strings.TrimSpace(c.from)) {
				t.Errorf("the first difference is %v", f.First)
			}
			if f.Reproduced != Runs {
				t.Errorf("reproduced in %d of %d runs", f.Reproduced, Runs)
			}
			replay(t, f)
		})
	}
}

// TestSeenInBatch plants a difference that appears only in a module of several kernels: the
// find must hold the generated kernel, and say that the difference was not reproduced.
func TestSeenInBatch(t *testing.T) {
	fz := &Fuzzer{Options: latest, Batch: 8, Kernels: 400, Open: func() (*Pair, error) {
		bad := &mutant{Device: emulator(t, latest.Target, 0), change: func(s string) string {
			if strings.Contains(s, ".entry k1(") {
				s = strings.ReplaceAll(s, "min.s32 %r", "max.s32 %r")
			}
			return s
		}}
		return &Pair{&Local{Device: emulator(t, latest.Target, 0)}, &Local{Device: bad}}, nil
	}}
	ctx, stop := contextWithStop(t)
	fz.Found = func(*Find) error { stop(); return nil }
	stats, err := fz.Run(ctx)
	if err != nil || len(stats.Finds) == 0 {
		t.Fatal(stats, err)
	}
	f := stats.Finds[0]
	if f.Reproduced != 0 || f.Kernel != f.Original || f.Interrupted {
		t.Errorf("reproduced in %d runs, %d instructions of %d, interrupted: %v", f.Reproduced, f.Kernel.Size(), f.Original.Size(), f.Interrupted)
	}
	if readme := f.readme(); !strings.Contains(readme, "Alone in its module, the kernel differs in 0 of 4 runs.") {
		t.Error(readme)
	}
}

// TestCut ends the time as soon as a kernel differs: the find must be reported without
// shrinking, and its README must say how to shrink it.
func TestCut(t *testing.T) {
	ctx, stop := contextWithStop(t)
	bad := &mutant{Device: emulator(t, latest.Target, 0), change: func(s string) string {
		if strings.Contains(s, "min.s32 %r") {
			stop()
		}
		return strings.ReplaceAll(s, "min.s32 %r", "max.s32 %r")
	}}
	fz := &Fuzzer{Options: latest, Batch: 8, Kernels: 400, Open: func() (*Pair, error) {
		return &Pair{&Local{Device: emulator(t, latest.Target, 0)}, &Local{Device: bad}}, nil
	}}
	stats, err := fz.Run(ctx)
	if err != nil || len(stats.Finds) == 0 {
		t.Fatal(stats, err)
	}
	f := stats.Finds[0]
	if !f.Interrupted || f.Reproduced != Runs || f.Kernel.Size() != f.Original.Size() {
		t.Errorf("interrupted: %v, reproduced in %d runs, %d instructions of %d", f.Interrupted, f.Reproduced, f.Kernel.Size(), f.Original.Size())
	}
	if readme := f.readme(); !strings.Contains(readme, "--kernels 1") {
		t.Error(readme)
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

// replay writes the find and runs its launch file: the reference must give the expected
// values, and no temporary folder may remain.
func replay(t *testing.T, f *Find) {
	t.Helper()
	dir := t.TempDir()
	for range 2 { // a second Write replaces the folder
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
