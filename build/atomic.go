package build

// AtomicOp is what an atomic does with the value in memory.
type AtomicOp string

// The operations of Atom and Red, with old for the value in memory and v for the
// operand.
const (
	AtomicAdd  AtomicOp = "add"  // old + v
	AtomicMin  AtomicOp = "min"  // min(old, v)
	AtomicMax  AtomicOp = "max"  // max(old, v)
	AtomicInc  AtomicOp = "inc"  // old >= v ? 0 : old+1, of .u32
	AtomicDec  AtomicOp = "dec"  // old == 0 || old > v ? v : old-1, of .u32
	AtomicAnd  AtomicOp = "and"  // old & v
	AtomicOr   AtomicOp = "or"   // old | v
	AtomicXor  AtomicOp = "xor"  // old ^ v
	AtomicExch AtomicOp = "exch" // v, not of red
)

// Atom is atom.space.op.type: it replaces the value in memory by op of that value and v,
// and returns the old one.
func (p *Ptr[T, A, S]) Atom(op AtomicOp, v Operand, mods ...Mod) T {
	return emit1[T](p.a.k, p.a.op("atom."+string(op), "", typeOf[T]()), mods, &p.a, in(typeOf[T](), v))
}

// AtomCas is atom.space.cas.type: it stores v if the value in memory is old, and returns
// what was there before.
func (p *Ptr[T, A, S]) AtomCas(old, v Operand, mods ...Mod) T {
	t := typeOf[T]()
	return emit1[T](p.a.k, p.a.op("atom.cas", "", t), mods, &p.a, in(t, old), in(t, v))
}

// Red is red.space.op.type: Atom without a result.
func (p *Ptr[T, A, S]) Red(op AtomicOp, v Operand, mods ...Mod) {
	p.a.give("red."+string(op), typeOf[T](), v, mods)
}
