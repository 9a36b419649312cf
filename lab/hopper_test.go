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

// TestHopper judges the designs for Hopper as it does all others.
func TestHopper(t *testing.T) {
	for i, name := range hopperNames {
		if i == 2 && testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, err := Preset(name, Choice{LSE: true, Causal: i == 1})
			if err != nil {
				t.Fatal(err)
			}
			p := smaller(quickly())
			p.Defects.Shapes, p.Defects.Schedules = p.Defects.Shapes[1:], p.Defects.Schedules[:2]
			p.Cases = p.Cases[2:5]
			_, v := measure(t, s, p)
			wants(t, v, record.Defer, "no GPU")
		})
	}
}

// TestHopperLaunch compares the ABI with what kernels/attn/hopper says itself; that
// the grid is right, TestHopper shows.
func TestHopperLaunch(t *testing.T) {
	for _, name := range hopperNames {
		for _, d := range []int{64, 128} {
			c := hopperConfig(name, d)
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
