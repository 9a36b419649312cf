package calibrate

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

func memory() []Probe {
	return append(append(append(chases(), sharedLoads()...), matrixLoads()...), traffic()...)
}

// chases are loads that give the address of the next one.
func chases() []Probe {
	chase := func(mods ...build.Mod) func(f *frame) (func(build.U32), func() build.U32) {
		return func(f *frame) (func(build.U32), func() build.U32) {
			at := build.Vars(f.memory.Ld(), 1)[0]
			step := func(build.U32) {
				for range unroll {
					at.Set(build.GlobalAt[build.U64](at.Get()).Ld(mods...))
				}
			}
			return step, func() build.U32 { return at.Get().CvtU32() }
		}
	}
	far := [2]int{64, 512}
	return []Probe{
		{Name: "l1_latency", Unit: "cycles", Doc: "a chain of ld.global.u64 in 8 KiB", Target: ptx.SM80, memory: 8 << 10, chase: 136, iterations: [2]int{32, 96}, body: chase(), value: per(unroll)},
		{Name: "l2_ns", Unit: "ns", Doc: "a chain of ld.global.cg.u64 in 4 MiB that one launch has read before", Target: ptx.SM80, memory: 4 << 20, chase: 4224, iterations: far, body: chase(build.Cg), value: nanoseconds(unroll)},
		{Name: "dram_ns", Unit: "ns", Doc: "a chain of ld.global.cg.u64 over more lines than the L2 holds", Target: ptx.SM80, memory: 512 << 20, chase: 832, iterations: [2]int{1024, 32768}, body: chase(build.Cg), value: nanoseconds(unroll)},
		{
			Name: "shared_latency", Unit: "cycles", Doc: "a chain of ld.shared.u32", Target: ptx.SM80,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				s := build.SharedArray[build.U32](f.k, "s", 32)
				s.At(f.tid).St(s.At(f.tid).Addr())
				at := build.Vars(s.At(f.tid.Xor(f.seed)).Addr(), 1)[0]
				step := func(build.U32) {
					for range unroll {
						at.Set(build.SharedAt[build.U32](at.Get()).Ld())
					}
				}
				return step, at.Get
			},
			value: per(unroll),
		},
	}
}

// sharedLoads are independent loads and stores of shared memory by 1 to 16 warps: cycles of the
// SM per instruction.
func sharedLoads() (list []Probe) {
	for _, c := range []struct {
		name   string
		width  int // words per lane
		ways   int // lanes with the same bank
		warps  int
		stores bool
	}{
		{"memory_sm_interval", 1, 1, 16, false},
		{"lds32_4warps", 1, 1, 4, false},
		{"memory_issue_interval", 1, 1, 1, false},
		{"lds64", 2, 1, 16, false},
		{"lds128", 4, 1, 16, false},
		{"lds128_4warps", 4, 1, 4, false},
		{"lds32_2ways", 1, 2, 16, false},
		{"lds32_4ways", 1, 4, 16, false},
		{"lds32_8ways", 1, 8, 16, false},
		{"lds32_32ways", 1, 32, 16, false},
		{"sts32", 1, 1, 16, true},
		{"sts64", 2, 1, 16, true},
		{"sts128", 4, 1, 16, true},
	} {
		what := "loads"
		if c.stores {
			what = "stores"
		}
		doc := "cycles of the SM per instruction: " + what + " of " + strconv.Itoa(4*c.width) + " bytes per lane by " + strconv.Itoa(c.warps) + " warps, " + strconv.Itoa(c.ways) + " lanes per bank"
		list = append(list, Probe{
			Name: c.name, Unit: "cycles", Doc: doc, Target: ptx.SM80, warps: c.warps,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				s := build.SharedArray[build.U32](f.k, "s", 4096)
				lane := f.tid.And(31)
				at := s.At(lane.MulLo(c.width * c.ways).Add(f.seed))
				x := build.NewVar(f.tid)
				step := func(i build.U32) {
					for j := range unroll {
						p := at.Plus(4 * c.width * (j % 4))
						switch {
						case c.stores && c.width == 1:
							p.St(i, build.Volatile)
						case c.stores && c.width == 2:
							p.StV2([2]build.U32{i, i}, build.Volatile)
						case c.stores:
							p.StV4([4]build.U32{i, i, i, i}, build.Volatile)
						case c.width == 1:
							x.Set(x.Get().Xor(p.Ld(build.Volatile)))
						case c.width == 2:
							x.Set(x.Get().Xor(p.LdV2(build.Volatile)[0]))
						default:
							x.Set(x.Get().Xor(p.LdV4(build.Volatile)[0]))
						}
					}
				}
				return step, x.Get
			},
			value: per(float64(unroll * c.warps)),
		})
	}
	return list
}

// matrixLoads are ldmatrix.x4 by 1 to 16 warps: cycles of the SM per instruction.
func matrixLoads() (list []Probe) {
	for _, warps := range []int{1, 4, 16} {
		list = append(list, Probe{
			Name: "ldmatrix_x4_" + strconv.Itoa(warps) + "warps", Unit: "cycles", Doc: "cycles of the SM per ldmatrix.x4, by " + strconv.Itoa(warps) + " warps", Target: ptx.SM80, warps: warps,
			body: func(f *frame) (func(build.U32), func() build.U32) {
				s := build.SharedArray[build.U32](f.k, "s", 4096)
				lane := f.tid.And(31)
				x := build.NewVar(f.tid)
				step := func(i build.U32) {
					row := s.At(lane.MadLo(4, i.And(7).Shl(7)))
					for j := range unroll {
						x.Set(x.Get().Xor(build.Mov[build.U32](f.k.LdmatrixM8n8X4(row.Plus(128 * (j % 16)))[0])))
					}
				}
				return step, x.Get
			},
			value: per(float64(unroll * warps)),
		})
	}
	return list
}
