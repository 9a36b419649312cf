package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	build("cvta", buildCvta)
	build("isspacep", buildIsspacep)
	build("mapa", buildMapa)
	build("getctarank", buildCtaRank)
	build("alloca", buildAlloca)
	build("stacksave", buildStackSave)
	build("stackrestore", buildStackRestore)
}

// buildCvta is cvta and cvta.to. A state space is a window of the generic one;
// global and constant memory are where they are.
func buildCvta(d *decoder, x *inst) exec {
	to, from := d.dst(x.Arg("p"), ptx.U64), d.src64(x.Arg("a"), ptx.U64)
	base := genericBase(ptx.ParseSpace(x.Mod("space")))
	if x.Has("to") {
		base = -base
	}
	if base == 0 {
		return func(f *frame, m uint32) { move(&f.r64[to], &f.r64[from], m) }
	}
	return un64(to, from, func(a uint64) uint64 { return a + base })
}

// buildIsspacep is isspacep.
func buildIsspacep(d *decoder, x *inst) exec {
	p, a := d.dst(x.Arg("p"), ptx.Pred), d.src64(x.Arg("a"), ptx.U64)
	space := x.Mod("space")
	test := func(f *frame, addr uint64) bool {
		return addr>>windowBits == genericBase(ptx.ParseSpace(space))>>windowBits
	}
	switch space {
	case "const":
		test = func(f *frame, addr uint64) bool { return f.isConst(addr) }
	case "global":
		test = func(f *frame, addr uint64) bool {
			w := addr >> windowBits
			return (w < sharedBase>>windowBits || w > paramBase>>windowBits) && !f.isConst(addr)
		}
	case "shared", "shared::cta":
		test = func(f *frame, addr uint64) bool {
			return addr>>windowBits == sharedBase>>windowBits && f.rankOf(addr) == uint64(f.b.rank)
		}
	}
	return func(f *frame, m uint32) {
		f.predOf(p, m, func(l int) bool { return test(f, f.r64[a][l]) })
	}
}

func (f *frame) isConst(addr uint64) bool {
	c := f.b.launch.mem.find(addr)
	return c != nil && c.readOnly
}

// rankOf is the rank of the block whose shared memory an address points into.
func (f *frame) rankOf(addr uint64) uint64 {
	if r := addr >> rankShift & 0xff; r != 0 {
		return r - 1
	}
	return uint64(f.b.rank)
}

// buildMapa is mapa: the same shared address in the block of another rank. A rank
// that the cluster does not have is found out when the address is used.
func buildMapa(d *decoder, x *inst) exec {
	t := x.Type("d")
	to, a := d.into(x.Arg("d"), t), d.from(x.Arg("a"), t)
	rank := d.src32(x.Arg("b"), ptx.U32)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			r := uint64(min(f.r32[rank][l], 0xfe)) + 1
			v := a.get(f, l) &^ (0xff << rankShift)
			to.set(f, l, v|r<<rankShift, t.Bits())
		})
	}
}

// buildCtaRank is getctarank.
func buildCtaRank(d *decoder, x *inst) exec {
	to, a := d.dst(x.Arg("d"), ptx.U32), d.from(x.Arg("a"), x.Type("a"))
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) { f.r32[to][l] = uint32(f.rankOf(a.get(f, l))) })
	}
}

// top is where a lane's stack ends: behind the frame's variables and what alloca
// has taken.
func (f *frame) top(lane int) uint64 {
	if f.stack != nil && f.stack[lane] != 0 {
		return f.stack[lane]
	}
	return f.local + uint64(f.fn.localSize)
}

func (f *frame) setTop(lane int, at uint64) {
	if f.stack == nil {
		f.stack = new(lanes64)
	}
	f.stack[lane] = at
}

// highest is the highest top of the lanes m, aligned for the next frame.
func (f *frame) highest(m uint32) uint64 {
	var h uint64
	for ; m != 0; m &= m - 1 {
		h = max(h, f.top(bits.TrailingZeros32(m)))
	}
	return (h + 15) &^ 15
}

// buildAlloca is alloca. The stack grows up: only its users' own arithmetic could
// tell.
func buildAlloca(d *decoder, x *inst) exec {
	t := x.Type("ptr")
	to, size := d.into(x.Arg("ptr"), t), d.from(x.Arg("size"), t)
	align := uint64(8)
	if a := x.Arg("immAlign"); a != nil {
		align = max(align, uint64(a.Val))
	}
	if align&(align-1) != 0 || align > 1<<23 {
		d.fail("alignment %d is not a power of two up to 2^23", align)
	}
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			at := (f.top(l) + align - 1) &^ (align - 1)
			n := size.get(f, l)
			if n > localBytes {
				f.raise(l, "%d bytes of stack; a thread has %d", n, localBytes)
			}
			f.setTop(l, at+n)
			to.set(f, l, at, t.Bits())
		})
	}
}

func buildStackSave(d *decoder, x *inst) exec {
	t := x.Type("d")
	to := d.into(x.Arg("d"), t)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) { to.set(f, l, f.top(l), t.Bits()) })
	}
}

func buildStackRestore(d *decoder, x *inst) exec {
	from := d.from(x.Arg("a"), x.Type("a"))
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) { f.setTop(l, from.get(f, l)) })
	}
}
