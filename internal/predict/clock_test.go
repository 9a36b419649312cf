package predict

import (
	"math"
	"testing"
)

// load is the profile of a launch that keeps the tensor cores and the issue slots of all SMs busy for shares of its time.
func load(micros, tensor, issue float64) *Profile {
	return &Profile{Micros: micros, Blocks: 132, Units: []Busy{{Tensor, tensor * micros}, {Exp, micros}, {Issue, issue * micros}, {Shared, micros}}}
}

// TestMeasuredClocks compares with the clocks that NVML read on an H200 in long launches of attention kernels. ncu counted how
// busy their tensor cores and issue slots are.
func TestMeasuredClocks(t *testing.T) {
	h200 := chip(t, "H200")
	for _, c := range []struct {
		name                    string
		micros, tensor, issue   float64
		lowest, highest, atMost float64 // MHz; 2 % beyond the measured clocks are allowed
	}{
		{"2,32,16384,64", 6006, 0.40, 0.55, 1882, 1927, 0.02},
		{"2,16,16384,128", 4480, 0.52, 0.47, 1770, 1807, 0.02},
		{"1,1,94336,256", 8634, 0.63, 0.34, 1627, 1702, 0.02},
		{"1,8,2048,64", 15.5, 0.40, 0.55, 1980, 1980, 0},
		{"1,1,9621,256", 95.7, 0.63, 0.34, 1980, 1980, 0},
		{"stage0", 325, 0, 0.7, 1980, 1980, 0},
	} {
		if got := clock(&h200, load(c.micros, c.tensor, c.issue)); got < c.lowest*(1-c.atMost) || got > c.highest*(1+c.atMost) {
			t.Errorf("%s: %v MHz, measured %v to %v", c.name, got, c.lowest, c.highest)
		}
	}
}

// TestClock computes clocks by hand, for a chip that would draw 8 times the power that its limit allows: half of the clock.
func TestClock(t *testing.T) {
	c := with(t, 132, map[string]float64{"power_w": 150, "idle_w": 50, "tensor_w": 1000, "issue_w": 600, "boost_us": 100, "limited_us": 10000})
	for _, x := range []struct {
		name string
		p    *Profile
		want float64
	}{
		{"all SMs", load(20000, 0.5, 0.5), 500},
		{"the end of the ramp", load(10000, 0.5, 0.5), 500},
		{"the middle of the ramp", load(1000, 0.5, 0.5), 750},
		{"its begin", load(100, 0.5, 0.5), 1000},
		{"short", load(1, 0.5, 0.5), 1000},
		{"tensor cores alone", load(20000, 0.8, 0), 500},
		{"within the limit", load(20000, 0.1, 0), 1000},
		{"nothing", load(20000, 0, 0), 1000},
	} {
		if got := clock(&c, x.p); math.Abs(got-x.want) > 0.5 {
			t.Errorf("%s: %v MHz, want %v", x.name, got, x.want)
		}
	}
	few := load(20000, 0.5, 0.5)
	if few.Blocks = 33; math.Abs(clock(&c, few)-1000*math.Cbrt(0.5)) > 0.5 { // a quarter of the SMs draws 200 W
		t.Errorf("33 of 132 SMs: %v MHz", clock(&c, few))
	}
	if few.Blocks = 1000; clock(&c, few) != 500 {
		t.Errorf("more blocks than SMs: %v MHz", clock(&c, few))
	}
}
