package hopper

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// spills matches the message of ptxas about spilled registers.
var spills = regexp.MustCompile(`(\d+) bytes spill stores`)

// fewSpills is the limit of spilled bytes where three warpgroups share the registers of an
// SM: values that a thread needs from one item to the next, not in its inner loop.
const fewSpills = 80

// TestResources compiles the variants with ptxas. They spill almost no registers, setmaxnreg
// is not ignored, and no wgmma is serialised.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	for turn, d := range []int{64, 128} {
		configs := variants(d)
		if !*full {
			configs = []Config{Throughput(d, 3), Latency(d)}
			if d == 64 {
				configs = append(configs, Throughput(d, 4), TwoPairs(), SplitKeys(2))
			}
		}
		for _, c := range configs {
			k, err := New(c.able(mixed(d, 1, 1, turn)), c)
			if err != nil {
				t.Fatal(err)
			}
			in := filepath.Join(t.TempDir(), "kernel.ptx")
			if err := os.WriteFile(in, []byte(k.PTX), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("ptxas", "-v", "-arch", "sm_90a", "-o", os.DevNull, in).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: ptxas: %v\n%s", c, err, out)
			}
			found := spills.FindSubmatch(out)
			if found == nil {
				t.Fatalf("%v: ptxas says nothing of spills: %s", c, out)
			}
			if n, err := strconv.Atoi(string(found[1])); err != nil || n > fewSpills || n > 0 && c.Warpgroups < 3 || strings.Contains(string(out), "arning") || strings.Contains(string(out), "serialized") {
				t.Errorf("d%d, %v: %s", d, c, out)
			}
		}
	}
}
