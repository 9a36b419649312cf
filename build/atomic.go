package build

// atom is an atomic that returns what was there before.
func (p ptr[T]) atom(op string, mods []Mod, args ...Operand) T {
	operands := []arg{p}
	for _, a := range args {
		operands = append(operands, in(typeOf[T](), a))
	}
	return emit1[T](p.k, p.op("atom."+op, ""), mods, operands...)
}

// red is an atomic that returns nothing.
func (p ptr[T]) red(op string, mods []Mod, v Operand) {
	emit0(p.k, p.op("red."+op, ""), mods, p, in(typeOf[T](), v))
}

// AtomAdd is atom.space.add.type: *p += v; it returns the old *p, as all Atoms do.
func (p ptr[T]) AtomAdd(v Operand, mods ...Mod) T { return p.atom("add", mods, v) }

// AtomMin is atom.space.min.type: *p = min(*p, v).
func (p ptr[T]) AtomMin(v Operand, mods ...Mod) T { return p.atom("min", mods, v) }

// AtomMax is atom.space.max.type: *p = max(*p, v).
func (p ptr[T]) AtomMax(v Operand, mods ...Mod) T { return p.atom("max", mods, v) }

// AtomInc is atom.space.inc.u32: *p = *p >= v ? 0 : *p+1.
func (p ptr[T]) AtomInc(v Operand, mods ...Mod) T { return p.atom("inc", mods, v) }

// AtomDec is atom.space.dec.u32: *p = *p == 0 || *p > v ? v : *p-1.
func (p ptr[T]) AtomDec(v Operand, mods ...Mod) T { return p.atom("dec", mods, v) }

// AtomAnd is atom.space.and.type: *p &= v.
func (p ptr[T]) AtomAnd(v Operand, mods ...Mod) T { return p.atom("and", mods, v) }

// AtomOr is atom.space.or.type: *p |= v.
func (p ptr[T]) AtomOr(v Operand, mods ...Mod) T { return p.atom("or", mods, v) }

// AtomXor is atom.space.xor.type: *p ^= v.
func (p ptr[T]) AtomXor(v Operand, mods ...Mod) T { return p.atom("xor", mods, v) }

// AtomExch is atom.space.exch.type: *p = v.
func (p ptr[T]) AtomExch(v Operand, mods ...Mod) T { return p.atom("exch", mods, v) }

// AtomCas is atom.space.cas.type: *p = *p == old ? v : *p.
func (p ptr[T]) AtomCas(old, v Operand, mods ...Mod) T { return p.atom("cas", mods, old, v) }

// RedAdd is red.space.add.type: *p += v.
func (p ptr[T]) RedAdd(v Operand, mods ...Mod) { p.red("add", mods, v) }

// RedMin is red.space.min.type: *p = min(*p, v).
func (p ptr[T]) RedMin(v Operand, mods ...Mod) { p.red("min", mods, v) }

// RedMax is red.space.max.type: *p = max(*p, v).
func (p ptr[T]) RedMax(v Operand, mods ...Mod) { p.red("max", mods, v) }

// RedAnd is red.space.and.type: *p &= v.
func (p ptr[T]) RedAnd(v Operand, mods ...Mod) { p.red("and", mods, v) }

// RedOr is red.space.or.type: *p |= v.
func (p ptr[T]) RedOr(v Operand, mods ...Mod) { p.red("or", mods, v) }

// RedXor is red.space.xor.type: *p ^= v.
func (p ptr[T]) RedXor(v Operand, mods ...Mod) { p.red("xor", mods, v) }
