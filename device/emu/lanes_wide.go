package emu

// The instructions that addresses are made with: 32-bit indices become 64-bit
// offsets. See lanes.go.

type (
	lanesWiden1 func(d *lanes64, a *lanes32)
	lanesWiden2 func(d *lanes64, a, b *lanes32)
	lanesWiden3 func(d *lanes64, a, b *lanes32, c *lanes64)
	lanesShift  func(d, a *lanes64, b *lanes32)
)

func hotWiden1(d *decoder, x *inst, k lanesWiden1) exec {
	rd, ra := dstOf[uint64](d, x, "d").s, srcOf[uint32](d, x, "a").s
	return func(f *frame, m uint32) {
		to := f.whole64(rd, m)
		k(to, &f.r32[ra])
		f.keep64(rd, m)
	}
}

func hotWiden2(d *decoder, x *inst, k lanesWiden2) exec {
	rd, ra, rb := dstOf[uint64](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s
	return func(f *frame, m uint32) {
		to := f.whole64(rd, m)
		k(to, &f.r32[ra], &f.r32[rb])
		f.keep64(rd, m)
	}
}

func hotWiden3(d *decoder, x *inst, k lanesWiden3) exec {
	rd, ra, rb, rc := dstOf[uint64](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, srcOf[uint64](d, x, "c").s
	return func(f *frame, m uint32) {
		to := f.whole64(rd, m)
		k(to, &f.r32[ra], &f.r32[rb], &f.r64[rc])
		f.keep64(rd, m)
	}
}

func hotShift(d *decoder, x *inst, k lanesShift) exec {
	rd, ra, rb := dstOf[uint64](d, x, "d").s, srcOf[uint64](d, x, "a").s, srcOf[uint32](d, x, "b").s
	return func(f *frame, m uint32) {
		to := f.whole64(rd, m)
		k(to, &f.r64[ra], &f.r32[rb])
		f.keep64(rd, m)
	}
}

// whole64 is where all lanes of a result are computed: in their register, or aside
// when only some of them count. keep64 then takes those over.
func (f *frame) whole64(d slot, m uint32) *lanes64 {
	if m == fullMask {
		return &f.r64[d]
	}
	return &f.aside64
}

func (f *frame) keep64(d slot, m uint32) {
	if m != fullMask {
		move(&f.r64[d], &f.aside64, m)
	}
}

func extendU32Lanes(d *lanes64, a *lanes32) {
	for l := range d {
		d[l] = uint64(a[l])
	}
}

func extendS32Lanes(d *lanes64, a *lanes32) {
	for l := range d {
		d[l] = uint64(int32(a[l]))
	}
}

func mulWideU32Lanes(d *lanes64, a, b *lanes32) {
	for l := range d {
		d[l] = uint64(a[l]) * uint64(b[l])
	}
}

func mulWideS32Lanes(d *lanes64, a, b *lanes32) {
	for l := range d {
		d[l] = uint64(int64(int32(a[l])) * int64(int32(b[l])))
	}
}

func madWideU32Lanes(d *lanes64, a, b *lanes32, c *lanes64) {
	for l := range d {
		d[l] = uint64(a[l])*uint64(b[l]) + c[l]
	}
}

func madWideS32Lanes(d *lanes64, a, b *lanes32, c *lanes64) {
	for l := range d {
		d[l] = uint64(int64(int32(a[l]))*int64(int32(b[l]))) + c[l]
	}
}

func shl64Lanes(d, a *lanes64, b *lanes32) {
	for l := range d {
		d[l] = a[l] << b[l]
	}
}

func shr64Lanes(d, a *lanes64, b *lanes32) {
	for l := range d {
		d[l] = a[l] >> b[l]
	}
}
