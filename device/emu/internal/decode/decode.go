package decode

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/device/emu/internal/ops"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// decode decodes the body of a function. It notes the instructions that the emulator cannot
// execute in fn.Refused. With contract, mul and add or sub become fma as an assembler does it.
func decode(p *machine.Program, fn *machine.Function, contract bool) {
	d := &operand.Decoder{
		Prog: p, Func: fn,
		Consts32: map[uint32]machine.Slot{}, Consts64: map[uint64]machine.Slot{}, Special: map[string]machine.Slot{},
		Labels: map[*ptx.Symbol]int32{}, Targets: map[*ptx.Symbol]*ptx.Targets{},
	}
	graph := verify.NewCFG(fn.Decl)
	early := earlyAccesses(graph)
	fuse := newFuser(nil)
	if contract {
		fuse = newFuser(contractions(graph))
	}
	for _, s := range fn.Decl.Body { // a list may stand after the brx that uses it
		if t, ok := s.(*ptx.Targets); ok {
			d.Targets[t.Sym] = t
		}
	}
	for _, s := range fn.Decl.Body {
		if l, ok := s.(*ptx.Label); ok {
			d.Labels[l.Sym] = int32(len(fn.Code))
		}
		if in, ok := s.(*ptx.Inst); ok {
			if err := decodeInst(d, in, early[in], fuse); err != nil {
				fn.Refused = append(fn.Refused, fmt.Errorf("%s:%d:%d: %s: %w", p.File, in.Pos.Line, in.Pos.Col, in.Op.Text, err))
			}
		}
	}
	fn.Code = append(fn.Code, machine.Op{Kind: machine.OpRet, Guard: -1}) // for a text that does not end with ret
	resolveLabels(d)
	prioritise(d, graph)
	fn.Init32 = make([]machine.Lanes32, fn.N32)
	fn.Init64 = make([]machine.Lanes64, fn.N64)
	for v, s := range d.Consts32 {
		for l := range fn.Init32[s] {
			fn.Init32[s][l] = v
		}
	}
	for v, s := range d.Consts64 {
		for l := range fn.Init64[s] {
			fn.Init64[s][l] = v
		}
	}
}

// decodeInst decodes one instruction. early lists the accumulators of running products that it may
// touch.
func decodeInst(d *operand.Decoder, in *ptx.Inst, early []*ptx.Symbol, fuse *fuser) error {
	o := machine.Op{Inst: in, Guard: -1, Target: -1}
	d.Pre, d.Err = nil, nil
	if len(early) > 0 {
		finishBefore(d, early)
	}
	fuse.save(d, in)
	x, err := isa.BindInst(fuse.replace(d, in))
	if err != nil {
		return err
	}
	if in.Guard.Sym != nil {
		o.Guard, o.Neg = d.Func.Regs[in.Guard.Sym.ID], in.Guard.Neg
	}
	if err := ops.Decode(d, &x, &o); err != nil {
		return err
	}
	if d.Err != nil {
		return d.Err
	}
	d.Func.Code = append(append(d.Func.Code, d.Pre...), o)
	return nil
}

// resolveLabels replaces forward references with the positions of the labels.
func resolveLabels(d *operand.Decoder) {
	fix := func(t *int32) {
		if *t < -1 {
			*t = d.Labels[d.Forward[-*t-2]]
		}
	}
	for i := range d.Func.Code {
		fix(&d.Func.Code[i].Target)
		for j := range d.Func.Code[i].Table {
			fix(&d.Func.Code[i].Table[j])
		}
	}
}

// prioritise numbers the instructions in reverse postorder of their blocks.
func prioritise(d *operand.Decoder, g *verify.CFG) {
	first := map[*ptx.Inst]int32{}
	n := int32(0)
	for _, b := range g.RPO {
		for _, s := range d.Func.Decl.Body[g.Blocks[b].Start:g.Blocks[b].End] {
			if in, ok := s.(*ptx.Inst); ok {
				first[in] = n
				n++
			}
		}
	}
	for i := len(d.Func.Code) - 1; i >= 0; i-- {
		o := &d.Func.Code[i]
		if p, ok := first[o.Inst]; ok && o.Inst != nil {
			n = p // operations before an instruction share its number
		}
		o.Prio = n
	}
}
