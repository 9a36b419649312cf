package calibrate

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// trafficBytes is the size of the memory that traffic goes through. It fits in the L2.
const trafficBytes = 16 << 20

// traffic measures bytes per cycle and SM between SMs and the L2, 16 bytes per lane by 16 warps: loads,
// loads that use half of each line, stores and cp.async, by one, by half and by all SMs.
func traffic() (list []Probe) {
	const warps, each = 16, 4 // each is the number of accesses of an iteration
	for _, c := range []struct {
		name   string
		what   string
		blocks int
		body   func(f *frame) (func(build.U32), func() build.U32)
	}{
		{"sm_bytes", "ld.global.cg", 1, loads(1)},
		{"l2_bytes_64", "ld.global.cg", 64, loads(1)},
		{"l2_bytes", "ld.global.cg", allSMs, loads(1)},
		{"l2_half_bytes_1", "ld.global.cg of half of each line", 1, loads(2)},
		{"l2_half_bytes", "ld.global.cg of half of each line", allSMs, loads(2)},
		{"store_bytes_1", "st.global", 1, stores},
		{"store_bytes_64", "st.global", 64, stores},
		{"store_bytes", "st.global", allSMs, stores},
		{"copy_bytes_1", "cp.async.cg", 1, asyncCopies(1)},
		{"copy_bytes_64", "cp.async.cg", 64, asyncCopies(1)},
		{"copy_bytes", "cp.async.cg", allSMs, asyncCopies(1)},
		{"copy_half_bytes", "cp.async.cg of half of each line", allSMs, asyncCopies(2)},
	} {
		list = append(list, Probe{
			Name: c.name, Unit: "bytes/cycle", Doc: fmt.Sprintf("bytes per cycle and SM between %d MiB in the L2 and the SMs, %s of 16 bytes per lane by %d warps", trafficBytes>>20, c.what, warps),
			Target: ptx.SM80, warps: warps, blocks: c.blocks, memory: trafficBytes, iterations: [2]int{32, 160}, body: c.body, value: rate(each * 16 * 32 * warps),
		})
	}
	return list
}

// piece returns the address of the thread's 16 bytes in access j of iteration i. The blocks use
// different parts. With spread 2, a group of 4 lanes uses the first half of a line.
func piece(f *frame, i build.U32, j, spread int) build.U64 {
	at := i.MadLo(4, j).MadLo(f.k.NctaidX(), f.k.CtaidX()).MadLo(32*f.warps, f.tid).Add(f.seed)
	if spread == 2 {
		at = at.And(3).Add(at.Shr(2).Shl(3))
	}
	return f.memory.Addr().Add(at.MulLo(16).And(trafficBytes - 1).CvtU64())
}

// loads returns the body of a probe that reads the L2.
func loads(spread int) func(f *frame) (func(build.U32), func() build.U32) {
	return func(f *frame) (func(build.U32), func() build.U32) {
		x := build.NewVar(f.tid)
		step := func(i build.U32) {
			for j := range 4 {
				v := build.GlobalAt[build.U32](piece(f, i, j, spread)).LdV4(build.Cg)
				x.Set(x.Get().Xor(v[0]).Xor(v[1]).Xor(v[2].Xor(v[3])))
			}
		}
		return step, x.Get
	}
}

// stores is the body of a probe that writes the L2.
func stores(f *frame) (func(build.U32), func() build.U32) {
	step := func(i build.U32) {
		for j := range 4 {
			build.GlobalAt[build.U32](piece(f, i, j, 1)).StV4([4]build.U32{i, i, i, i})
		}
	}
	return step, nothing(f)
}

// asyncCopies returns the body of a probe that copies from the L2 to shared memory. Four groups of
// copies are in flight.
func asyncCopies(spread int) func(f *frame) (func(build.U32), func() build.U32) {
	return func(f *frame) (func(build.U32), func() build.U32) {
		s := build.SharedAlign(build.SharedArray[build.U32](f.k, "s", 16*32*4), 16)
		step := func(i build.U32) {
			for j := range 4 {
				f.k.CpAsyncCg(s.At(f.tid.MulLo(4)), build.GlobalAt[build.U32](piece(f, i, j, spread)), 16)
			}
			f.k.CpAsyncCommitGroup()
			f.k.CpAsyncWaitGroup(4)
		}
		return step, nothing(f)
	}
}
