package calibrate

import (
	"slices"
	"strconv"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

func tensor() []Probe { return slices.Concat(products(), groupProducts(), besideProducts()) }

// products are mma.sync: a chain through the accumulator, and independent products of 1 and 2
// warps per sub-core.
func products() (list []Probe) {
	for _, c := range []struct {
		name   string
		target ptx.Target
		form   build.MmaForm
	}{
		{"mma", ptx.SM80, build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.F16, B: ptx.F16}},
		{"mma_e4m3", ptx.SM89, build.MmaForm{Shape: build.M16n8k32, D: ptx.F32, A: ptx.E4M3, B: ptx.E4M3}},
	} {
		for _, v := range []struct {
			suffix       string
			chains, more int
		}{{"_latency", 1, 0}, {"_interval_1", 4, 1}, {"_interval_2", 4, 2}} {
			warps := max(1, 4*v.more)
			list = append(list, Probe{
				Name: c.name + v.suffix, Unit: "cycles", Doc: "mma.sync, " + strconv.Itoa(v.chains) + " chains in each of " + strconv.Itoa(warps) + " warps", Target: c.target, warps: warps,
				body:  func(f *frame) (func(build.U32), func() build.U32) { return mmaChains(f, c.form, v.chains) },
				value: per(float64(8 * v.chains * max(1, v.more))),
			})
		}
	}
	return list
}

func mmaChains(f *frame, form build.MmaForm, chains int) (func(build.U32), func() build.U32) {
	// The words differ, so that the compiler cannot compute a product from another one.
	word := func(i int) build.B32 { return build.Cast[build.B32](f.tid.Xor(f.seed).Add(i).And(0x3f)) }
	a, b := [4]build.B32{word(0), word(1), word(2), word(3)}, [2]build.B32{word(4), word(5)}
	sums := make([][]*build.Var[build.F32], chains)
	for i := range sums {
		sums[i] = build.Vars(f.k.F32(0), 4)
	}
	step := func(build.U32) {
		for range 8 {
			for _, s := range sums {
				old := [4]build.F32{s[0].Get(), s[1].Get(), s[2].Get(), s[3].Get()}
				for i, x := range f.k.Mma(form, a, b, old).F32() {
					s[i].Set(x)
				}
			}
		}
	}
	return step, func() build.U32 {
		x := f.seed
		for _, s := range sums {
			for _, v := range s {
				x = x.Xor(build.Mov[build.U32](v.Get()))
			}
		}
		return x
	}
}

// groupProducts are wgmma in e4m3: groups of 1, 4 and 8 products and a wait, by the width N and by
// the place of the first factor. Two warpgroups show whether products queue.
func groupProducts() (list []Probe) {
	for _, c := range []struct {
		n, count, groups int
		registers        bool
	}{
		{64, 1, 1, false}, {64, 8, 1, false}, {128, 1, 1, false}, {128, 4, 1, false}, {128, 8, 1, false}, {256, 1, 1, false}, {256, 8, 1, false},
		{64, 1, 1, true}, {64, 8, 1, true}, {128, 8, 1, true}, {72, 4, 1, true}, {64, 8, 2, true}, {128, 8, 2, false},
	} {
		place := "shared"
		if c.registers {
			place = "registers"
		}
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
	s := build.SharedAlign(build.SharedArray[build.B8](k, "s", 32<<10), 1024)
	first := s.Addr().Add(f.seed).Shr(4).And(0x3fff).CvtU64()
	desc := first.Or(256>>4<<32 | 128>>4<<16)
	word := build.Cast[build.B32](f.tid.Xor(f.seed).And(0))
	var a build.Factor = desc
	if registers {
		a = [4]build.B32{word, word, word, word}
	}
	sums := build.Vars(k.F32(0), n/2)
	begin = func() {
		k.WgmmaFence()
		for range count {
			k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}, sums, a, desc, k.Pred(true))
		}
		k.WgmmaCommitGroup()
	}
	end = func() { k.WgmmaWaitGroup(0) }
	return begin, end, func() build.U32 {
		x := build.Mov[build.U32](sums[0].Get())
		for _, v := range sums[1:] {
			x = x.Xor(build.Mov[build.U32](v.Get()))
		}
		return x
	}
}
