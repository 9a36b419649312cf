package cuda_test

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

const emptyText = `.version 7.0
.target sm_52
.address_size 64
.visible .entry empty(.param .u64 p, .param .u64 q, .param .f32 a, .param .u32 n)
{
	ret;
}
`

// TestLaunchOverhead compares the cost of a launch with the cost in the C program
// testdata/launch.c. Both are measured in turns. ATTEST_C_LAUNCH is the path of the compiled
// C program.
func TestLaunchOverhead(t *testing.T) {
	program := os.Getenv("ATTEST_C_LAUNCH")
	if program == "" {
		t.Skip("ATTEST_C_LAUNCH does not name a build of testdata/launch.c")
	}
	d := gpu(t)
	k := loadKernel(t, d, "empty.ptx", emptyText, "empty")
	s := newStream(t, d)
	var ours, theirs []float64
	for range 5 {
		out, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		c, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			t.Fatal(err)
		}
		theirs = append(theirs, c)
		ours = append(ours, launchCost(t, k, s))
	}
	a, b := median(ours), median(theirs)
	t.Logf("a launch: %.0f ns in Go %v, %.0f ns in C %v, %.0f ns more", a, ours, b, theirs, a-b)
	if a-b > 1000 {
		t.Errorf("a launch costs %.0f ns more than in C", a-b)
	}
}

// launchCost returns the time of a launch on the host in nanoseconds, as the median over
// batches.
func launchCost(t *testing.T, k device.Kernel, s device.Stream) float64 {
	t.Helper()
	const batches, warm, launches = 220, 20, 256
	l := device.Launch{
		Grid: device.D(1), Block: device.D(32),
		Params: []device.Param{device.U64(0), device.U64(0), device.F32(1), device.U32(1)},
	}
	var each []float64
	for range batches {
		start := time.Now()
		for range launches {
			if err := s.Launch(k, l); err != nil {
				t.Fatal(err)
			}
		}
		each = append(each, float64(time.Since(start).Nanoseconds())/launches)
		check(t, s.Sync(t.Context()))
	}
	return median(each[warm:])
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
