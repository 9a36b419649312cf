package calibrate

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// groupProducts are wgmma in e4m3: groups of 1, 4 and 8 products and a wait, by the width N and by
// the place of the first factor. Two warpgroups show whether products queue.
func groupProducts() (list []Probe) {
	for _, c := range []struct {
		n, count, groups int
		registers        bool
	}{
		{64, 1, 1, false}, {64, 8, 1, false}, {128, 1, 1, false}, {128, 4, 1, false}, {128, 8, 1, false}, {256, 1, 1, false}, {256, 8, 1, false},
		{64, 1, 1, true}, {64, 8, 1, true}, {128, 8, 1, true}, {256, 8, 1, true}, {72, 4, 1, true},
		{64, 8, 2, false}, {128, 8, 2, false}, {256, 8, 2, false}, {64, 8, 2, true}, {128, 8, 2, true}, {256, 8, 2, true},
	} {
		place := placeName(c.registers)
		n, count := strconv.Itoa(c.n), strconv.Itoa(c.count)
		list = append(list, Probe{
			Name: "wgmma_n" + n + "_x" + count + "_" + place + "_" + strconv.Itoa(c.groups), Unit: "cycles", Target: ptx.SM90a, warps: 4 * c.groups,
			Doc:   count + " wgmma.m64n" + n + "k32 in e4m3 and a wait, first factor in " + place + ", " + strconv.Itoa(c.groups) + " warpgroups",
			body:  func(f *frame) (func(build.U32), func() build.U32) { return wgmmaGroup(f, c.n, c.count, c.registers) },
			value: per(1),
		})
	}
	return list
}

// twoInFlight are wgmma in e4m3 on two sets of accumulators, as kernels compute a product in parts: while
// the tensor cores compute one part, the accumulators of the other one are added up.
func twoInFlight() (list []Probe) {
	for _, c := range []struct {
		n, groups int
		registers bool
	}{{64, 1, true}, {64, 2, true}, {64, 1, false}, {64, 2, false}, {128, 1, true}, {128, 2, true}} {
		place := placeName(c.registers)
		n, groups := strconv.Itoa(c.n), strconv.Itoa(c.groups)
		list = append(list, Probe{
			Name: "wgmma_n" + n + "_x4_x4_" + place + "_" + groups, Unit: "cycles", Target: ptx.SM90a, warps: 4 * c.groups, value: per(1),
			Doc: "two groups of 4 wgmma.m64n" + n + "k32 in e4m3 on two sets of accumulators, which are added up as soon as they are there, first factor in " + place + ", " + groups + " warpgroups",
			body: func(f *frame) (func(build.U32), func() build.U32) {
				return alternating(f, c.n, c.registers)
			},
		})
	}
	return list
}

func placeName(registers bool) string {
	if registers {
		return "registers"
	}
	return "shared"
}

// alternating starts 4 products on each of two sets of accumulators, waits for the first group, adds its accumulators to
// a sum while the second one runs, and then does the same for the second one.
func alternating(f *frame, n int, registers bool) (func(build.U32), func() build.U32) {
	k := f.k
	a, b := factors(f, registers)
	sets := [2][]*build.Var[build.F32]{build.Vars(k.F32(0), n/2), build.Vars(k.F32(0), n/2)}
	total := build.Vars(k.F32(0), n/2)
	step := func(build.U32) {
		k.WgmmaFence()
		for i, set := range sets {
			for j := range 4 {
				// The factors differ, because the assembler merges equal products.
				k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}, set, a, b.Add(uint64(8*(4*i+j))), k.Pred(j > 0))
			}
			k.WgmmaCommitGroup()
		}
		for i, set := range sets {
			k.WgmmaWaitGroup(1 - i)
			for j, v := range set {
				total[j].Set(total[j].Get().Add(v.Get()))
			}
		}
	}
	return step, func() build.U32 { return bits(total) }
}

// besideStores is a loop of wgmma in e4m3 beside stores to shared memory by the same warps: do the factors that
// tensor cores read from shared memory and other accesses share its rate?
func besideStores() (list []Probe) {
	for _, c := range []struct {
		n, products, stores int
		registers           bool
	}{
		{128, 0, 32, false}, {128, 8, 0, false}, {128, 8, 32, false}, {128, 8, 16, false},
		{64, 8, 0, true}, {64, 8, 16, true}, {64, 8, 32, true}, {64, 8, 16, false},
	} {
		place := placeName(c.registers)
		list = append(list, Probe{
			Name: "beside_" + strconv.Itoa(c.products) + "_wgmma_n" + strconv.Itoa(c.n) + "_" + place + "_" + strconv.Itoa(c.stores) + "_sts128_2",
			Unit: "cycles", Target: ptx.SM90a, warps: 8, value: per(1),
			Doc: strconv.Itoa(c.products) + " wgmma.m64n" + strconv.Itoa(c.n) + "k32 in e4m3, first factor in " + place + ", and " + strconv.Itoa(c.stores) + " stores of 16 bytes per lane beside them, 2 warpgroups",
			body: func(f *frame) (func(build.U32), func() build.U32) {
				start, end, sink := wgmmaParts(f, c.n, c.products, c.registers)
				at := build.SharedAlign(build.SharedArray[build.U32](f.k, "other", 4096), 16).At(f.tid.And(31).MulLo(4).Add(f.seed))
				step := func(i build.U32) {
					start()
					for j := range c.stores {
						at.Plus(512*(j%4)).StV4([4]build.U32{i, i, i, i}, build.Volatile)
					}
					end()
				}
				return step, sink
			},
		})
	}
	return list
}

