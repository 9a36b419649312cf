package ada

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

// TestResources compiles the designs with ptxas for their lowest target. They spill no registers.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	used := regexp.MustCompile(`Used \d+ registers`)
	for _, d := range headDims {
		for _, c := range variants(d) {
			for _, causal := range []bool{false, true} {
				p := c.fit(square(1, 8, 512, d, problem.E4M3))
				p.Causal, p.LSE = causal, causal
				k, err := New(p, c)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("D %d, %v, causal %t", d, c, causal)
				in := filepath.Join(t.TempDir(), "kernel.ptx")
				if err := os.WriteFile(in, []byte(k.PTX), 0o644); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command("ptxas", "-v", "-arch", c.target().String(), "-o", os.DevNull, in).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: ptxas: %v\n%s", name, err, out)
				}
				t.Logf("%s: %s", name, used.Find(out))
				if !strings.Contains(string(out), " 0 bytes spill stores") || strings.Contains(string(out), "arning") {
					t.Errorf("%s: %s", name, out)
				}
			}
		}
	}
}
