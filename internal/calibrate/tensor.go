package calibrate

import (
	"slices"
	"strconv"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

func tensor() []Probe {
	return slices.Concat(products(), groupProducts(), twoInFlight(), besideProducts(), besideStores())
}

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
