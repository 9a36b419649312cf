package ops

import (
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/sfu"
)

// TestDivLanes compares the divisions of a warp with those of one lane.
func TestDivLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	edges := []uint32{0, 1, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000, 0x7e7fffff, 0x7e800000, 0x7e800001, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7fffffff}
	pick := func() uint32 {
		if r.IntN(3) == 0 {
			return edges[r.IntN(len(edges))] | r.Uint32()&negZero
		}
		return r.Uint32()
	}
	for i := range 4000 {
		full, ftz := i&1 != 0, i&2 != 0
		var d, a, b machine.Lanes32
		for l := range a {
			a[l], b[l] = pick(), pick()
		}
		divLanes(full, ftz)(&d, &a, &b)
		for l := range d {
			if want := divOne(a[l], b[l], full, ftz); d[l] != want {
				t.Fatalf("full %v, ftz %v: %#x / %#x is %#x, want %#x", full, ftz, a[l], b[l], d[l], want)
			}
		}
	}
}

// divOne divides as ptxas compiles div.full and div.approx.
func divOne(a, b uint32, full, ftz bool) uint32 {
	mul := scalar.MulF32
	if ftz {
		mul = scalar.MulFtzF32
	}
	switch mag := b &^ negZero; {
	case full && mag > 0x7e800000 && mag <= 0x7f800000:
		a, b = mul(a, 0x3e800000), mul(b, 0x3e800000)
	case !ftz && mag < 0x00800000:
		a, b = mul(a, 0x4b800000), mul(b, 0x4b800000)
	}
	return mul(sfu.Rcp(b, true), a)
}
