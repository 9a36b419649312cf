package ops

import "github.com/GOATnote-Inc/attest/device/emu/internal/machine"

// The most frequent instructions have their own loops over whole registers, because a call
// for each lane would cost more than the operation. Under a partial mask they compute all
// lanes in a buffer and copy the lanes of the mask.

type (
	lanes2   func(d, a, b *machine.Lanes32)
	lanes3   func(d, a, b, c *machine.Lanes32)
	lanes2x2 func(d, a, b *machine.Lanes64)
)

func whole2(d, a, b slot, k lanes2) exec {
	return func(f *frame, m uint32) {
		to := f.Result32(d, m)
		k(to, &f.R32[a], &f.R32[b])
		f.Commit32(d, m)
	}
}

func whole3(d, a, b, c slot, k lanes3) exec {
	return func(f *frame, m uint32) {
		to := f.Result32(d, m)
		k(to, &f.R32[a], &f.R32[b], &f.R32[c])
		f.Commit32(d, m)
	}
}

// hot2 and hot3 build such an instruction with two or three sources.

func hot2(d *decoder, x *inst, k lanes2) exec {
	return whole2(dstOf[uint32](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, k)
}

func hot3(d *decoder, x *inst, k lanes3) exec {
	return whole3(dstOf[uint32](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, srcOf[uint32](d, x, "c").s, k)
}

func hotWide2(d *decoder, x *inst, k lanes2x2) exec {
	rd, ra, rb := dstOf[uint64](d, x, "d").s, srcOf[uint64](d, x, "a").s, srcOf[uint64](d, x, "b").s
	return func(f *frame, m uint32) {
		to := f.Result64(rd, m)
		k(to, &f.R64[ra], &f.R64[rb])
		f.Commit64(rd, m)
	}
}

func addLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] + b[l]
	}
}

func subLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] - b[l]
	}
}

func mulLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] * b[l]
	}
}

func madLanes(d, a, b, c *machine.Lanes32) {
	for l := range d {
		d[l] = a[l]*b[l] + c[l]
	}
}

func andLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] & b[l]
	}
}

func orLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] | b[l]
	}
}

func xorLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] ^ b[l]
	}
}

func shlLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] << b[l]
	}
}

func shrLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] >> b[l]
	}
}

func sarLanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = uint32(int32(a[l]) >> b[l])
	}
}

func minU32Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = min(a[l], b[l])
	}
}

func maxU32Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = max(a[l], b[l])
	}
}

func minS32Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = uint32(min(int32(a[l]), int32(b[l])))
	}
}

func maxS32Lanes(d, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = uint32(max(int32(a[l]), int32(b[l])))
	}
}

func add64Lanes(d, a, b *machine.Lanes64) {
	for l := range d {
		d[l] = a[l] + b[l]
	}
}

func sub64Lanes(d, a, b *machine.Lanes64) {
	for l := range d {
		d[l] = a[l] - b[l]
	}
}
