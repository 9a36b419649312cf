package build

import (
	"math"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Address is an address in some state space.
type Address interface {
	arg
	// Space returns the state space as PTX writes it: "global", "shared", "shared::cluster",
	// or "" for generic addresses.
	Space() string
}

// GlobalAddr is an address in global memory: a [Global] of any type.
type GlobalAddr interface {
	Address
	in() globalSpace
}

// SharedAddr is an address in shared memory: a [Shared] of any type, or a
// [SharedCluster] of any type.
type SharedAddr interface {
	Address
	// Addr returns the address as a number. Only addresses in shared memory have 32 bits.
	Addr() U32
}

// address is the content of a typed address: a base, which is a register or a declared
// variable, and a constant offset in bytes.
type address struct {
	_     [0]func() // not comparable, so that Go needs no comparison function for each Ptr
	k     *Kernel
	base  *val // nil when sym is the base
	sym   *ptx.Symbol
	off   int64
	space string
}

func (p *address) operand(k *Kernel) (ptx.Operand, bool) {
	if p.sym != nil {
		if n := p.sharedBytes(); p.off < 0 || p.off >= n {
			k.errorf("byte %d of the shared variable %s, which has %d bytes", p.off, p.sym.Name, n)
			return ptx.Operand{}, false
		}
		return ptx.AddrOp(p.sym, p.off), true
	}
	o, ok := p.base.operand(k)
	return ptx.AddrOp(o.Sym, p.off), ok
}

// sharedBytes returns the size of the shared variable that is the base, or MaxInt64 where
// the size is unknown: for other bases and for dynamic shared memory.
func (p *address) sharedBytes() int64 {
	if p.sym == nil || p.sym.Var == nil || p.sym.Var.Space != ptx.Shared || p.sym.Var.Dims[0] == ptx.Unsized {
		return math.MaxInt64
	}
	return p.sym.Var.Dims[0] * int64(p.sym.Var.Type.Bytes())
}

// op spells an instruction on elements of type t: "ld" becomes "ld.global.v4.f32". It
// reports an access that begins inside a shared variable and ends beyond it.
func (p *address) op(name, vec string, t ptx.Type) string {
	elems := int64(1)
	if vec != "" {
		elems = int64(vec[len(vec)-1] - '0')
	}
	n, size := p.sharedBytes(), elems*int64(t.Bytes())
	if p.off >= 0 && p.off < n && size > n-p.off {
		p.k.errorf("%s of %d bytes at byte %d of the shared variable %s, which has %d bytes", name, size, p.off, p.sym.Name, n)
	}
	if p.space != "" {
		name += "." + p.space
	}
	return name + vec + "." + memType(t).String()
}

// memType returns the type that a load or store of t is written with: memory has no packed
// types.
func memType(t ptx.Type) ptx.Type {
	if t.Class() == ptx.ClassPacked || t == ptx.F16 {
		switch t.Bits() {
		case 8:
			return ptx.B8
		case 16:
			return ptx.B16
		case 32:
			return ptx.B32
		case 64:
			return ptx.B64
		}
	}
	return t
}

// plus returns the address n bytes after p.
func (p *address) plus(n int64) address {
	q := *p
	q.off += n
	return q
}

// plusElems returns the address n elements of type t after p.
func (p *address) plusElems(n int, t ptx.Type) address { return p.plus(int64(n) * int64(t.Bytes())) }

// at returns the address of element index of type t. wide is the type of addresses in the
// state space of p.
func (p *address) at(index Int, t, wide ptx.Type) address {
	if n, ok := goInt(index); ok {
		return p.plusElems(n, t)
	}
	i := p.k.AsU32(index)
	q := *p
	if wide == ptx.U64 {
		q.base = i.MadWide(t.Bytes(), U64{p.baseReg(wide)}).val
	} else {
		q.base = i.MadLo(t.Bytes(), U32{p.baseReg(wide)}).val
	}
	q.sym = nil
	return q
}

// number returns the address as a number of type wide.
func (p *address) number(wide ptx.Type) *val {
	base := p.baseReg(wide)
	switch {
	case p.off == 0:
		return base
	case wide == ptx.U64:
		return U64{base}.Add(uint64(p.off)).val
	default:
		return U32{base}.Add(uint32(p.off)).val
	}
}

// baseReg returns the base in a register.
func (p *address) baseReg(t ptx.Type) *val {
	if p.sym == nil {
		return p.base
	}
	if t == ptx.U64 {
		return emit1[U64](p.k, "mov.u64", nil, symArg{p.sym}).val
	}
	return emit1[U32](p.k, "mov.u32", nil, symArg{p.sym}).val
}

// symArg is the address of a variable as an operand of mov.
type symArg struct{ sym *ptx.Symbol }

func (s symArg) operand(*Kernel) (ptx.Operand, bool) { return ptx.SymOp(s.sym), true }

// The state spaces, as type arguments of [Ptr].
type (
	globalSpace  struct{}
	sharedSpace  struct{}
	clusterSpace struct{}
	genericSpace struct{}
)

// Ptr is the address of a T. Its names are [Global], [Shared], [SharedCluster] and [Generic]:
// A is the type of the address as a number, and S is the state space.
//
// Go compiles the methods of a generic type again in each package that imports this one, once
// for each T, and once more for a type that embeds it or has it as a value. Ptr is therefore
// one type with pointer receivers for all state spaces, and the work is done by methods of
// address, which Go compiles once.
type Ptr[T, A Value, S any] struct{ a address }

// Global is the address of a T in global memory.
type Global[T Value] = *Ptr[T, U64, globalSpace]

// Shared is the address of a T in the block's shared memory.
type Shared[T Value] = *Ptr[T, U32, sharedSpace]

// SharedCluster is the address of a T in the shared memory of a block of the cluster.
type SharedCluster[T Value] = *Ptr[T, U32, clusterSpace]

// Generic is the address of a T in the generic window.
type Generic[T Value] = *Ptr[T, U64, genericSpace]

func (p *Ptr[T, A, S]) in() (space S) { return space }

func (p *Ptr[T, A, S]) operand(k *Kernel) (ptx.Operand, bool) {
	if p == nil {
		k.errorf("an address is a zero value: it was declared and never given a value")
		return ptx.Operand{}, false
	}
	return p.a.operand(k)
}

// Space returns the state space as PTX writes it.
func (p *Ptr[T, A, S]) Space() string {
	if p == nil {
		return "" // operand reports the misuse
	}
	return p.a.space
}

// Kernel returns the kernel that the address belongs to.
func (p *Ptr[T, A, S]) Kernel() *Kernel { return p.a.k }

// Addr returns the address as a number.
func (p *Ptr[T, A, S]) Addr() A { return wrap[A](p.a.number(typeOf[A]())) }

// Plus returns the address n elements after p. It emits nothing.
func (p *Ptr[T, A, S]) Plus(n int) *Ptr[T, A, S] {
	return &Ptr[T, A, S]{p.a.plusElems(n, typeOf[T]())}
}

// At returns the address i elements after p. A Go integer emits nothing.
func (p *Ptr[T, A, S]) At(i Int) *Ptr[T, A, S] {
	return &Ptr[T, A, S]{p.a.at(i, typeOf[T](), typeOf[A]())}
}

// Ld is ld.space.type d, [p]. Modifiers: Nc, Volatile, Relaxed and Acquire with a
// scope, cache operators and eviction priorities.
func (p *Ptr[T, A, S]) Ld(mods ...Mod) T {
	return emit1[T](p.a.k, p.a.op("ld", "", typeOf[T]()), mods, &p.a)
}

// Ldu is ldu.global.type d, [p]: all threads of the warp read the same address.
func (p *Ptr[T, A, S]) Ldu() T {
	return emit1[T](p.a.k, p.a.op("ldu", "", typeOf[T]()), nil, &p.a)
}

// LdV2 is ld.space.v2.type: it loads two neighbours at once.
func (p *Ptr[T, A, S]) LdV2(mods ...Mod) [2]T {
	return [2]T(emitVec[T](p.a.k, p.a.op("ld", ".v2", typeOf[T]()), 2, mods, &p.a))
}

// LdV4 is ld.space.v4.type: it loads four neighbours at once.
func (p *Ptr[T, A, S]) LdV4(mods ...Mod) [4]T {
	return [4]T(emitVec[T](p.a.k, p.a.op("ld", ".v4", typeOf[T]()), 4, mods, &p.a))
}

// St is st.space.type [p], v.
func (p *Ptr[T, A, S]) St(v Operand, mods ...Mod) { p.a.give("st", typeOf[T](), v, mods) }

// StV2 is st.space.v2.type [p], {v…}.
func (p *Ptr[T, A, S]) StV2(v [2]T, mods ...Mod) {
	emit0(p.a.k, p.a.op("st", ".v2", typeOf[T]()), mods, &p.a, vecOf(v[:]))
}

// StV4 is st.space.v4.type [p], {v…}.
func (p *Ptr[T, A, S]) StV4(v [4]T, mods ...Mod) {
	emit0(p.a.k, p.a.op("st", ".v4", typeOf[T]()), mods, &p.a, vecOf(v[:]))
}

// give emits an instruction that gives the memory at p a value of type t and has no result.
func (p *address) give(name string, t ptx.Type, v Operand, mods []Mod) {
	emit0(p.k, p.op(name, "", t), mods, p, in(t, v))
}

// GlobalAt returns an address in global memory that the kernel has computed.
func GlobalAt[T Value](addr U64) Global[T] {
	return &Ptr[T, U64, globalSpace]{address{k: kernelOf(addr), base: addr.val, space: "global"}}
}

// SharedAt returns an address in shared memory that the kernel has computed.
func SharedAt[T Value](addr U32) Shared[T] {
	return &Ptr[T, U32, sharedSpace]{address{k: kernelOf(addr), base: addr.val, space: "shared"}}
}

// SharedAs returns the address n bytes after p, as the address of a T.
func SharedAs[T, F Value](p Shared[F], n int) Shared[T] {
	return &Ptr[T, U32, sharedSpace]{p.a.plus(int64(n))}
}

// Mapa is mapa.shared::cluster.u32: it returns the address that p has in block cta of the
// cluster. Needs sm_90 and PTX 7.8.
//
// Mapa is not a method of Shared: then each Shared[T] would need a SharedCluster[T], whose
// methods would be compiled again in each package that imports this one.
func Mapa[T Value](p Shared[T], cta Int) SharedCluster[T] {
	a := emit1[U32](p.a.k, "mapa.shared::cluster.u32", nil, p.Addr(), in(ptx.U32, cta))
	return &Ptr[T, U32, clusterSpace]{address{k: p.a.k, base: a.val, space: "shared::cluster"}}
}
