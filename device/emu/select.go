package emu

import (
	"math"

	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

// buildSelp is selp: a where c holds, else b.
func buildSelp(d *decoder, x *inst) exec {
	c := d.truth(x.Arg("c"))
	return choose(d, x, x.Type("d"), func(f *frame, m uint32) uint32 { return c.of(f) })
}

// buildSlct is slct: a where c is not negative, else b.
func buildSlct(d *decoder, x *inst) exec {
	c := srcOf[uint32](d, x, "c")
	ask := func(a uint32) bool { return int32(a) >= 0 }
	if x.Type("c") == ptx.F32 {
		ask = func(a uint32) bool { return math.Float32frombits(a) >= 0 }
		if x.Has("ftz") {
			ask = func(a uint32) bool { return math.Float32frombits(scalar.FtzF32(a)) >= 0 }
		}
	}
	return choose(d, x, x.Type("d"), func(f *frame, m uint32) (v uint32) {
		eachLane(m, func(l int) { v |= bit(ask(c.get(f, l))) << l })
		return v
	})
}

// choose writes a where the test holds and b elsewhere.
func choose(d *decoder, x *inst, t ptx.Type, c test) exec {
	d.fits(x, "d")
	d.fits(x, "a")
	d.fits(x, "b")
	rd, a, b := d.dst(x.Arg("d"), t), d.src(x.Arg("a"), t), d.src(x.Arg("b"), t)
	if widthOf(t) == w64 {
		return func(f *frame, m uint32) { pick(&f.r64[rd], &f.r64[a], &f.r64[b], m, c(f, m)) }
	}
	return func(f *frame, m uint32) { pick(&f.r32[rd], &f.r32[a], &f.r32[b], m, c(f, m)) }
}

// pick selects without branches: which lanes hold is data, and unpredictable.
func pick[E uint32 | uint64](d, a, b *[32]E, m, c uint32) {
	if m == fullMask {
		for l := range d {
			d[l] = b[l] ^ (a[l]^b[l])&-E(c&1)
			c >>= 1
		}
		return
	}
	move(d, b, m&^c)
	move(d, a, m&c)
}
