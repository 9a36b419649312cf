package hopper

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// spilled is what ptxas says of a kernel whose registers did not suffice.
var spilled = regexp.MustCompile(`[1-9]\d* bytes spill`)

// TestResources has ptxas compile the variants: nothing spilled, setmaxnreg heeded, and
// no product made to wait for the one before.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	for turn, d := range []int{64, 128} {
		configs := variants(d)
		if !*full {
			configs = []Config{Throughput(d), Latency(d, 4)}
		}
		for _, c := range configs {
			k, err := Build(c.able(problem(d, 1, 1, turn)), c)
			if err != nil {
				t.Fatal(err)
			}
			text, err := k.PTX()
			if err != nil {
				t.Fatal(err)
			}
			in := filepath.Join(t.TempDir(), "kernel.ptx")
			if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("ptxas", "-v", "-arch", "sm_90a", "-o", os.DevNull, in).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: ptxas: %v\n%s", c, err, out)
			}
			if spilled.Match(out) || strings.Contains(string(out), "arning") || strings.Contains(string(out), "serialized") {
				t.Errorf("d%d, %v: %s", d, c, out)
			}
		}
	}
}
