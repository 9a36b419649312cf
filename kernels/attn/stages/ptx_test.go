package stages

import (
	"testing"

	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestPTX keeps the PTX of each preset under testdata, for readers and as a golden:
// without .loc, which changes whenever a line of Go moves.
func TestPTX(t *testing.T) {
	for _, preset := range Presets(64) {
		t.Run(preset.Name, func(t *testing.T) {
			k, err := New(problem.Attention{Shape: problem.Square(1, 1, 1, 64), Format: problem.E4M3}, preset.Config, ptx.SM89)
			if err != nil {
				t.Fatal(err)
			}
			kerneltest.Golden(t, preset.Name, k.PTX)
		})
	}
}

// TestTargets writes kernels in every format for every target that supports it.
func TestTargets(t *testing.T) {
	for _, target := range []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90, ptx.SM90a} {
		for _, name := range []string{"stage0", "stage5-persistent"} {
			last := ""
			for _, f := range []problem.Format{problem.E4M3, problem.E5M2, problem.U8, problem.U8Legacy} {
				preset, err := FindPreset(name, 64)
				if err != nil {
					t.Fatal(err)
				}
				k, err := New(problem.Attention{Shape: problem.Square(1, 1, 1, 64), Format: f}, preset.Config, target)
				if f == problem.E4M3 && target.SM < 89 {
					if err == nil {
						t.Errorf("%s takes e4m3", target)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s, %v for %s: %v", name, f, target, err)
				}
				if f == problem.U8Legacy && k.PTX != last { // U8 came before
					t.Errorf("%s for %s: u8-legacy is not decoded as u8", name, target)
				}
				last = k.PTX
			}
		}
	}
}
