package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/numeric/tensor"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("wmma", func(d *decoder, x *inst, o *op) {
		switch {
		case x.Has("load"):
			aligned(d, o, buildFragmentLoad(d, x))
		case x.Has("store"):
			aligned(d, o, buildFragmentStore(d, x))
		default:
			aligned(d, o, buildWMMA(d, x))
		}
	})
}

// buildWMMA builds wmma.mma. The layouts of a and b matter only to wmma.load, because
// the fragments are the same for both.
func buildWMMA(d *decoder, x *inst) exec {
	ts, s := Types(x), Shape(x)
	if len(ts) == 2 { // d and c; the factors are f16
		ts = []string{ts[0], "f16", "f16", ts[1]}
	}
	bits := TypeBits(ts[1])
	a, b, c := layout.WMMA(s, bits, ts[1] == "f16")
	if ts[0] == "f64" {
		return buildF64(d, x, s, a, b, c)
	}
	return buildWarpProduct(d, x, warpProduct{
		product: productOf(d, x, tensor.WMMA, ts[1], ts[2], sumType(ts[0], ts[3])),
		shape:   s, depthA: s.K, bits: bits, d: ts[0], c: ts[3], at: [3]layout.Fragment{a, b, c},
	})
}

// sumType returns the type in which a product is summed.
func sumType(d, c string) string {
	if c == "f32" {
		return c
	}
	return d
}

// TypeBits returns the size of an element of a matrix.
func TypeBits(t string) int {
	if k, ok := kinds[t]; ok {
		return k.Bits()
	}
	return ptx.ParseType(t).Bits()
}

// memoryFragment is a fragment that is loaded or stored. The offset of each element in
// memory is a multiple of the stride plus a multiple of the size of an element.
type memoryFragment struct {
	a      *machine.Address
	stride slot
	bits   int
	per    int // elements of a register
	regs   []slot
	wide   bool // registers have 64 bits
	outer  [][32]uint16
	inner  [][32]uint16
}

func memoryFragmentOf(d *decoder, x *inst, matrix string) *memoryFragment {
	t, s := x.Mod("type"), Shape(x)
	m := &memoryFragment{a: d.Addr(x.Arg("p"), x.SpaceName("p")), bits: TypeBits(t), wide: t == "f64"}
	a, b, c := layout.WMMA(s, m.bits, t == "f16")
	frag, rows, cols := c, s.M, s.N
	switch matrix {
	case "a":
		frag, cols = a, s.K
	case "b":
		frag, rows = b, s.K
	}
	col := x.Has("col")
	lead := cols
	if col {
		lead = rows
	}
	m.stride = d.Const32(uint32(lead))
	if o := x.Arg("stride"); o != nil {
		m.stride = d.Src32(o, ptx.U32)
	}
	m.per = max(1, 32/m.bits)
	m.outer, m.inner = make([][32]uint16, frag.Elements), make([][32]uint16, frag.Elements)
	for i := range frag.Elements {
		for l := range 32 {
			p := frag.At(l, i)
			if col {
				p.Row, p.Col = p.Col, p.Row
			}
			m.outer[i][l], m.inner[i][l] = uint16(p.Row), uint16(p.Col)
		}
	}
	return m
}

// bytes returns the size of an element, or of the word of several elements if they are
// smaller than a byte.
func (m *memoryFragment) bytes() int {
	if m.bits < 8 {
		return 4
	}
	return m.bits / 8
}

// addr returns the address of element i of a lane.
func (m *memoryFragment) addr(f *frame, lane, i int) uint64 {
	at := uint64(m.outer[i][lane])*uint64(f.R32[m.stride][lane]) + uint64(m.inner[i][lane])
	return m.a.At(f, lane) + at*uint64(m.bits)/8
}

// each calls do with element i of each lane.
func (m *memoryFragment) each(f *frame, mask uint32, i int, write bool, do func(lane int, b []byte)) {
	n := m.bytes()
	if mem := m.span(f, mask, i, write); mem != nil {
		machine.EachLane(mask, func(l int) { do(l, mem[f.Warp.Offsets[l]:][:n]) })
		return
	}
	machine.EachLane(mask, func(l int) {
		addr := m.addr(f, l, i)
		if addr%uint64(n) != 0 {
			f.Raise(l, "address %#x is not aligned to %d bytes", addr, n)
		}
		do(l, f.Memory(l, m.a.Space, addr, n, write))
	})
}

// span returns the memory that holds element i of all lanes, with the offsets in
// f.Warp.Offsets, or nil: see machine.Address.Span.
func (m *memoryFragment) span(f *frame, mask uint32, i int, write bool) []byte {
	mem, base := m.a.Piece(f, bits.TrailingZeros32(mask), write)
	n := uint64(m.bytes())
	if uint64(len(mem)) < n {
		return nil
	}
	for rest := mask; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		o := m.addr(f, l, i) - base
		if f.Warp.Offsets[l] = o; o > uint64(len(mem))-n || o%n != 0 {
			return nil
		}
	}
	if f.Block.Watch != nil {
		f.Warp.Moving = nil
		f.AnnounceSpan(m.a, mask, int(n), write, base)
	}
	return mem
}

func buildFragmentLoad(d *decoder, x *inst) exec {
	m := memoryFragmentOf(d, x, x.Mod("matrix"))
	if m.wide {
		m.regs = d.Results(x.Arg("r"), ptx.F64)
		return func(f *frame, mask uint32) {
			for i, s := range m.regs {
				m.each(f, mask, i, false, func(l int, b []byte) { f.R64[s][l] = memory.Word(b) })
			}
		}
	}
	m.regs = d.Results(x.Arg("r"), ptx.B32)
	return func(f *frame, mask uint32) {
		var out [8]machine.Lanes32 // a buffer, because a destination may be the register of the stride
		for r := range m.regs {
			for e := range m.elements() {
				m.each(f, mask, r*m.per+e, false, func(l int, b []byte) { out[r][l] |= uint32(memory.Word(b)) << (e * m.bits) })
			}
		}
		for r, s := range m.regs {
			machine.MoveLanes(&f.R32[s], &out[r], mask)
		}
	}
}

// elements returns how many elements of a register are loaded one by one.
func (m *memoryFragment) elements() int {
	if m.bits < 8 {
		return 1 // the whole word
	}
	return m.per
}

func buildFragmentStore(d *decoder, x *inst) exec {
	m := memoryFragmentOf(d, x, "d")
	if m.wide {
		for _, e := range machine.Elements(x.Arg("r")) {
			m.regs = append(m.regs, d.Src64(e, ptx.F64))
		}
		return func(f *frame, mask uint32) {
			for i, s := range m.regs {
				m.each(f, mask, i, true, func(l int, b []byte) { memory.PutWord(b, f.R64[s][l]) })
			}
		}
	}
	m.regs = d.Sources(x.Arg("r"))
	return func(f *frame, mask uint32) {
		for r, s := range m.regs {
			for e := range m.per {
				m.each(f, mask, r*m.per+e, true, func(l int, b []byte) { memory.PutWord(b, uint64(f.R32[s][l]>>(e*m.bits))) })
			}
		}
	}
}
