package lab

import (
	"encoding/json"
	"testing"

	"attest/device"
	"attest/fp8"
	"attest/kernels/attn/hopper"
	"attest/lab/abi"
	"attest/record"
	"attest/ref"
)

// TestHopper judges a kernel for Hopper as it does all others, causal and not.
func TestHopper(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, causal := range []bool{false, true} {
		s, err := Preset("hopper", Choice{LSE: true, Causal: causal})
		if err != nil {
			t.Fatal(err)
		}
		p := smaller(quickly())
		p.Cases[3] = Case{Shape: length(1, 2, 129), Seed: 0, Distribution: "large-logits"}
		_, v := measure(t, s, p)
		wants(t, v, record.Defer, "no GPU")
	}
}

// TestHopperLaunch compares the ABI with what kernels/attn/hopper says itself; that
// the grid is right, TestHopper shows.
func TestHopperLaunch(t *testing.T) {
	for _, name := range hopperNames {
		for _, d := range []int{64, 128} {
			c := hopper.Throughput(d)
			s, err := Hopper(name, c, Choice{HeadDim: d})
			if err != nil {
				t.Fatal(err)
			}
			want := c.Launch(hopper.Square(2, 3, 100, d, fp8.E4M3), 5)
			got, err := s.ABI.Extents(abi.Vars{Shape: ref.Square(2, 3, 100, d), SMs: 5, BlocksPerSM: 1})
			if err != nil || got.Block != device.D(want.Block) || got.Cluster != device.D(want.Cluster) || got.Shared != want.Shared {
				t.Errorf("%s, D=%d: %+v, %v; want %+v", name, d, got, err, want)
			}
			text, err := json.Marshal(s.ABI)
			if err != nil {
				t.Fatal(err)
			}
			var again abi.ABI
			if err := json.Unmarshal(text, &again); err != nil || len(again.Params) != len(s.ABI.Params) || again.Params[1].TensorMap.Swizzle != s.ABI.Params[1].TensorMap.Swizzle {
				t.Errorf("%v: %+v", err, again)
			}
		}
	}
}
