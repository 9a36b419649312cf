package ops

import (
	"math"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

// buildSelp builds selp: a where c holds, else b.
func buildSelp(d *decoder, x *inst) exec {
	c := truthOf(d, x.Arg("c"))
	return choose(d, x, x.Type("d"), func(f *frame, m uint32) uint32 { return c.lanes(f) })
}

// buildSlct builds slct: a where c is not negative, else b.
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
		machine.EachLane(m, func(l int) { v |= bit(ask(c.get(f, l))) << l })
		return v
	})
}

// choose builds an instruction that writes a where the test holds and b elsewhere.
func choose(d *decoder, x *inst, t ptx.Type, c test) exec {
	d.CheckWidth(x, "d")
	d.CheckWidth(x, "a")
	d.CheckWidth(x, "b")
	rd, a, b := d.Dst(x.Arg("d"), t), d.Src(x.Arg("a"), t), d.Src(x.Arg("b"), t)
	if machine.WidthOf(t) == machine.W64 {
		return func(f *frame, m uint32) { pick(&f.R64[rd], &f.R64[a], &f.R64[b], m, c(f, m)) }
	}
	return func(f *frame, m uint32) { pick(&f.R32[rd], &f.R32[a], &f.R32[b], m, c(f, m)) }
}

// pick selects without branches, because the processor cannot predict a condition that
// depends on data.
func pick[E uint32 | uint64](d, a, b *[32]E, m, c uint32) {
	if m == machine.FullMask {
		for l := range d {
			d[l] = b[l] ^ (a[l]^b[l])&-E(c&1)
			c >>= 1
		}
		return
	}
	machine.MoveLanes(d, b, m&^c)
	machine.MoveLanes(d, a, m&c)
}
