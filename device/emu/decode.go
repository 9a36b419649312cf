package emu

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// inst is an instruction while it is decoded.
type inst = isa.Bound

// decoder decodes one function.
type decoder struct {
	p       *program
	fn      *function
	c32     map[uint32]slot // constants
	c64     map[uint64]slot //
	special map[string]slot // special registers
	labels  map[*ptx.Symbol]int32
	targets map[*ptx.Symbol]*ptx.Targets
	forward []*ptx.Symbol // labels that were used before they were seen
	pre     []op          // to run before the instruction at hand
	err     error
}

// fail notes why the instruction cannot be decoded.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// Error is an instruction that the emulator cannot run.
type Error struct {
	File string
	Pos  ptx.Pos
	Inst string
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s: %v", e.File, e.Pos.Line, e.Pos.Col, e.Inst, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// decode decodes a function into p.funcs.
func (p *program) decode(fn *function) error {
	d := &decoder{
		p: p, fn: fn,
		c32: map[uint32]slot{}, c64: map[uint64]slot{}, special: map[string]slot{},
		labels: map[*ptx.Symbol]int32{}, targets: map[*ptx.Symbol]*ptx.Targets{},
	}
	var errs []error
	for _, s := range fn.f.Body {
		switch s := s.(type) {
		case *ptx.Label:
			d.labels[s.Sym] = int32(len(fn.code))
		case *ptx.Targets:
			d.targets[s.Sym] = s
		}
		if in, ok := s.(*ptx.Inst); ok {
			if err := d.inst(in); err != nil {
				errs = append(errs, &Error{p.file, in.Pos, in.Op.Text, err})
			}
		}
	}
	fn.code = append(fn.code, op{kind: opRet, guard: -1}) // off the end of the text
	d.resolveLabels()
	d.prioritise()
	fn.tmpl32 = make([]lanes32, fn.n32)
	fn.tmpl64 = make([]lanes64, fn.n64)
	for v, s := range d.c32 {
		for l := range fn.tmpl32[s] {
			fn.tmpl32[s][l] = v
		}
	}
	for v, s := range d.c64 {
		for l := range fn.tmpl64[s] {
			fn.tmpl64[s][l] = v
		}
	}
	return errors.Join(errs...)
}

// inst decodes one instruction.
func (d *decoder) inst(in *ptx.Inst) error {
	x, err := isa.BindInst(in)
	if err != nil {
		return err
	}
	o := op{in: in, guard: -1, target: -1}
	d.pre, d.err = nil, nil
	if in.Guard.Sym != nil {
		o.guard, o.neg = d.fn.regs[in.Guard.Sym.ID], in.Guard.Neg
	}
	if err := d.execute(&x, &o); err != nil {
		return err
	}
	if d.err != nil {
		return d.err
	}
	d.fn.code = append(append(d.fn.code, d.pre...), o)
	return nil
}

// label is the branch target that an operand names. Targets behind the branch are
// not known yet: the label's symbol is kept until resolveLabels.
func (d *decoder) label(o *ptx.Operand) int32 {
	if t, ok := d.labels[o.Sym]; ok {
		return t
	}
	d.forward = append(d.forward, o.Sym)
	return -int32(len(d.forward)) - 1
}

// resolveLabels replaces forward references by where the labels are.
func (d *decoder) resolveLabels() {
	fix := func(t *int32) {
		if *t < -1 {
			*t = d.labels[d.forward[-*t-2]]
		}
	}
	for i := range d.fn.code {
		fix(&d.fn.code[i].target)
		for j := range d.fn.code[i].table {
			fix(&d.fn.code[i].table[j])
		}
	}
}

// prioritise numbers the instructions in reverse postorder of their blocks.
func (d *decoder) prioritise() {
	g := verify.NewCFG(d.fn.f)
	first := map[*ptx.Inst]int32{}
	n := int32(0)
	for _, b := range g.RPO {
		for _, s := range d.fn.f.Body[g.Blocks[b].Start:g.Blocks[b].End] {
			if in, ok := s.(*ptx.Inst); ok {
				first[in] = n
				n++
			}
		}
	}
	for i := len(d.fn.code) - 1; i >= 0; i-- {
		o := &d.fn.code[i]
		if p, ok := first[o.in]; ok && o.in != nil {
			n = p // what runs before an instruction shares its place
		}
		o.prio = n
	}
}
