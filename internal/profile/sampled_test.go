package profile

import (
	"fmt"
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
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
			wants := warptrace.Spread(samples(c.p.Shape))
			rec := &warptrace.Recorder{Wants: wants}
			dev, err := emu.New(s.Target, emu.Options{Observer: rec})
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Close()
			if err := lab.Launch(t.Context(), dev, s, c.p.Shape, 1); err != nil {
				t.Fatal(err)
			}
			traced, err := lab.Trace(t.Context(), s, c.p.Shape, dev.Info().SMs, wants)
			if err != nil {
				t.Fatal(err)
			}
			sampled := predict.Of(predict.Work{Trace: traced.Launches[0], Bytes: traced.Bytes}, chip)
			complete := predict.Of(predict.Work{Trace: rec.Launches()[0], Bytes: traced.Bytes}, chip)
			t.Logf("%d clusters: %.2f µs from a sample, %.2f µs from all", traced.Launches[0].Count, sampled.Micros, complete.Micros)
			if off := sampled.Micros/complete.Micros - 1; !(math.Abs(off) <= 0.02) {
				t.Errorf("%.2f µs from a sample of the blocks, and %.2f µs from all: %+.1f %%", sampled.Micros, complete.Micros, 100*off)
			}
		})
	}
}
