package resources

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// mostOff is how far an estimate may be from the count of ptxas, as a share of the count.
const mostOff = 0.15

// TestEstimate compares the estimates for our kernels with the counts of ptxas.
func TestEstimate(t *testing.T) {
	data, err := os.ReadFile("testdata/ptxas.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name, mask, target string
		var d, want int
		if _, err := fmt.Sscan(line, &name, &d, &mask, &target, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if seen++; testing.Short() && seen%4 != 0 {
			continue
		}
		p := problem.Attention{Shape: problem.Square(1, 8, 512, d), Causal: mask == "causal"}.Filled()
		chip := kernel.Chip{Target: parseTarget(t, target)}
		k, err := kernels.Build(name, p, chip)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Of(t.Context(), name+".ptx", k.PTX, chip.Target, Asked{})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Usage(k.Launches[0].Entry).Registers
		if off := math.Abs(float64(got.Value-want)) / float64(want); got.Source != Estimate || off > mostOff {
			t.Errorf("%s, D %d, mask %s: %v registers, ptxas has %d", name, d, mask, got, want)
		}
	}
	if seen < 40 {
		t.Errorf("the file has %d kernels", seen)
	}
}

func parseTarget(t *testing.T, name string) ptx.Target {
	t.Helper()
	target, err := ptx.ParseTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}
