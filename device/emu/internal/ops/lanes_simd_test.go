package ops

import (
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// edgeF32 are numbers at which implementations of f32 operations tend to be wrong.
var edgeF32 = []uint32{
	0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x01000000,
	0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x34000000, 0x33800000, 0x20000000, 0x1fffffff, 0x20000001,
	0x7f7fffff, 0xff7fffff, 0x7f000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345, 0x7fffffff,
}

// operandsF32 draws operands: numbers of edgeF32, random bits, ordinary numbers, and
// numbers whose products are close to the smallest normal number.
func operandsF32(r *rand.Rand) (v machine.Lanes32) {
	for l := range v {
		switch r.IntN(4) {
		case 0:
			v[l] = edgeF32[r.IntN(len(edgeF32))]
		case 1:
			v[l] = r.Uint32()
		case 2:
			v[l] = 0x3f000000 + r.Uint32()>>7 | r.Uint32()&0x80000000
		case 3:
			v[l] = 0x1fe00000 + r.Uint32()>>10 | r.Uint32()&0x80000000
		}
	}
	return v
}

// TestLanesArePlain compares the assembly with the Go code, including calls where the
// result overwrites an operand.
func TestLanesArePlain(t *testing.T) {
	if !simd.Has {
		t.Skip("this processor lacks the instructions that package simd needs")
	}
	three := func(k lanes2) lanes3 { return func(d, a, b, _ *machine.Lanes32) { k(d, a, b) } }
	for _, c := range []struct {
		name        string
		fast, plain lanes3
	}{
		{"add", three(addF32Lanes), three(addF32Plain)}, {"add.ftz", three(addFtzLanes), three(addFtzPlain)},
		{"mul", three(mulF32Lanes), three(mulF32Plain)}, {"mul.ftz", three(mulFtzLanes), three(mulFtzPlain)},
		{"fma", fmaF32Lanes, fmaF32Plain}, {"fma.ftz", fmaFtzLanes, fmaFtzPlain},
	} {
		r := rand.New(rand.NewPCG(7, 8))
		for round := range 20000 {
			x, y, z := operandsF32(r), operandsF32(r), operandsF32(r)
			var want machine.Lanes32
			c.plain(&want, &x, &y, &z)
			a, b, e := x, y, z
			got := []*machine.Lanes32{&a, &b, &e}[round%3]
			c.fast(got, &a, &b, &e)
			for l := range got {
				if got[l] != want[l] {
					t.Fatalf("%s of %#x, %#x, %#x is %#x, want %#x", c.name, x[l], y[l], z[l], got[l], want[l])
				}
			}
		}
	}
}
