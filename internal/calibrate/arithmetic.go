package calibrate

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// unroll is the number of operations of one stream in an iteration.
const unroll = 16

// streams returns a loop of independent chains: one chain measures a latency, many measure a
// throughput.
func streams[T build.Value](n int, first func(f *frame, i int) T, op func(T) T, bits func(T) build.U32) func(f *frame) (func(build.U32), func() build.U32) {
	return func(f *frame) (func(build.U32), func() build.U32) {
		vars := make([]*build.Var[T], n)
		for i := range vars {
			vars[i] = build.Vars(first(f, i), 1)[0]
		}
		step := func(build.U32) {
			for range unroll {
				for _, v := range vars {
					v.Set(op(v.Get()))
				}
			}
		}
		sink := func() build.U32 {
			s := bits(vars[0].Get())
			for _, v := range vars[1:] {
				s = s.Xor(bits(v.Get()))
			}
			return s
		}
		return step, sink
	}
}

// pair adds the probes of the latency and of the interval of an operation that takes ops machine
// operations.
func pair[T build.Value](name, doc string, target ptx.Target, ops float64, first func(f *frame, i int) T, op func(T) T, bits func(T) build.U32) []Probe {
	const many, warps = 8, 2 // warps per sub-core
	return []Probe{
		{
			Name: name + "_latency", Unit: "cycles", Doc: "a chain of " + doc + " in one warp", Target: target,
			body: streams(1, first, op, bits), value: per(unroll * ops),
		},
		{
			Name: name + "_interval", Unit: "cycles", Doc: "independent " + doc + ", two warps per sub-core", Target: target, warps: 4 * warps,
			body: streams(many, first, op, bits), value: per(unroll * many * warps * ops),
		},
	}
}

func arithmetic() (list []Probe) {
	word := func(f *frame, i int) build.U32 { return f.tid.Xor(f.seed).Add(i) }
	self := func(x build.U32) build.U32 { return x }
	real := func(f *frame, i int) build.F32 { return word(f, i).CvtRnF32() }
	floatBits := func(x build.F32) build.U32 { return build.Mov[build.U32](x) }
	list = append(list, pair("float", "fma.rn.f32", ptx.SM80, 1, real, func(x build.F32) build.F32 { return x.FmaRn(x, x) }, floatBits)...)
	list = append(list, pair("alu", "prmt.b32", ptx.SM80, 1, word, func(x build.U32) build.U32 { return x.Prmt(x, x) }, self)...)
	list = append(list, pair("imad", "mad.lo.u32", ptx.SM80, 1, word, func(x build.U32) build.U32 { return x.MadLo(x, x) }, self)...)
	list = append(list, pair("mufu", "ex2.approx.ftz.f32", ptx.SM80, 1, real, func(x build.F32) build.F32 { return x.Ex2Approx(build.Ftz) }, floatBits)...)
	half := func(f *frame, i int) build.F16x2 { return real(f, i).CvtRnF16x2(real(f, i)) }
	halfBits := func(x build.F16x2) build.U32 { return build.Mov[build.U32](x) }
	list = append(list, pair("half", "fma.rn.f16x2", ptx.SM80, 1, half, func(x build.F16x2) build.F16x2 { return x.FmaRn(x, x) }, halfBits)...)
	list = append(list, pair("cvt", "conversions e4m3x2 to f16x2 and back", ptx.SM89, 2, half, func(x build.F16x2) build.F16x2 { return x.CvtRnSatfiniteE4M3x2().CvtRnF16x2() }, halfBits)...)
	list = append(list, pair("convert", "conversions s32 to f32 and back", ptx.SM80, 2, real, func(x build.F32) build.F32 { return x.CvtRziS32().CvtRnF32() }, floatBits)...)
	list = append(list, pair("shuffle", "shfl.sync.idx", ptx.SM80, 1, word, func(x build.U32) build.U32 { return x.ShflSyncIdx(x, 31, 0xffffffff) }, self)...)
	redux := pair("redux", "redux.sync.add", ptx.SM80, 1, word, func(x build.U32) build.U32 { return x.ReduxSyncAdd(0xffffffff) }, self)
	maxima := pair("max3", "max.s32 of three values and one xor, all together", ptx.SM80, 1, func(f *frame, i int) build.S32 { return build.Cast[build.S32](word(f, i)) },
		func(x build.S32) build.S32 { return x.Max(7).Max(x.Xor(5)) }, func(x build.S32) build.U32 { return build.Mov[build.U32](x) })
	return append(append(list, redux...), maxima...)
}

// fetches measures loops of straight code, by the length of the loop: cycles per fma of one warp
// per sub-core, and the cycles per line of 8 instructions that the first iteration takes more. A
// long loop does not fit in the instruction caches.
func fetches() (list []Probe) {
	for _, n := range []int{128, 256, 320, 384, 448, 512, 640, 768, 1024, 2048, 4096} {
		p := Probe{
			Name: "fetch_loop_" + strconv.Itoa(n), Unit: "cycles", Doc: "per instruction, in a loop of " + strconv.Itoa(n) + " fma.rn.f32; one warp per sub-core", Target: ptx.SM80, warps: 4,
			body: func(f *frame) (func(build.U32), func() build.U32) { return straight(f, n) }, value: per(float64(n)),
		}
		list = append(list, p)
		if n == 512 || n == 2048 {
			p.Name, p.first, p.iterations = "fetch_first_"+strconv.Itoa(n), true, [2]int{1, 9}
			p.Doc = "what each line of 8 instructions costs when it runs for the first time in a launch, in " + strconv.Itoa(n) + " fma.rn.f32"
			p.value = per(float64(n) / 8)
			list = append(list, p)
		}
	}
	for _, n := range []int{256, 512, 1024, 1536} {
		list = append(list, Probe{
			Name: "fetch_apart_" + strconv.Itoa(n), Unit: "cycles", Doc: "per instruction and sub-core, in a loop of " + strconv.Itoa(n) + " fma.rn.f32; two warps per sub-core, half a loop apart", Target: ptx.SM80, warps: 8,
			body: func(f *frame) (func(build.U32), func() build.U32) { return apart(f, n) }, value: per(2 * float64(n)),
		})
	}
	return list
}

// apart is straight for two warps per sub-core, of which the second is half a loop behind.
func apart(f *frame, n int) (func(build.U32), func() build.U32) {
	step, sink := straight(f, n)
	late := build.NewVar(f.tid.CvtRnF32())
	return func(i build.U32) {
			f.k.If(i.SetpEq(0), func() {
				f.k.If(f.tid.SetpGe(128), func() {
					for range n / 8 { // a chain: four cycles each
						late.Set(late.Get().FmaRn(late.Get(), late.Get()))
					}
				})
			})
			step(i)
		}, func() build.U32 {
			return sink().Xor(build.Mov[build.U32](late.Get()))
		}
}

// straight is a loop of n fma without branches.
func straight(f *frame, n int) (func(build.U32), func() build.U32) {
	vars := build.Vars(f.tid.CvtRnF32(), 8)
	step := func(build.U32) {
		for i := range n {
			v := vars[i%8]
			v.Set(v.Get().FmaRn(v.Get(), v.Get()))
		}
	}
	return step, func() build.U32 {
		s := build.Mov[build.U32](vars[0].Get())
		for _, v := range vars[1:] {
			s = s.Xor(build.Mov[build.U32](v.Get()))
		}
		return s
	}
}
