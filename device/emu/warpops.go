package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("shfl", buildShfl)
	control("vote", buildVote)
	control("match", buildMatch)
	control("redux", buildRedux)
	control("elect", buildElect)
	build("activemask", func(d *decoder, x *inst) exec {
		to := d.dst(x.Arg("d"), ptx.B32)
		return func(f *frame, m uint32) {
			eachLane(m, func(l int) { f.r32[to][l] = m })
		}
	})
	build("griddepcontrol", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	build("setmaxnreg", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	control("nanosleep", buildSleep)
}

// shuffle finds the lane that a lane takes its value from, and whether it is in
// range: b of the instruction, the bounds of the lane's segment and its mask.
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

// buildShfl is shfl. A lane whose source does not take part keeps its own value:
// PTX leaves open what it gets.
func buildShfl(d *decoder, x *inst, o *op) {
	w := noOperands()
	w.a, w.b, w.c = d.src32(x.Arg("a"), ptx.B32), d.src32(x.Arg("b"), ptx.U32), d.src32(x.Arg("c"), ptx.U32)
	w.d, w.out = d.dst(x.Arg("d"), ptx.B32), d.dst(x.Arg("p"), ptx.Pred)
	source := shuffles[x.Mod("mode")]
	if b, c := x.Arg("b"), x.Arg("c"); b.Kind == ptx.ImmOperand && c.Kind == ptx.ImmOperand {
		w.compute = shuffleBy(source, uint32(b.Val), uint32(c.Val))
	} else {
		w.compute = func(x *exchange, m uint32) {
			from := *x.a
			x.out = 0
			for rest := m; rest != 0; rest &= rest - 1 {
				l := bits.TrailingZeros32(rest)
				j, ok := source.of(l, x.b[l], x.c[l])
				if ok {
					x.out |= 1 << l
				}
				if m>>j&1 == 0 {
					j = l
				}
				x.d[l] = from[j]
			}
		}
	}
	o.together(d, x, w)
}

// of is the source of a lane by the operands b and c: itself when it is out of
// range.
func (s shuffle) of(lane int, b, c uint32) (j int, ok bool) {
	segment, clamp := int(c>>8&31), int(c&31)
	if j, ok = s(lane, int(b&31), lane&segment, lane&segment|clamp&^segment, segment); !ok {
		j = lane
	}
	return j, ok
}

// shuffleBy is a shuffle by constants: the lanes' sources are known.
func shuffleBy(source shuffle, b, c uint32) func(x *exchange, m uint32) {
	var table [32]uint8
	var inRange uint32
	for l := range table {
		j, ok := source.of(l, b, c)
		table[l] = uint8(j)
		if ok {
			inRange |= 1 << l
		}
	}
	return func(x *exchange, m uint32) {
		from := *x.a
		x.out = inRange
		if m == fullMask {
			for l, j := range &table {
				x.d[l] = from[j&31]
			}
			return
		}
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			j := int(table[l])
			if m>>j&1 == 0 {
				j = l
			}
			x.d[l] = from[j]
		}
	}
}

// buildVote is vote.
func buildVote(d *decoder, x *inst, o *op) {
	w := noOperands()
	w.in, w.neg = d.pred(x.Arg("a"))
	if x.Has("ballot") {
		w.d = d.dst(x.Arg("d"), ptx.B32)
		w.compute = func(x *exchange, m uint32) { x.give(m, x.in&m) }
	} else {
		w.out = d.dst(x.Arg("d"), ptx.Pred)
		holds := map[string]func(p, m uint32) bool{
			"all": func(p, m uint32) bool { return p == m },
			"any": func(p, m uint32) bool { return p != 0 },
			"uni": func(p, m uint32) bool { return p == m || p == 0 },
		}[x.Mod("mode")]
		w.compute = func(x *exchange, m uint32) { x.out = allOrNone(holds(x.in&m, m)) }
	}
	o.together(d, x, w)
}

// give gives the lanes m the same result.
func (x *exchange) give(m, v uint32) {
	for ; m != 0; m &= m - 1 {
		x.d[bits.TrailingZeros32(m)] = v
	}
}

// buildMatch is match.
func buildMatch(d *decoder, x *inst, o *op) {
	w := noOperands()
	w.d = d.dst(x.Arg("d"), ptx.B32)
	t := x.Type("a")
	if widthOf(t) == w64 {
		w.a64 = d.src64(x.Arg("a"), t)
	} else {
		w.a = d.src32(x.Arg("a"), t)
	}
	equal := func(x *exchange, m uint32, lane int) uint32 {
		if w.a < 0 {
			return sameLanes64(x.a64, m, x.a64[lane])
		}
		return sameLanes(x.a, m, x.a[lane])
	}
	if x.Has("all") {
		w.out = d.dst(x.Arg("p"), ptx.Pred)
		w.compute = func(x *exchange, m uint32) {
			all := equal(x, m, bits.TrailingZeros32(m)) == m
			x.out = allOrNone(all)
			x.give(m, m&x.out)
		}
	} else {
		w.compute = func(x *exchange, m uint32) {
			for rest := m; rest != 0; {
				same := equal(x, rest, bits.TrailingZeros32(rest))
				rest &^= same
				x.groups(same)
			}
			x.deliver(m)
		}
	}
	o.together(d, x, w)
}

// groups notes that the lanes of m belong together; deliver gives each lane its
// group. The destination may be the register that the lanes are compared by.
func (x *exchange) groups(m uint32) {
	for rest := m; rest != 0; rest &= rest - 1 {
		x.found[bits.TrailingZeros32(rest)] = m
	}
}

func (x *exchange) deliver(m uint32) { move(x.d, &x.found, m) }

func sameLanes64(r *lanes64, m uint32, v uint64) (same uint32) {
	for l, x := range r {
		if x == v {
			same |= 1 << l
		}
	}
	return same & m
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

// buildRedux is redux.
func buildRedux(d *decoder, x *inst, o *op) {
	w := noOperands()
	t := x.Type("src")
	w.a, w.d = d.src32(x.Arg("src"), t), d.dst(x.Arg("dst"), t)
	combine := reductions[x.Mod("op")+" "+t.String()]
	w.compute = func(x *exchange, m uint32) {
		v := x.a[bits.TrailingZeros32(m)]
		for rest := m & (m - 1); rest != 0; rest &= rest - 1 {
			v = combine(v, x.a[bits.TrailingZeros32(rest)])
		}
		x.give(m, v)
	}
	o.together(d, x, w)
}

// buildElect is elect: the lowest lane leads.
func buildElect(d *decoder, x *inst, o *op) {
	w := noOperands()
	w.d, w.out = d.dst(x.Arg("d"), ptx.B32), d.dst(x.Arg("p"), ptx.Pred)
	w.compute = func(x *exchange, m uint32) {
		x.out = m & -m
		x.give(m, uint32(bits.TrailingZeros32(m)))
	}
	o.together(d, x, w)
}

// buildSleep is nanosleep: time passes, and others run.
func buildSleep(d *decoder, x *inst, o *op) {
	t := d.src32(x.Arg("t"), ptx.U32)
	o.kind = opTry
	o.try = func(f *frame, m uint32) status {
		f.w.slept += uint64(f.r32[t][bits.TrailingZeros32(m)])
		return sleep
	}
}
