package emu

import "github.com/GOATnote-Inc/attest/ptx"

func init() {
	control("ld", func(d *decoder, x *inst, o *op) {
		o.run = buildLoad(d, x)
		if mayPoll(x) {
			o.polls(d, x)
		}
	})
	build("ldu", buildLoad)
	build("st", buildStore)
	build("mov", buildMov)
}

// cell is a register that memory is read into or written from.
type cell struct {
	s      slot
	width  width
	signed int // bits to extend the sign from when a register is wider, or 0
}

// into decodes the destination of a load of type t.
func (d *decoder) into(o *ptx.Operand, t ptx.Type) cell {
	r := t
	if o.Kind == ptx.RegOperand {
		r = o.Sym.Type
	}
	c := cell{s: d.dst(o, r), width: widthOf(r)}
	if t.Class() == ptx.ClassSigned && r.Bits() > t.Bits() {
		c.signed = t.Bits()
	}
	return c
}

// set gives a lane of the cell the low bits of v.
func (c cell) set(f *frame, lane int, v uint64, reg int) {
	if c.signed > 0 {
		v = uint64(int64(v<<(64-c.signed)) >> (64 - c.signed))
	}
	if c.width == w32 {
		if reg < 32 {
			v &= 1<<reg - 1
		}
		f.r32[c.s][lane] = uint32(v)
	} else {
		f.r64[c.s][lane] = v
	}
}

// buildLoad is ld in all its forms. Order and caching modifiers change nothing
// here: memory has one copy and warps run one at a time.
func buildLoad(d *decoder, x *inst) exec {
	t := x.Type("d")
	a := d.addr(x.Arg("a"), x.SpaceName("a"))
	n := t.Bytes()
	var cells []cell
	var bits []int
	for _, e := range vector(x.Arg("d")) {
		cells = append(cells, d.into(e, t))
		bits = append(bits, registerBits(e, t))
	}
	if t == ptx.B128 {
		return loadWide(a, cells)
	}
	slow := func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			b := a.view(f, l, n*len(cells), false)
			for i, c := range cells {
				c.set(f, l, word(b[i*n:][:n]), bits[i])
			}
		})
	}
	return spanning(a, cells, n, false, loader, slow)
}

// spanning is an access that takes the fast way when its lanes fall into one piece
// of memory, and slow otherwise.
func spanning(a *address, cells []cell, n int, write bool, of func(n int, c cell) mover, slow exec) exec {
	move := of(n, cells[0])
	for _, c := range cells {
		if move == nil || c.width != cells[0].width || c.signed != cells[0].signed {
			return slow
		}
	}
	size := n * len(cells)
	return func(f *frame, m uint32) {
		if f.b.watch != nil {
			f.w.moving = cells
		}
		mem := a.span(f, m, size, write)
		if mem == nil {
			slow(f, m)
			return
		}
		for i, c := range cells {
			move(f, m, mem, uint64(i*n), c)
		}
	}
}

func registerBits(o *ptx.Operand, t ptx.Type) int {
	if o.Kind == ptx.RegOperand {
		return o.Sym.Type.Bits()
	}
	return t.Bits()
}

// loadWide is ld.b128.
func loadWide(a *address, cells []cell) exec {
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			b := a.view(f, l, 16*len(cells), false)
			for i, c := range cells {
				f.r64[c.s][l], f.r64[c.s+1][l] = word(b[16*i:][:8]), word(b[16*i+8:][:8])
			}
		})
	}
}

// from decodes a source of a store of type t.
func (d *decoder) from(o *ptx.Operand, t ptx.Type) cell {
	w := widthOf(t)
	if o.Kind == ptx.RegOperand {
		w = widthOf(o.Sym.Type)
	}
	if w == w32 {
		return cell{s: d.src32(o, t), width: w32}
	}
	return cell{s: d.src64(o, t), width: w}
}

// get is a lane of the cell.
func (c cell) get(f *frame, lane int) uint64 {
	if c.width == w32 {
		return uint64(f.r32[c.s][lane])
	}
	return f.r64[c.s][lane]
}

// buildStore is st in all its synchronous forms.
func buildStore(d *decoder, x *inst) exec {
	if x.Has("async") {
		return buildRemoteStore(d, x)
	}
	t := x.Type("b")
	a := d.addr(x.Arg("a"), x.SpaceName("a"))
	n := t.Bytes()
	var cells []cell
	for _, e := range vector(x.Arg("b")) {
		cells = append(cells, d.from(e, t))
	}
	slow := func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			b := a.view(f, l, n*len(cells), true)
			for i, c := range cells {
				if n == 16 {
					putWord(b[16*i:][:8], f.r64[c.s][l])
					putWord(b[16*i+8:][:8], f.r64[c.s+1][l])
					continue
				}
				putWord(b[i*n:][:n], c.get(f, l))
			}
		})
	}
	return spanning(a, cells, n, true, storer, slow)
}
