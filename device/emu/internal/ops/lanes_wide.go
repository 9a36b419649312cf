package ops

import "github.com/GOATnote-Inc/attest/device/emu/internal/machine"

// The instructions that compute addresses: 32-bit indices become 64-bit offsets. See
// lanes.go.

type (
	lanesWiden1 func(d *machine.Lanes64, a *machine.Lanes32)
	lanesWiden2 func(d *machine.Lanes64, a, b *machine.Lanes32)
	lanesWiden3 func(d *machine.Lanes64, a, b *machine.Lanes32, c *machine.Lanes64)
	lanesShift  func(d, a *machine.Lanes64, b *machine.Lanes32)
)

func hotWiden1(d *decoder, x *inst, k lanesWiden1) exec {
	rd, ra := dstOf[uint64](d, x, "d").s, srcOf[uint32](d, x, "a").s
	return func(f *frame, m uint32) {
		to := f.Result64(rd, m)
		k(to, &f.R32[ra])
		f.Commit64(rd, m)
	}
}

func hotWiden2(d *decoder, x *inst, k lanesWiden2) exec {
	rd, ra, rb := dstOf[uint64](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s
	return func(f *frame, m uint32) {
		to := f.Result64(rd, m)
		k(to, &f.R32[ra], &f.R32[rb])
		f.Commit64(rd, m)
	}
}

func hotWiden3(d *decoder, x *inst, k lanesWiden3) exec {
	rd, ra, rb, rc := dstOf[uint64](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, srcOf[uint64](d, x, "c").s
	return func(f *frame, m uint32) {
		to := f.Result64(rd, m)
		k(to, &f.R32[ra], &f.R32[rb], &f.R64[rc])
		f.Commit64(rd, m)
	}
}

func hotShift(d *decoder, x *inst, k lanesShift) exec {
	rd, ra, rb := dstOf[uint64](d, x, "d").s, srcOf[uint64](d, x, "a").s, srcOf[uint32](d, x, "b").s
	return func(f *frame, m uint32) {
		to := f.Result64(rd, m)
		k(to, &f.R64[ra], &f.R32[rb])
		f.Commit64(rd, m)
	}
}

func extendU32Lanes(d *machine.Lanes64, a *machine.Lanes32) {
	for l := range d {
		d[l] = uint64(a[l])
	}
}

func extendS32Lanes(d *machine.Lanes64, a *machine.Lanes32) {
	for l := range d {
		d[l] = uint64(int32(a[l]))
	}
}

func mulWideU32Lanes(d *machine.Lanes64, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = uint64(a[l]) * uint64(b[l])
	}
}

func mulWideS32Lanes(d *machine.Lanes64, a, b *machine.Lanes32) {
	for l := range d {
		d[l] = uint64(int64(int32(a[l])) * int64(int32(b[l])))
	}
}

func madWideU32Lanes(d *machine.Lanes64, a, b *machine.Lanes32, c *machine.Lanes64) {
	for l := range d {
		d[l] = uint64(a[l])*uint64(b[l]) + c[l]
	}
}

func madWideS32Lanes(d *machine.Lanes64, a, b *machine.Lanes32, c *machine.Lanes64) {
	for l := range d {
		d[l] = uint64(int64(int32(a[l]))*int64(int32(b[l]))) + c[l]
	}
}

func shl64Lanes(d, a *machine.Lanes64, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] << b[l]
	}
}

func shr64Lanes(d, a *machine.Lanes64, b *machine.Lanes32) {
	for l := range d {
		d[l] = a[l] >> b[l]
	}
}
