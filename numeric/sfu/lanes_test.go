package sfu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// edges are arguments at which implementations of the functions tend to be wrong.
var edges = []uint32{
	0, 1, 0x007fffff, 0x00800000, 0x00800001, 0x33800000, 0x3f000000, 0x3f7fffff, one, one + 1, 0x40000000, 0x40800000, 0x42fe0000,
	0x42fdffff, 0x42ffffff, 0x43000000, 0x42fc0000, 0x42fc0001, 0x43150000, 0x43160000, 0x7e800000, 0x7effffff, 0x7f000000, 0x7f000001,
	0x7f7fffff, inf, 0x7f800001, 0x7fc00000, nan, 0x40c90fdb, 0x41200000, 0x3b7fffff, 0x3b800000, 0x40ffffff, 0x41000000, 0x4b800000,
}

// TestLanes compares the functions of whole registers with the functions of one argument. In
// half of the calls the result overwrites the arguments.
func TestLanes(t *testing.T) {
	for _, c := range []struct {
		name  string
		lanes Func
		one   func(uint32, bool) uint32
	}{
		{"ex2", FuncEx2, Ex2}, {"rcp", FuncRcp, Rcp}, {"sqrt", FuncSqrt, Sqrt}, {"rsqrt", FuncRsqrt, Rsqrt},
		{"lg2", FuncLg2, Lg2}, {"sin", FuncSin, Sin}, {"cos", FuncCos, Cos}, {"tanh", FuncTanh, Tanh},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for round := range 20000 {
				var x, got [32]uint32
				for l := range x {
					switch r.IntN(3) {
					case 0:
						x[l] = edges[r.IntN(len(edges))] | r.Uint32()&sign
					case 1:
						x[l] = r.Uint32()
					default:
						x[l] = math.Float32bits(float32(r.NormFloat64() * 16))
					}
				}
				ftz, to := round&1 != 0, &got
				from := x
				if round&2 != 0 {
					to = &from
				}
				c.lanes.Lanes(to, &from, ftz)
				for l := range to {
					if want := c.one(x[l], ftz); to[l] != want {
						t.Fatalf("%s of %#x with ftz %t is %#x, want %#x", c.name, x[l], ftz, to[l], want)
					}
				}
			}
		})
	}
}
