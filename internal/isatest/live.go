package isatest

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// An assembler removes an instruction whose result is not used, and folds an instruction
// whose operands are not set. Therefore registers are loaded from memory first, and the
// results of a sample are stored to memory.

func (b *bench) emit(to []ptx.Stmt, opcode string, args ...ptx.Operand) []ptx.Stmt {
	return append(to, &ptx.Inst{Op: ptx.NewOpcode(opcode), Args: args})
}

// load returns the statements that load each register from memory.
func (b *bench) load() []ptx.Stmt {
	ss := []ptx.Stmt{
		&ptx.RegDecl{Type: b.word.Type, Names: []ptx.RegName{{Prefix: b.word.Name}}},
		&ptx.RegDecl{Type: b.base.Type, Names: []ptx.RegName{{Prefix: b.base.Name}}},
	}
	ss = b.emit(ss, "ld.param.b64", ptx.RegOp(b.base), ptx.AddrOp(b.param, 0))
	for i, r := range b.fn.Regs {
		from := ptx.AddrOp(b.base, int64(16*i))
		switch r.Type {
		case ptx.B128: // only newer PTX versions load and store this type
		case ptx.Pred:
			ss = b.emit(ss, "ld.global.b32", ptx.RegOp(b.word), from)
			ss = b.emit(ss, "setp.ne.s32", ptx.RegOp(r), ptx.RegOp(b.word), ptx.ImmOp(0))
		default:
			ss = b.emit(ss, "ld.global.b"+strconv.Itoa(r.Type.Bits()), ptx.RegOp(r), from)
		}
	}
	b.own(b.word)
	b.own(b.base)
	return ss
}

// store writes the results of a sample to memory. One element of a vector is enough to keep
// the instruction.
func (b *bench) store(m isa.Match, in *ptx.Inst) {
	at, err := m.Bind(in.Args)
	if err != nil {
		return // TestResolve reports it
	}
	for i, n := range at {
		if n < 0 || m.Form.Params[i].Access == isa.Read {
			continue
		}
		b.storeResult(in.Args[n])
	}
}

func (b *bench) storeResult(o ptx.Operand) {
	switch o.Kind {
	case ptx.RegOperand:
		b.storeReg(o)
	case ptx.PairOperand:
		b.storeResult(o.Elems[0])
		b.storeResult(o.Elems[1])
	case ptx.VecOperand:
		b.storeReg(o.Elems[0])
	}
}

func (b *bench) storeReg(r ptx.Operand) {
	to := ptx.AddrOp(b.base, 0)
	r.Flags &^= ptx.Selector // store the whole register
	switch r.Sym.Type {
	case ptx.B128:
	case ptx.Pred:
		b.body = b.emit(b.body, "selp.b32", ptx.RegOp(b.word), ptx.ImmOp(1), ptx.ImmOp(0), r)
		b.body = b.emit(b.body, "st.volatile.global.b32", to, ptx.RegOp(b.word))
	default:
		b.body = b.emit(b.body, "st.volatile.global.b"+strconv.Itoa(r.Sym.Type.Bits()), to, r)
	}
}
