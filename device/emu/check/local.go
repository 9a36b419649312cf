package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Local memory is undefined until it is written. Memory past the top of a thread's stack becomes
// undefined again: a function or an alloca that gets it later must not rely on old contents.

// truncate makes local memory past the top of the stacks of lanes undefined.
func (u *undefWarp) truncate(s *observe.Step) {
	s.Lanes(func(l int) {
		if top := int(s.Top(l)); top < len(u.local[l]) {
			u.local[l] = u.local[l][:top]
		}
	})
}

// undefinedAt returns the undefined bits of n ≤ 8 bytes of a lane's local memory.
func (u *undefWarp) undefinedAt(lane int, addr uint64, n int) (bits uint64) {
	m := u.local[lane]
	for i := range n {
		defined := byte(0)
		if at := addr + uint64(i); at < uint64(len(m)) {
			defined = m[at]
		}
		bits |= uint64(^defined) << (8 * i)
	}
	return bits
}

// store sets the undefined bits of n ≤ 8 bytes.
func (u *undefWarp) store(lane int, addr uint64, n int, bits uint64) {
	m := &u.local[lane]
	if need := int(addr) + n; need > len(*m) {
		old := len(*m)
		if need > cap(*m) {
			grown := make([]byte, old, max(need, 2*cap(*m)))
			copy(grown, *m)
			*m = grown
		}
		*m = (*m)[:need]
		clear((*m)[old:])
	}
	for i := range n {
		(*m)[int(addr)+i] = ^byte(bits >> (8 * i))
	}
}

// localAddress returns the place in local memory that a lane's address points to. ok is
// false for other memory, and for an access that is out of bounds.
func (x *undefStep) localAddress(lane int) (addr uint64, ok bool) {
	o, n := x.p.at, x.p.size*max(len(x.p.src), len(x.p.dst))
	space, addr := x.Address(o, x.p.space, lane)
	if space != ptx.Local {
		return 0, false
	}
	if o.Sym != nil && o.Sym.Kind == ptx.VarSymbol && x.Depth() > 0 {
		addr += x.Frame()
	}
	end := min(x.Top(lane), mostLocal)
	return addr, addr < end && addr+uint64(n) <= end
}

// mostLocal is the local memory of a thread in bytes. The stack of a recursion may end behind it.
const mostLocal = 512 << 10

// load is the rule of ld that may read local memory. Values from other memory count as defined.
func (x *undefStep) load() {
	n := x.p.size
	var first bool
	x.Lanes(func(l int) {
		addr, ok := x.localAddress(l)
		for i := range x.p.dst {
			d := &x.p.dst[i]
			if d.reg < 0 {
				continue
			}
			if !ok {
				x.put(d, l, 0)
				continue
			}
			at := addr + uint64(i*n)
			u := x.wordAt(l, at)
			if u != 0 && !first {
				first = true
				var stored bool
				if x.from, stored = x.u.storedOrigins[l][at]; !stored || u != undefOnes(8*n) {
					x.from = undefOrigin{
						kind: UninitLocal, id: x.ID, off: at, size: n, moved: true,
						padding: x.padding(l, addr, at),
					}
				}
			}
			x.put(d, l, u)
		}
	})
}

// padding reports whether an element may be the padding of a structure that is copied. It may be
// if other elements of the load are defined, or if other bytes of the same eight are defined and
// loads around it copy them.
func (x *undefStep) padding(lane int, addr, at uint64) bool {
	n := x.p.size * len(x.p.dst)
	if len(x.p.dst) > 1 {
		for i := range uint64(n) {
			if x.u.undefinedAt(lane, addr+i, 1) != 0xff {
				return true
			}
		}
	}
	return (n == 1 || x.p.copies) && n <= 8 && x.u.undefinedAt(lane, at&^7, 8) != 1<<64-1
}

// wordAt returns the undefined bits of an element in local memory, extended to the register that
// gets it. An element of 16 bytes is undefined as a whole.
func (x *undefStep) wordAt(lane int, at uint64) uint64 {
	if x.p.size == 16 {
		return x.u.undefinedAt(lane, at, 8) | x.u.undefinedAt(lane, at+8, 8)
	}
	u := x.u.undefinedAt(lane, at, x.p.size)
	if bits := 8 * x.p.size; x.p.signed && u>>(bits-1)&1 != 0 {
		u |= ^undefOnes(bits)
	}
	return u
}

// store is the rule of st. Local memory takes over the undefined bits. A store of undefined bits
// to other memory is reported, because other threads can read it.
func (x *undefStep) store() {
	n := x.p.size
	for i := range x.p.src {
		a := &x.p.src[i]
		var whole, part uint32
		x.Lanes(func(l int) {
			u := x.bits(a, l)
			if addr, ok := x.localAddress(l); ok {
				if u != 0 && x.f.regs[a.reg].from.load != nil { // values are not followed through memory
					x.f.regs[a.reg].from.use(1 << l)
					u = 0
				}
				x.storeLocal(l, addr+uint64(i*n), u)
				x.noteOrigin(l, addr+uint64(i*n), a, u)
				return
			}
			switch u {
			case 0:
			case undefOnes(a.width):
				whole |= 1 << l
			default:
				part |= 1 << l
			}
		})
		if a.reg < 0 {
			continue
		}
		r := &x.f.regs[a.reg]
		if r.from.moved && r.from.kind == UninitLocal {
			part = 0
			if r.from.padding {
				whole = 0
			}
		}
		if whole != 0 {
			x.report(undefStored, a.reg, whole, false)
		}
		if part != 0 {
			x.report(undefStored, a.reg, part, true)
		}
		r.lanes &^= whole | part
	}
}

// noteOrigin records the origin of an undefined value that is stored in local memory and is not
// padding.
func (x *undefStep) noteOrigin(lane int, addr uint64, a *undefArg, u uint64) {
	left := &x.u.storedOrigins[lane]
	if u == 0 || u != undefOnes(a.width) || x.f.regs[a.reg].from.kind != UninitRegister {
		delete(*left, addr)
		return
	}
	if *left == nil {
		*left = map[uint64]undefOrigin{}
	}
	o := x.f.regs[a.reg].from
	if o.id < 0 {
		o.id = x.ID
	}
	(*left)[addr] = o
}

func (x *undefStep) storeLocal(lane int, addr uint64, u uint64) {
	if x.p.size == 16 {
		x.u.store(lane, addr, 8, u)
		x.u.store(lane, addr+8, 8, u)
		return
	}
	x.u.store(lane, addr, x.p.size, u)
}
