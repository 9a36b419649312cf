package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("ld", func(d *decoder, x *inst, o *op) {
		o.Run = buildLoad(d, x)
		if MayPoll(x.Match) {
			markPoll(o, d, x)
		}
	})
	build("ldu", buildLoad)
	build("st", buildStore)
	build("mov", buildMov)
}

// buildLoad builds ld in all its forms. Modifiers for order and caching have no
// effect, because memory has one copy and warps run one at a time.
func buildLoad(d *decoder, x *inst) exec {
	t := x.Type("d")
	a := d.Addr(x.Arg("a"), x.SpaceName("a"))
	n := t.Bytes()
	var cells []machine.Cell
	var bits []int
	for _, e := range machine.Elements(x.Arg("d")) {
		cells = append(cells, d.LoadDst(e, t))
		bits = append(bits, operand.RegisterBits(e, t))
	}
	if t == ptx.B128 {
		return loadWide(a, cells)
	}
	slow := func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			b := a.View(f, l, n*len(cells), false)
			for i, c := range cells {
				c.Set(f, l, memory.Word(b[i*n:][:n]), bits[i])
			}
		})
	}
	return spanning(a, cells, n, false, machine.LoadMover, slow)
}

// spanning returns an access that takes the fast path if the addresses of all lanes are in
// one piece of memory, and calls slow otherwise.
func spanning(a *machine.Address, cells []machine.Cell, n int, write bool, of func(n int, c machine.Cell) machine.Mover, slow exec) exec {
	move := of(n, cells[0])
	for _, c := range cells {
		if move == nil || c.Width != cells[0].Width || c.Signed != cells[0].Signed {
			return slow
		}
	}
	size := n * len(cells)
	return func(f *frame, m uint32) {
		if f.Block.Watch != nil {
			f.Warp.Moving = cells
		}
		mem := a.Span(f, m, size, write)
		if mem == nil {
			slow(f, m)
			return
		}
		for i, c := range cells {
			move(f, m, mem, uint64(i*n), c)
		}
	}
}

// loadWide builds ld.b128.
func loadWide(a *machine.Address, cells []machine.Cell) exec {
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			b := a.View(f, l, 16*len(cells), false)
			for i, c := range cells {
				f.R64[c.Slot][l], f.R64[c.Slot+1][l] = memory.Word(b[16*i:][:8]), memory.Word(b[16*i+8:][:8])
			}
		})
	}
}

// buildStore builds st in all its synchronous forms.
func buildStore(d *decoder, x *inst) exec {
	if x.Has("async") {
		return buildRemoteStore(d, x)
	}
	t := x.Type("b")
	a := d.Addr(x.Arg("a"), x.SpaceName("a"))
	n := t.Bytes()
	var cells []machine.Cell
	for _, e := range machine.Elements(x.Arg("b")) {
		cells = append(cells, d.StoreSrc(e, t))
	}
	slow := func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			b := a.View(f, l, n*len(cells), true)
			for i, c := range cells {
				if n == 16 {
					memory.PutWord(b[16*i:][:8], f.R64[c.Slot][l])
					memory.PutWord(b[16*i+8:][:8], f.R64[c.Slot+1][l])
					continue
				}
				memory.PutWord(b[i*n:][:n], c.Get(f, l))
			}
		})
	}
	return spanning(a, cells, n, true, machine.StoreMover, slow)
}
