package emu

import (
	"math/bits"

	"attest/ptx"
)

func init() {
	control("shfl", buildShfl)
	control("vote", buildVote)
	control("match", buildMatch)
	control("redux", buildRedux)
	control("elect", buildElect)
	build("activemask", func(d *decoder, x *inst) exec {
		to := d.dst(x.arg("d"), ptx.B32)
		return func(f *frame, m uint32) {
			eachLane(m, func(l int) { f.r32[to][l] = m })
		}
	})
	build("griddepcontrol", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	build("setmaxnreg", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	control("nanosleep", buildSleep)
}

// shuffles find the lane that a lane takes its value from, and whether it is in
// range, from the operands b and c.
var shuffles = map[string]func(lane, b, low, high int) (j int, ok bool){
	"up":   func(lane, b, low, high int) (int, bool) { return lane - b, lane-b >= high },
	"down": func(lane, b, low, high int) (int, bool) { return lane + b, lane+b <= high },
	"bfly": func(lane, b, low, high int) (int, bool) { return lane ^ b, lane^b <= high },
	"idx":  func(lane, b, low, high int) (int, bool) { return low | b, low|b <= high },
}

// buildShfl is shfl. A lane whose source does not take part keeps its own value:
// PTX leaves open what it gets.
func buildShfl(d *decoder, x *inst, o *op) {
	w := noOperands()
	w.a, w.b, w.c = d.src32(x.arg("a"), ptx.B32), d.src32(x.arg("b"), ptx.U32), d.src32(x.arg("c"), ptx.U32)
	w.d, w.out = d.dst(x.arg("d"), ptx.B32), d.dst(x.arg("p"), ptx.Pred)
	mode := x.mod("mode")
	source := shuffles[mode]
	w.compute = func(x *exchange, m uint32) {
		from := *x.a
		x.out = 0
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			c, seg := int(x.c[l]&31), int(x.c[l]>>8&31)
			b := int(x.b[l] & 31)
			if mode == "idx" {
				b &^= seg
			}
			j, ok := source(l, b, l&seg, l&seg|c&^seg)
			if ok {
				x.out |= 1 << l
			}
			if !ok || m>>j&1 == 0 {
				j = l
			}
			x.d[l] = from[j]
		}
	}
	o.together(d, x, w)
}

// buildVote is vote.
func buildVote(d *decoder, x *inst, o *op) {
	w := noOperands()
	w.in, w.neg = d.pred(x.arg("a"))
	if x.has("ballot") {
		w.d = d.dst(x.arg("d"), ptx.B32)
		w.compute = func(x *exchange, m uint32) { x.give(m, x.in&m) }
	} else {
		w.out = d.dst(x.arg("d"), ptx.Pred)
		holds := map[string]func(p, m uint32) bool{
			"all": func(p, m uint32) bool { return p == m },
			"any": func(p, m uint32) bool { return p != 0 },
			"uni": func(p, m uint32) bool { return p == m || p == 0 },
		}[x.mod("mode")]
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
	w.d = d.dst(x.arg("d"), ptx.B32)
	t := x.typ("a")
	if widthOf(t) == w64 {
		w.a64 = d.src64(x.arg("a"), t)
	} else {
		w.a = d.src32(x.arg("a"), t)
	}
	equal := func(x *exchange, m uint32, lane int) uint32 {
		if w.a < 0 {
			return sameLanes64(x.a64, m, x.a64[lane])
		}
		return sameLanes(x.a, m, x.a[lane])
	}
	if x.has("all") {
		w.out = d.dst(x.arg("p"), ptx.Pred)
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
	t := x.typ("src")
	w.a, w.d = d.src32(x.arg("src"), t), d.dst(x.arg("dst"), t)
	combine := reductions[x.mod("op")+" "+t.String()]
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
	w.d, w.out = d.dst(x.arg("d"), ptx.B32), d.dst(x.arg("p"), ptx.Pred)
	w.compute = func(x *exchange, m uint32) {
		x.out = m & -m
		x.give(m, uint32(bits.TrailingZeros32(m)))
	}
	o.together(d, x, w)
}

// buildSleep is nanosleep: time passes, and others run.
func buildSleep(d *decoder, x *inst, o *op) {
	t := d.src32(x.arg("t"), ptx.U32)
	o.kind = opTry
	o.try = func(f *frame, m uint32) status {
		f.w.slept += uint64(f.r32[t][bits.TrailingZeros32(m)])
		return sleep
	}
}
