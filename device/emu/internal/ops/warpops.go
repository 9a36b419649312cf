package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("shfl", buildShfl)
	control("vote", buildVote)
	control("match", buildMatch)
	control("redux", buildRedux)
	control("elect", buildElect)
	build("activemask", func(d *decoder, x *inst) exec {
		to := d.Dst(x.Arg("d"), ptx.B32)
		return func(f *frame, m uint32) {
			machine.EachLane(m, func(l int) { f.R32[to][l] = m })
		}
	})
	build("griddepcontrol", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	build("setmaxnreg", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	control("nanosleep", buildSleep)
}

// shuffle returns the lane j that a lane reads from, and whether j is in range. The result
// depends on operand b, the bounds of the lane's segment and the segment's mask.
type shuffle func(lane, b, low, high, segment int) (j int, ok bool)

var shuffles = map[string]shuffle{
	"up":   func(lane, b, low, high, _ int) (int, bool) { return lane - b, lane-b >= high },
	"down": func(lane, b, low, high, _ int) (int, bool) { return lane + b, lane+b <= high },
	"bfly": func(lane, b, low, high, _ int) (int, bool) { return lane ^ b, lane^b <= high },
	"idx": func(lane, b, low, high, segment int) (int, bool) {
		j := low | b&^segment
		return j, j <= high
	},
}

// buildShfl builds shfl. A lane whose source does not take part keeps its own value,
// because PTX does not define the result.
func buildShfl(d *decoder, x *inst, o *op) {
	w := machine.NoOperands()
	w.A, w.B, w.C = d.Src32(x.Arg("a"), ptx.B32), d.Src32(x.Arg("b"), ptx.U32), d.Src32(x.Arg("c"), ptx.U32)
	w.D, w.Out = d.Dst(x.Arg("d"), ptx.B32), d.Dst(x.Arg("p"), ptx.Pred)
	source := shuffles[x.Mod("mode")]
	if b, c := x.Arg("b"), x.Arg("c"); b.Kind == ptx.ImmOperand && c.Kind == ptx.ImmOperand {
		w.Compute = shuffleBy(source, uint32(b.Val), uint32(c.Val))
	} else {
		w.Compute = func(x *machine.Exchange, m uint32) {
			from := *x.A
			x.Out = 0
			for rest := m; rest != 0; rest &= rest - 1 {
				l := bits.TrailingZeros32(rest)
				j, ok := source.of(l, x.B[l], x.C[l])
				if ok {
					x.Out |= 1 << l
				}
				if m>>j&1 == 0 {
					j = l
				}
				x.D[l] = from[j]
			}
		}
	}
	syncExchange(o, d, x, w)
}

// of returns the source of a lane for the operands b and c: the lane itself if the source
// is out of range.
func (s shuffle) of(lane int, b, c uint32) (j int, ok bool) {
	segment, clamp := int(c>>8&31), int(c&31)
	if j, ok = s(lane, int(b&31), lane&segment, lane&segment|clamp&^segment, segment); !ok {
		j = lane
	}
	return j, ok
}

// shuffleBy builds a shuffle by constants, for which the source lanes are known.
func shuffleBy(source shuffle, b, c uint32) func(x *machine.Exchange, m uint32) {
	var table [32]uint8
	var inRange uint32
	for l := range table {
		j, ok := source.of(l, b, c)
		table[l] = uint8(j)
		if ok {
			inRange |= 1 << l
		}
	}
	return func(x *machine.Exchange, m uint32) {
		from := *x.A
		x.Out = inRange
		if m == machine.FullMask {
			for l, j := range &table {
				x.D[l] = from[j&31]
			}
			return
		}
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			j := int(table[l])
			if m>>j&1 == 0 {
				j = l
			}
			x.D[l] = from[j]
		}
	}
}

// buildVote builds vote.
func buildVote(d *decoder, x *inst, o *op) {
	w := machine.NoOperands()
	w.In, w.Neg = d.Pred(x.Arg("a"))
	if x.Has("ballot") {
		w.D = d.Dst(x.Arg("d"), ptx.B32)
		w.Compute = func(x *machine.Exchange, m uint32) { x.SetAll(m, x.In&m) }
	} else {
		w.Out = d.Dst(x.Arg("d"), ptx.Pred)
		holds := map[string]func(p, m uint32) bool{
			"all": func(p, m uint32) bool { return p == m },
			"any": func(p, m uint32) bool { return p != 0 },
			"uni": func(p, m uint32) bool { return p == m || p == 0 },
		}[x.Mod("mode")]
		w.Compute = func(x *machine.Exchange, m uint32) { x.Out = allOrNone(holds(x.In&m, m)) }
	}
	syncExchange(o, d, x, w)
}

