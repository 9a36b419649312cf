package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the operand as PTX text.
func (o Operand) String() string {
	p := printer{}
	p.operand(&o)
	return string(p.b)
}

// perLine is how many elements of a long vector are printed on a line. A wgmma accumulator
// has up to 128.
const perLine = 16

func (p *printer) operands(ops []Operand) {
	for i := range ops {
		if i > 0 {
			p.str(",")
			if i%perLine == 0 {
				p.str("\n")
				p.line()
				p.str("\t")
			} else {
				p.str(" ")
			}
		}
		p.operand(&ops[i])
	}
}

func (p *printer) operand(o *Operand) {
	if o.Neg {
		p.str("!")
	}
	if o.Flags&Minus != 0 {
		p.str("-")
	}
	switch o.Kind {
	case RegOperand:
		p.register(o)
	case SpecialOperand:
		p.str(o.Sym.Name)
	case ImmOperand:
		p.imm(o)
	case F32Operand:
		p.str("0f", fmt.Sprintf("%08X", uint32(o.Val)))
	case F64Operand:
		p.str("0d", fmt.Sprintf("%016X", uint64(o.Val)))
	case SymOperand:
		p.symbol(o)
	case AddrOperand:
		p.address(o)
	case VecOperand:
		p.str("{")
		p.operands(o.Elems)
		p.str("}")
	case ListOperand:
		p.str("(")
		p.operands(o.Elems)
		p.str(")")
	case PairOperand:
		p.operand(&o.Elems[0])
		p.str("|")
		p.operand(&o.Elems[1])
	case SinkOperand:
		p.str("_")
	case StringOperand:
		p.string(o)
	case IndexOperand:
		p.index(o)
	case FieldOperand:
		p.str(o.Sym.Name, " = ")
		p.operand(&o.Elems[0])
	default:
		panic(fmt.Sprintf("ptx: operand of kind %d", o.Kind))
	}
}

func (p *printer) imm(o *Operand) {
	switch {
	case o.Flags&Hex != 0:
		p.str("0x")
		p.b = strconv.AppendUint(p.b, uint64(o.Val), 16)
	case o.Flags&Unsigned != 0:
		p.b = strconv.AppendUint(p.b, uint64(o.Val), 10)
	default:
		p.int(o.Val)
	}
	if o.Flags&Unsigned != 0 {
		p.str("U")
	}
}

func (p *printer) register(o *Operand) {
	p.str(o.Sym.Name)
	if o.Comp != 0 {
		p.b = append(p.b, '.', o.Comp)
	}
	if o.Flags&Selector != 0 {
		p.str(".", o.Elems[0].Sym.Name)
	}
	p.offset(o)
}

func (p *printer) string(o *Operand) {
	if o.Flags&Word != 0 {
		p.str(o.Sym.Name)
	} else {
		p.str(quote(o.Sym.Name))
	}
}

func (p *printer) index(o *Operand) {
	p.str(o.Sym.Name, "[")
	if len(o.Elems) > 0 {
		p.operand(&o.Elems[0])
		p.offset(o)
	} else {
		p.int(o.Val)
	}
	p.str("]")
}

// symbol prints a name with its offset. The offset comes inside the parentheses of a mask,
// and after the parentheses of generic.
func (p *printer) symbol(o *Operand) {
	if o.Flags&MaskOf != 0 {
		p.operand(&o.Elems[0])
		p.str("(")
	}
	if o.Flags&GenericOf != 0 {
		p.str("generic(", o.Sym.Name, ")")
	} else {
		p.str(o.Sym.Name)
	}
	p.offset(o)
	if o.Flags&MaskOf != 0 {
		p.str(")")
	}
}

func (p *printer) offset(o *Operand) {
	if o.Val != 0 || o.Flags&PlusZero != 0 { // PTX knows only "+": a negative offset is "+-8"
		p.str("+")
		p.int(o.Val)
	}
}

func (p *printer) address(o *Operand) {
	p.str("[")
	if o.Sym == nil {
		p.imm(o)
	} else {
		p.str(o.Sym.Name)
		if o.Comp != 0 {
			p.b = append(p.b, '.', o.Comp)
		}
		p.offset(o)
	}
	for i := range o.Elems {
		p.str(", ")
		p.operand(&o.Elems[i])
	}
	p.str("]")
	if o.Flags&Unified != 0 {
		p.str(".unified")
	}
}

// quote writes a PTX string. It has no escapes, so a quote inside becomes an
// apostrophe.
func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, "'") + `"` }
