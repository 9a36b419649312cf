package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// The f32 operations for which package simd has loops. With .ftz, lanes whose results are
// near the lower end of the normal range are computed again one by one. Until then d must
// not overwrite the operands, which may be the same register.

func addF32Lanes(d, a, b *machine.Lanes32) {
	if !simd.Has {
		addF32Plain(d, a, b)
		return
	}
	simd.AddF32(d, a, b)
}

func mulF32Lanes(d, a, b *machine.Lanes32) {
	if !simd.Has {
		mulF32Plain(d, a, b)
		return
	}
	simd.MulF32(d, a, b)
}

func fmaF32Lanes(d, a, b, c *machine.Lanes32) {
	if !simd.Has {
		fmaF32Plain(d, a, b, c)
		return
	}
	simd.FmaF32(d, a, b, c)
}

func addFtzLanes(d, a, b *machine.Lanes32) {
	if !simd.Has {
		addFtzPlain(d, a, b)
		return
	}
	var t machine.Lanes32
	for left := simd.AddF32Daz(&t, a, b); left != 0; left &= left - 1 {
		l := bits.TrailingZeros32(left) & 31
		t[l] = scalar.FtzF32(t[l])
	}
	*d = t
}

func mulFtzLanes(d, a, b *machine.Lanes32) {
	if !simd.Has {
		mulFtzPlain(d, a, b)
		return
	}
	var t machine.Lanes32
	for left := simd.MulF32Daz(&t, a, b); left != 0; left &= left - 1 {
		l := bits.TrailingZeros32(left) & 31
		t[l] = scalar.MulFtzF32(a[l], b[l])
	}
	*d = t
}

func fmaFtzLanes(d, a, b, c *machine.Lanes32) {
	if !simd.Has {
		fmaFtzPlain(d, a, b, c)
		return
	}
	var t machine.Lanes32
	for left := simd.FmaF32Daz(&t, a, b, c); left != 0; left &= left - 1 {
		l := bits.TrailingZeros32(left) & 31
		t[l] = scalar.FmaFtzF32(a[l], b[l], c[l])
	}
	*d = t
}
