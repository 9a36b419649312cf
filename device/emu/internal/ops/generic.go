package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
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

// buildCvta builds cvta and cvta.to. A state space is a window of the generic
// address space. Addresses of global and constant memory are the same in both.
func buildCvta(d *decoder, x *inst) exec {
	to, from := d.Dst(x.Arg("p"), ptx.U64), d.Src64(x.Arg("a"), ptx.U64)
	base := memory.GenericBase(ptx.ParseSpace(x.Mod("space")))
	if x.Has("to") {
		base = -base
	}
	if base == 0 {
		return func(f *frame, m uint32) { machine.MoveLanes(&f.R64[to], &f.R64[from], m) }
	}
	return un64(to, from, func(a uint64) uint64 { return a + base })
}

// buildIsspacep builds isspacep.
func buildIsspacep(d *decoder, x *inst) exec {
	p, a := d.Dst(x.Arg("p"), ptx.Pred), d.Src64(x.Arg("a"), ptx.U64)
	space := x.Mod("space")
	test := func(f *frame, addr uint64) bool {
		return addr>>memory.WindowBits == memory.GenericBase(ptx.ParseSpace(space))>>memory.WindowBits
	}
	switch space {
	case "const":
		test = func(f *frame, addr uint64) bool { return f.IsConst(addr) }
	case "global":
		test = func(f *frame, addr uint64) bool {
			w := addr >> memory.WindowBits
			return (w < memory.SharedBase>>memory.WindowBits || w > memory.ParamBase>>memory.WindowBits) && !f.IsConst(addr)
		}
	case "shared", "shared::cta":
		test = func(f *frame, addr uint64) bool {
			return addr>>memory.WindowBits == memory.SharedBase>>memory.WindowBits && f.RankOf(addr) == uint64(f.Block.Rank)
		}
	}
	return func(f *frame, m uint32) {
		f.PredOf(p, m, func(l int) bool { return test(f, f.R64[a][l]) })
	}
}

// buildMapa builds mapa: the same shared address in the block of another rank. An
// invalid rank faults when the address is used.
func buildMapa(d *decoder, x *inst) exec {
	t := x.Type("d")
	to, a := d.LoadDst(x.Arg("d"), t), d.StoreSrc(x.Arg("a"), t)
	rank := d.Src32(x.Arg("b"), ptx.U32)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			r := uint64(min(f.R32[rank][l], 0xfe)) + 1
			v := a.Get(f, l) &^ (0xff << memory.RankShift)
			to.Set(f, l, v|r<<memory.RankShift, t.Bits())
		})
	}
}

// buildCtaRank builds getctarank.
func buildCtaRank(d *decoder, x *inst) exec {
	to, a := d.Dst(x.Arg("d"), ptx.U32), d.StoreSrc(x.Arg("a"), x.Type("a"))
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) { f.R32[to][l] = uint32(f.RankOf(a.Get(f, l))) })
	}
}

// buildAlloca builds alloca. The stack of the emulator grows upwards. Programs notice this
// only if they compare addresses of different allocations.
func buildAlloca(d *decoder, x *inst) exec {
	t := x.Type("ptr")
	to, size := d.LoadDst(x.Arg("ptr"), t), d.StoreSrc(x.Arg("size"), t)
	align := uint64(8)
	if a := x.Arg("immAlign"); a != nil {
		align = max(align, uint64(a.Val))
	}
	if align&(align-1) != 0 || align > 1<<23 {
		d.Fail("alignment %d is not a power of two up to 2^23", align)
	}
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			at := (f.Top(l) + align - 1) &^ (align - 1)
			n := size.Get(f, l)
			if n > machine.LocalBytes || at+n > machine.LocalBytes {
				f.Raise(l, "alloca needs %d bytes of stack: a thread has %d, of which %d are in use", n, machine.LocalBytes, at)
			}
			f.SetTop(l, at+n)
			to.Set(f, l, at, t.Bits())
		})
	}
}

func buildStackSave(d *decoder, x *inst) exec {
	t := x.Type("d")
	to := d.LoadDst(x.Arg("d"), t)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) { to.Set(f, l, f.Top(l), t.Bits()) })
	}
}

func buildStackRestore(d *decoder, x *inst) exec {
	from := d.StoreSrc(x.Arg("a"), x.Type("a"))
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			to := from.Get(f, l)
			if top := f.Top(l); to > top {
				f.Raise(l, "stackrestore to %#x, but the stack ends at %#x: restore only what stacksave returned", to, top)
			}
			f.SetTop(l, to)
		})
	}
}
