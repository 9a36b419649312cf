package profile

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestSampledLikeComplete predicts kernels whose blocks merge each other's parts from a few blocks, and from a run of all
// blocks. The merge of the parts must be in both.
func TestSampledLikeComplete(t *testing.T) {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernel string
		p      problem.Attention
		quick  bool
	}{
		{"hopper-balanced", problem.Attention{Shape: problem.Square(1, 8, 1024, 64)}, true},
		{"hopper-balanced", problem.Attention{Shape: problem.Square(1, 16, 1024, 128)}, false},
		{"hopper-balanced", problem.Attention{Shape: problem.Square(2, 8, 1024, 128), Causal: true}, true},
		{"hopper-balanced", problem.Attention{Shape: problem.Square(1, 9, 1024, 256)}, false},
		{"hopper-balanced", problem.Attention{Shape: problem.Square(1, 9, 1024, 256), Causal: true}, false},
		{"decode", problem.Attention{Shape: problem.Shape{B: 3, Hq: 16, Hkv: 4, Sq: 1, Skv: 4000, D: 128}}, true},
	} {
		if !c.quick && !*full {
			continue
		}
		t.Run(fmt.Sprint(c.kernel, " ", c.p.Shape, " ", c.p.Causal), func(t *testing.T) {
			c.p.Format = problem.E4M3
			s, err := lab.Preset(c.kernel, c.p, kernel.Chip{SMs: chip.SMs})
			if err != nil {
				t.Fatal(err)
			}
			few, err := lab.Trace(t.Context(), s, c.p.Shape, chip.SMs, warptrace.Spread(samples(c.p.Shape)))
			if err != nil {
				t.Fatal(err)
			}
			all, err := lab.Trace(t.Context(), s, c.p.Shape, chip.SMs, func(int, int) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			launch := all.Launches[0]
			launch.Clusters = slices.DeleteFunc(launch.Clusters, func(c *warptrace.Cluster) bool { // the same blocks, of a run of all
				return !slices.ContainsFunc(few.Launches[0].Clusters, func(s *warptrace.Cluster) bool { return s.Index == c.Index })
			})
			sampled := predict.Of(predict.Work{Trace: few.Launches[0], Bytes: few.Bytes, Workspaces: few.Workspaces}, chip)
			complete := predict.Of(predict.Work{Trace: launch, Bytes: all.Bytes, Workspaces: all.Workspaces}, chip)
			t.Logf("%d clusters: %.2f µs from a sample, %.2f µs from all", launch.Count, sampled.Micros, complete.Micros)
			if off := sampled.Micros/complete.Micros - 1; !(math.Abs(off) <= 0.02) {
				t.Errorf("%.2f µs from a sample of the blocks, and %.2f µs from all: %+.1f %%", sampled.Micros, complete.Micros, 100*off)
			}
		})
	}
}
