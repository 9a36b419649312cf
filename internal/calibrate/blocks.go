package calibrate

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// blocks are loops whose body is short, and branches that lanes take apart.
func blocks() []Probe {
	list := []Probe{
		{
			Name: "loop_iteration", Unit: "cycles", Doc: "an iteration of a loop with one fma", Target: ptx.SM80,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				x := build.NewVar(f.tid.CvtRnF32())
				step := func(build.U32) { x.Set(x.Get().FmaRn(x.Get(), x.Get())) }
				return step, func() build.U32 { return build.Mov[build.U32](x.Get()) }
			},
			value: per(1),
		},
		{
			Name: "divergent_branch", Unit: "cycles", Doc: "an If that half of the lanes take, with one fma inside, beside one fma", Target: ptx.SM80,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				x := build.NewVar(f.tid.CvtRnF32())
				y := build.NewVar(f.tid)
				step := func(i build.U32) {
					f.k.If(f.tid.Xor(i).And(1).SetpEq(0), func() {
						x.Set(x.Get().FmaRn(x.Get(), x.Get()))
						y.Set(y.Get().Add(f.memory.Ld(build.Volatile).CvtU32()))
					})
				}
				return step, func() build.U32 { return build.Mov[build.U32](x.Get()).Xor(y.Get()) }
			},
			value: per(1),
		},
	}
	for _, n := range []int{2, 4, 6, 8} {
		list = append(list, Probe{
			Name: "exp_beside_" + strconv.Itoa(n) + "_fma", Unit: "cycles", Doc: "one ex2 and " + strconv.Itoa(n) + " fma, two warps per sub-core", Target: ptx.SM80, warps: 8,
			body:  func(f *frame) (func(build.U32), func() build.U32) { return mixed(f, n) },
			value: per(2 * unroll),
		})
	}
	return list
}

// mixed is a loop of one exponential and n fma per group.
func mixed(f *frame, n int) (func(build.U32), func() build.U32) {
	e := build.Vars(f.tid.CvtRnF32(), 4)
	x := build.Vars(f.tid.CvtRnF32(), n)
	step := func(build.U32) {
		for i := range unroll {
			v := e[i%4]
			v.Set(v.Get().Ex2Approx(build.Ftz))
			for _, v := range x {
				v.Set(v.Get().FmaRn(v.Get(), v.Get()))
			}
		}
	}
	return step, func() build.U32 {
		s := build.Mov[build.U32](e[0].Get())
		for _, v := range append(e[1:], x...) {
			s = s.Xor(build.Mov[build.U32](v.Get()))
		}
		return s
	}
}