// buildMatch builds match.
func buildMatch(d *decoder, x *inst, o *op) {
	w := machine.NoOperands()
	w.D = d.Dst(x.Arg("d"), ptx.B32)
	t := x.Type("a")
	if machine.WidthOf(t) == machine.W64 {
		w.A64 = d.Src64(x.Arg("a"), t)
	} else {
		w.A = d.Src32(x.Arg("a"), t)
	}
	equal := func(x *machine.Exchange, m uint32, lane int) uint32 {
		if w.A < 0 {
			return machine.SameLanes64(x.A64, m, x.A64[lane])
		}
		return machine.SameLanes(x.A, m, x.A[lane])
	}
	if x.Has("all") {
		w.Out = d.Dst(x.Arg("p"), ptx.Pred)
		w.Compute = func(x *machine.Exchange, m uint32) {
			all := equal(x, m, bits.TrailingZeros32(m)) == m
			x.Out = allOrNone(all)
			x.SetAll(m, m&x.Out)
		}
	} else {
		w.Compute = func(x *machine.Exchange, m uint32) {
			for rest := m; rest != 0; {
				same := equal(x, rest, bits.TrailingZeros32(rest))
				rest &^= same
				x.SetGroup(same)
			}
			x.WriteGroups(m)
		}
	}
	syncExchange(o, d, x, w)
}

// reductions combine the values of redux.
var reductions = map[string]func(a, b uint32) uint32{
	"add u32": func(a, b uint32) uint32 { return a + b },
	"add s32": func(a, b uint32) uint32 { return a + b },
	"min u32": func(a, b uint32) uint32 { return min(a, b) },
	"max u32": func(a, b uint32) uint32 { return max(a, b) },
	"min s32": func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) },
	"max s32": func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
	"and b32": func(a, b uint32) uint32 { return a & b },
	"or b32":  func(a, b uint32) uint32 { return a | b },
	"xor b32": func(a, b uint32) uint32 { return a ^ b },
}

// buildRedux builds redux.
func buildRedux(d *decoder, x *inst, o *op) {
	w := machine.NoOperands()
	t := x.Type("src")
	w.A, w.D = d.Src32(x.Arg("src"), t), d.Dst(x.Arg("dst"), t)
	combine := reductions[x.Mod("op")+" "+t.String()]
	if t == ptx.F32 {
		combine = extremeF32(x, x.Mod("op"))
	}
	w.Compute = func(x *machine.Exchange, m uint32) {
		v := x.A[bits.TrailingZeros32(m)]
		if t == ptx.F32 {
			v = combine(v, v) // the reduction of one lane takes the absolute value and quiets a NaN, too
		}
		for rest := m & (m - 1); rest != 0; rest &= rest - 1 {
			v = combine(v, x.A[bits.TrailingZeros32(rest)])
		}
		x.SetAll(m, v)
	}
	syncExchange(o, d, x, w)
}

// buildElect builds elect: the lowest lane leads.
func buildElect(d *decoder, x *inst, o *op) {
	w := machine.NoOperands()
	w.D, w.Out = d.Dst(x.Arg("d"), ptx.B32), d.Dst(x.Arg("p"), ptx.Pred)
	w.Compute = func(x *machine.Exchange, m uint32) {
		x.Out = m & -m
		x.SetAll(m, uint32(bits.TrailingZeros32(m)))
	}
	syncExchange(o, d, x, w)
}

// buildSleep builds nanosleep: it advances the clock and lets other threads run.
func buildSleep(d *decoder, x *inst, o *op) {
	t := d.Src32(x.Arg("t"), ptx.U32)
	o.Kind = machine.OpTry
	o.Try = func(f *frame, m uint32) machine.Status {
		f.Warp.Slept += uint64(f.R32[t][bits.TrailingZeros32(m)])
		return machine.Sleep
	}
}
