package verify

import "github.com/GOATnote-Inc/attest/ptx"

// agrees reports whether a register of type reg can be an operand of type t.
// With wider, the register may be larger than the type, as in ld, st and cvt.
//
// A register of a bits type holds any value of its size, and a bits operand takes any
// register of its size. Signed and unsigned registers are interchangeable. A float operand
// needs a register of its own type. The other types (bf16, tf32, e4m3x2 …) are held in bits
// registers; ptxas also accepts integer registers for pairs of 8-bit floats, and treats
// .f16x2 registers as integers.
func agrees(reg, t ptx.Type, wider bool) bool {
	if reg == t {
		return true
	}
	if reg == ptx.Pred || t == ptx.Pred {
		return false
	}
	if reg.Bits() < t.Bits() || reg.Bits() > t.Bits() && !wider {
		return false
	}
	if reg.Class() == ptx.ClassBits || t.Class() == ptx.ClassBits {
		return true
	}
	switch {
	case t.Integer(), t == ptx.E4M3x2, t == ptx.E5M2x2:
		return reg.Integer() || reg == ptx.F16x2
	case t == ptx.U16x2, t == ptx.S16x2:
		return reg == ptx.F16x2
	}
	return false
}

// constantFits reports whether an operand of type t can be a constant of that kind. Types
// without literals (f16, bf16x2 …) have no constants.
func constantFits(kind ptx.OperandKind, t ptx.Type) bool {
	switch t.Class() {
	case ptx.ClassBits:
		switch kind {
		case ptx.F32Operand:
			return t == ptx.B32
		case ptx.F64Operand:
			return t == ptx.B64
		}
		return t != ptx.B128 // constants have 64 bits
	case ptx.ClassUnsigned, ptx.ClassSigned, ptx.ClassPred:
		return kind == ptx.ImmOperand
	case ptx.ClassFloat:
		return kind != ptx.ImmOperand && t != ptx.F16
	}
	return false
}

// inRange reports whether the constant fits the type's size, read as signed or as unsigned.
func inRange(o *ptx.Operand, t ptx.Type) bool {
	bits := t.Bits()
	if bits >= 64 || t == ptx.Pred {
		return true
	}
	if o.Flags&ptx.Unsigned != 0 && o.Val < 0 {
		return false // above 2^63
	}
	return o.Val >= -(int64(1)<<(bits-1)) && o.Val < int64(1)<<bits
}

// addressable reports whether a register of the type can hold an address.
func addressable(t ptx.Type) bool {
	return (t.Integer() || t.Class() == ptx.ClassBits) && t.Bits() <= 64
}

// vectorMixes reports whether one {…} of a move, load or store can have registers of both
// types: they must have the same size, and not be an integer and a float.
func vectorMixes(a, b ptx.Type) bool {
	if a == b {
		return true
	}
	if a.Bits() != b.Bits() || a == ptx.Pred || b == ptx.Pred {
		return false
	}
	return a.Class() == ptx.ClassBits || b.Class() == ptx.ClassBits || a.Integer() && b.Integer()
}
