package ada

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestResources compiles the configurations under test, and all that Choose may return, with ptxas. They spill no
// registers.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	for _, d := range headDims {
		list := append(append(variants(d), choices(d, false)...), choices(d, true)...)
		for i, c := range list {
			p := c.fit(square(1, 8, 512, d, problem.E4M3))
			if slices.Contains(list[:i], c) || c.Check(p) != nil {
				continue
			}
			for _, target := range []ptx.Target{c.target(), ptx.SM86} {
				if !target.Runs(c.target()) {
					continue
				}
				for _, causal := range []bool{false, true} {
					p.Causal, p.LSE = causal, causal
					assemble(t, p, c, target)
				}
			}
		}
	}
}

var used = regexp.MustCompile(`Used \d+ registers`)

// assemble compiles a configuration for a target. It fails if ptxas spills registers or warns.
func assemble(t *testing.T, p problem.Attention, c Config, target ptx.Target) {
	t.Helper()
	k, err := New(p, c)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("D %d, %v, causal %t, %v", p.D, c, p.Causal, target)
	in := filepath.Join(t.TempDir(), "kernel.ptx")
	if err := os.WriteFile(in, []byte(k.PTX), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ptxas", "-v", "-arch", target.String(), "-o", os.DevNull, in).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: ptxas: %v\n%s", name, err, out)
	}
	t.Logf("%s: %s", name, used.Find(out))
	if !strings.Contains(string(out), " 0 bytes spill stores") || strings.Contains(string(out), "arning") {
		t.Errorf("%s: %s", name, out)
	}
}
