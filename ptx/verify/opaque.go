package verify

import (
	"slices"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// tensorMemory checks an address in tensor memory: a register of 32 bits, or a constant.
func (d *decoder) tensorMemory(in *ptx.Inst, o *ptx.Operand) {
	switch {
	case o.Sym == nil || o.Sym.Kind == ptx.UndefinedSymbol:
	case o.Sym.Kind != ptx.RegSymbol:
		d.errorf(in, o, "bad-operand", "%s is a %s; an address in tensor memory is in a register", o.Sym.Name, o.Sym.Kind)
	case !addressable(o.Sym.Type) || o.Sym.Type.Bits() != 32:
		d.errorf(in, o, "type-mismatch", "address %s is .%s; an address in tensor memory has 32 bits", o.Sym.Name, o.Sym.Type)
	}
}

// opaqueTypes are the types of variables that an operand of a kind may name.
var opaqueTypes = map[isa.ParamKind][]ptx.Type{
	isa.Texture: {ptx.TexRef}, isa.Surface: {ptx.SurfRef}, isa.Opaque: {ptx.TexRef, ptx.SamplerRef, ptx.SurfRef},
}

// opaque checks a texture, a sampler or a surface with its coordinates.
func (d *decoder) opaque(in *ptx.Inst, m isa.Match, p *isa.Param, o *ptx.Operand) {
	d.handle(in, o, opaqueTypes[p.Kind])
	n := m.Coords(p)
	if n == 0 {
		return
	}
	elems := o.Elems
	if p.Kind == isa.Texture && len(elems) == 2 {
		d.handle(in, &elems[0], []ptx.Type{ptx.SamplerRef})
		elems = elems[1:]
	}
	if len(elems) != 1 {
		d.errorf(in, o, "bad-operand", "%s gives no coordinates; write %s", o, m.Form.Syntax)
		return
	}
	coords := []ptx.Operand{elems[0]} // a single coordinate needs no braces
	if elems[0].Kind == ptx.VecOperand {
		coords = elems[0].Elems
	}
	got := len(coords)
	if c := &elems[0]; c.Kind == ptx.RegOperand && c.Comp == 0 && c.Sym.Vec > 0 {
		coords, got = nil, int(c.Sym.Vec)
	}
	// Four coordinates fit every texture; those that its geometry does not have are ignored.
	if got != n && !(n == 4 && got == 3) && !(got == 4 && p.Kind == isa.Texture) {
		d.errorf(in, o, "bad-operand", "%s has %s; the geometry takes %d", o, english.Count(got, "coordinate"), n)
		return
	}
	for i := range coords {
		d.scalar(in, &coords[i], ptx.B32, false)
	}
}

// handle checks the name of a texture, a sampler or a surface, or the register that holds its handle.
func (d *decoder) handle(in *ptx.Inst, o *ptx.Operand, types []ptx.Type) {
	s := o.Sym
	switch {
	case s == nil:
		d.errorf(in, o, "bad-operand", "%s is not a texture, a sampler or a surface", o)
	case s.Kind == ptx.UndefinedSymbol:
	case s.Kind == ptx.RegSymbol:
		if !addressable(s.Type) || s.Type.Bits() != 64 {
			d.errorf(in, o, "type-mismatch", "%s is .%s; a handle is in a register of 64 bits", s.Name, s.Type)
		}
	case s.Kind != ptx.VarSymbol || s.Var != nil && s.Var.Type.Class() == ptx.ClassOpaque && !slices.Contains(types, s.Var.Type):
		d.errorf(in, o, "type-mismatch", "%s is not a .%s", s.Name, types[0])
	}
}
