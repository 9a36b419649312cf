package emu

// The instructions that programs execute most have loops of their own over whole
// registers: a call for each lane would cost more than the operation. Under a
// partial mask they compute all lanes aside and keep those of the mask.

type (
	lanes1   func(d, a *lanes32)
	lanes2   func(d, a, b *lanes32)
	lanes3   func(d, a, b, c *lanes32)
	lanes2x2 func(d, a, b *lanes64)
)

func whole1(d, a slot, k lanes1) exec {
	return func(f *frame, m uint32) {
		if m == fullMask {
			k(&f.r32[d], &f.r32[a])
			return
		}
		k(&f.aside32, &f.r32[a])
		move(&f.r32[d], &f.aside32, m)
	}
}

func whole2(d, a, b slot, k lanes2) exec {
	return func(f *frame, m uint32) {
		if m == fullMask {
			k(&f.r32[d], &f.r32[a], &f.r32[b])
			return
		}
		k(&f.aside32, &f.r32[a], &f.r32[b])
		move(&f.r32[d], &f.aside32, m)
	}
}

func whole3(d, a, b, c slot, k lanes3) exec {
	return func(f *frame, m uint32) {
		if m == fullMask {
			k(&f.r32[d], &f.r32[a], &f.r32[b], &f.r32[c])
			return
		}
		k(&f.aside32, &f.r32[a], &f.r32[b], &f.r32[c])
		move(&f.r32[d], &f.aside32, m)
	}
}

func wide2(d, a, b slot, k lanes2x2) exec {
	return func(f *frame, m uint32) {
		if m == fullMask {
			k(&f.r64[d], &f.r64[a], &f.r64[b])
			return
		}
		k(&f.aside64, &f.r64[a], &f.r64[b])
		move(&f.r64[d], &f.aside64, m)
	}
}

// hot2 and hot3 decode the operands of such an instruction.

func hot2(d *decoder, x *inst, k lanes2) exec {
	return whole2(dstOf[uint32](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, k)
}

func hot3(d *decoder, x *inst, k lanes3) exec {
	return whole3(dstOf[uint32](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, srcOf[uint32](d, x, "c").s, k)
}

func hotWide2(d *decoder, x *inst, k lanes2x2) exec {
	return wide2(dstOf[uint64](d, x, "d").s, srcOf[uint64](d, x, "a").s, srcOf[uint64](d, x, "b").s, k)
}

func addLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] + b[l]
	}
}

func subLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] - b[l]
	}
}

func mulLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] * b[l]
	}
}

func madLanes(d, a, b, c *lanes32) {
	for l := range d {
		d[l] = a[l]*b[l] + c[l]
	}
}

func andLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] & b[l]
	}
}

func orLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] | b[l]
	}
}

func xorLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] ^ b[l]
	}
}

func shlLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] << b[l]
	}
}

func shrLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = a[l] >> b[l]
	}
}

func sarLanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = uint32(int32(a[l]) >> b[l])
	}
}

func minU32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = min(a[l], b[l])
	}
}

func maxU32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = max(a[l], b[l])
	}
}

func minS32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = uint32(min(int32(a[l]), int32(b[l])))
	}
}

func maxS32Lanes(d, a, b *lanes32) {
	for l := range d {
		d[l] = uint32(max(int32(a[l]), int32(b[l])))
	}
}

func add64Lanes(d, a, b *lanes64) {
	for l := range d {
		d[l] = a[l] + b[l]
	}
}

func sub64Lanes(d, a, b *lanes64) {
	for l := range d {
		d[l] = a[l] - b[l]
	}
}
