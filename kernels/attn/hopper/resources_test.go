package hopper

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

// spills matches the message of ptxas about spilled registers.
var spills = regexp.MustCompile(`(\d+) bytes spill stores`)

// usage matches what ptxas reports for the only kernel.
var usage = regexp.MustCompile(`(?s)Function properties.*`)

// fewSpills is the limit of spilled bytes where three warpgroups share the registers of an
// SM: values that a thread needs from one item to the next, not in its inner loop.
const fewSpills = 80

// TestResources compiles the variants with ptxas. They spill almost no registers, setmaxnreg
// is not ignored, and no wgmma is serialised.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	for turn, d := range testedDims() {
		configs := variants(d)
		if !*full && d <= 128 {
			configs = []Config{Throughput(d, 3), Latency(d)}
			if d == 64 {
				configs = append(configs, Throughput(d, 4), TwoPairs(), SplitKeys(2))
			}
		}
		for _, c := range configs {
			t.Run(fmt.Sprintf("D %d %v", d, c), func(t *testing.T) {
				t.Parallel()
				compile(t, c.able(mixed(d, 1, 1, turn)), c)
			})
		}
	}
	p := heads(deepSeek, 1, 1, 0)
	for _, c := range designed(p) {
		t.Run(fmt.Sprintf("D %v %v", deepSeek, c), func(t *testing.T) {
			t.Parallel()
			compile(t, c.able(p), c)
		})
	}
}

// compile compiles a kernel with ptxas, and reports what it should not say.
func compile(t *testing.T, p problem.Attention, c Config) {
	k, err := New(p, c)
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "kernel.ptx")
	if err := os.WriteFile(in, []byte(k.PTX), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ptxas", "-v", "-arch", "sm_90a", "-o", os.DevNull, in).CombinedOutput()
	if err != nil {
		t.Fatalf("ptxas: %v\n%s", err, out)
	}
	t.Logf("%s", usage.Find(out))
	found := spills.FindSubmatch(out)
	if found == nil {
		t.Fatalf("ptxas says nothing of spills: %s", out)
	}
	if n, err := strconv.Atoi(string(found[1])); err != nil || n > fewSpills || n > 0 && c.Warpgroups < 3 || strings.Contains(string(out), "arning") || strings.Contains(string(out), "serialized") {
		t.Errorf("%s", out)
	}
}