// besideProducts is a loop of wgmma.m64n128k32 beside exponentials and fma that do not depend on it, by one
// or two warpgroups: do tensor cores and other units slow each other down?
func besideProducts() (list []Probe) {
	for _, c := range []struct{ products, exponentials, sums, groups int }{
		{4, 0, 0, 1}, {0, 32, 0, 1}, {4, 32, 0, 1}, {4, 64, 0, 1}, {4, 32, 0, 2}, {4, 64, 0, 2},
		{0, 0, 256, 1}, {4, 0, 256, 1}, {4, 0, 256, 2}, {0, 0, 256, 2}, {4, 32, 128, 2}, {0, 32, 128, 2},
	} {
		name := "beside_" + strconv.Itoa(c.products) + "_wgmma_" + strconv.Itoa(c.exponentials) + "_exp_" + strconv.Itoa(c.sums) + "_fma_" + strconv.Itoa(c.groups)
		list = append(list, Probe{
			Name: name, Unit: "cycles", Target: ptx.SM90a, warps: 4 * c.groups, value: per(1),
			Doc: strconv.Itoa(c.products) + " wgmma.m64n128k32 in e4m3 and " + strconv.Itoa(c.exponentials) + " ex2 and " + strconv.Itoa(c.sums) + " fma beside them, " + strconv.Itoa(c.groups) + " warpgroups",
			body: func(f *frame) (func(build.U32), func() build.U32) {
				start, end, sink := wgmmaParts(f, 128, c.products, false)
				e, x := build.Vars(f.tid.CvtRnF32(), 8), build.Vars(f.tid.CvtRnF32(), 8)
				step := func(build.U32) {
					start()
					for i := range c.sums {
						v := x[i%8]
						v.Set(v.Get().FmaRn(x[(i+1)%8].Get(), x[(i+3)%8].Get()))
					}
					for i := range c.exponentials {
						v := e[i%8]
						v.Set(v.Get().Ex2Approx(build.Ftz))
					}
					end()
				}
				return step, func() build.U32 {
					s := sink()
					for _, v := range append(e, x...) {
						s = s.Xor(build.Mov[build.U32](v.Get()))
					}
					return s
				}
			},
		})
	}
	return list
}

func wgmmaGroup(f *frame, n, count int, registers bool) (func(build.U32), func() build.U32) {
	start, end, sink := wgmmaParts(f, n, count, registers)
	return func(build.U32) { start(); end() }, sink
}

// wgmmaParts returns functions that start a group of products and that wait for it.
func wgmmaParts(f *frame, n, count int, registers bool) (begin, end func(), sink func() build.U32) {
	k := f.k
	a, b := factors(f, registers)
	sums := build.Vars(k.F32(0), n/2)
	begin = func() {
		k.WgmmaFence()
		for range count {
			k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}, sums, a, b, k.Pred(true))
		}
		k.WgmmaCommitGroup()
	}
	end = func() { k.WgmmaWaitGroup(0) }
	return begin, end, func() build.U32 { return bits(sums) }
}

// factors returns the factors of a product: the first one in registers or in shared memory. The words of the registers
// are unknown to the compiler, which could otherwise use a register that is always zero.
func factors(f *frame, registers bool) (a build.Factor, b build.U64) {
	s := build.SharedAlign(build.SharedArray[build.B8](f.k, "s", 32<<10), 1024)
	first := s.Addr().Add(f.seed).Shr(4).And(0x3fff).CvtU64()
	desc := first.Or(256>>4<<32 | 128>>4<<16)
	if !registers {
		return desc, desc
	}
	word := func(i int) build.B32 { return build.Cast[build.B32](f.tid.Xor(f.seed).Add(i).And(0x3f)) }
	return [4]build.B32{word(0), word(1), word(2), word(3)}, desc
}

// bits returns a value that depends on the bits of all variables.
func bits(list []*build.Var[build.F32]) build.U32 {
	x := build.Mov[build.U32](list[0].Get())
	for _, v := range list[1:] {
		x = x.Xor(build.Mov[build.U32](v.Get()))
	}
	return x
}
