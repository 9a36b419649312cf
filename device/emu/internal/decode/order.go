package decode

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/ops"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Blocks run in parallel if the result of the kernel cannot depend on their order. Otherwise one
// goroutine interleaves them, so that the result is the same every time and blocks can wait for
// each other.

// traffic describes the effects of a function, and of those that it calls, that other blocks may
// notice.
type traffic struct {
	ordered bool            // the result may depend on the order of blocks
	waits   bool            // a block may wait for others, or do what others leave to do
	adds    map[string]bool // reductions; their order does not matter if all are the same operation
}

// orderBlocks decides for each kernel whether one goroutine must interleave its blocks.
func orderBlocks(p *machine.Program, g *callGraph) {
	all := map[*machine.Function]*traffic{}
	for _, fn := range p.Funcs {
		all[fn] = trafficOf(fn)
	}
	g.spread(func(to, from *machine.Function) bool {
		if all[to] == nil {
			all[to] = &traffic{adds: map[string]bool{}}
		}
		return all[to].merge(all[from])
	})
	for _, fn := range p.Funcs {
		if fn.Decl.Entry {
			fn.Serial = all[fn].ordered || len(all[fn].adds) > 1
			fn.Waits = all[fn].waits
		}
	}
}

// merge adds the traffic of a function that is called, and reports whether that changes t.
func (t *traffic) merge(from *traffic) (changed bool) {
	if from.ordered && !t.ordered {
		t.ordered, changed = true, true
	}
	if from.waits && !t.waits {
		t.waits, changed = true, true
	}
	for kind := range from.adds {
		if !t.adds[kind] {
			t.adds[kind], changed = true, true
		}
	}
	return changed
}

// trafficOf collects the traffic of a function's instructions.
func trafficOf(fn *machine.Function) *traffic {
	t := &traffic{adds: map[string]bool{}}
	uses := usesOf(fn.Decl)
	for i := range fn.Code {
		o := &fn.Code[i]
		if o.Inst == nil {
			continue
		}
		if c := o.Call; c != nil {
			if c.Fn == nil && c.Builtin != nil && isHeap(o.Inst) {
				t.ordered = true // the addresses that malloc returns depend on the order of the calls
			}
			continue
		}
		t.add(o.Inst, uses)
	}
	return t
}

func isHeap(in *ptx.Inst) bool {
	for i := range in.Args {
		if s := in.Args[i].Sym; s != nil && (s.Name == "malloc" || s.Name == "free") {
			return true
		}
	}
	return false
}

// add adds the effects of one instruction.
func (t *traffic) add(in *ptx.Inst, uses map[*ptx.Symbol]int) {
	op, ms := in.Op, isa.Lookup(in.Op)
	if len(ms) == 0 {
		return
	}
	c := ms[0].Class()
	inBlock := op.Has("cta") || op.Has("cluster") || inShared(op)
	switch c.Role {
	case isa.RoleAtomic, isa.RoleReduction:
		if inBlock {
			return
		}
		if kind := commutativeOp(op); kind != "" && (c.Role == isa.RoleReduction || unused(in, uses)) {
			t.adds[kind] = true
			return
		}
		t.ordered = true
		// inc counts the blocks that have come, up to a number that is known. Other results may be locks or shares of work.
		t.waits = t.waits || c.Role == isa.RoleAtomic && !op.Has("inc") && !unused(in, uses)
	case isa.RoleLoad:
		if ops.MayPoll(ms[0]) && !inBlock {
			t.ordered, t.waits = true, true
		}
	case isa.RoleFence:
		if (op.Has("gl") || op.Has("gpu") || op.Has("sys")) && !op.Has("proxy") {
			t.ordered, t.waits = true, true // loads that follow may be polls
		}
	case isa.RoleAsyncReduction:
		if c.Writes.Has(ptx.Global) {
			t.ordered = true
		}
	}
}

// inShared reports whether the opcode names shared memory.
func inShared(op *ptx.Opcode) bool {
	return slices.ContainsFunc(op.Mods, func(m string) bool { return ptx.ParseSpace(m) == ptx.Shared })
}

// commutativeOp returns the operation and type of an atomic if the result in memory does
// not depend on the order of such atomics, else "". Sums of floats are excluded because
// they round differently in another order; inc and dec because each wraps at the value of
// its own operand.
func commutativeOp(op *ptx.Opcode) string {
	for _, name := range []string{"add", "min", "max", "and", "or", "xor"} {
		if !op.Has(name) {
			continue
		}
		switch t := ptx.ParseType(op.Mods[len(op.Mods)-1]); t {
		case ptx.U32, ptx.S32, ptx.B32, ptx.U64, ptx.S64, ptx.B64:
			if name == "add" { // signed and unsigned sums are the same
				return name + string('0'+rune(t.Bytes()))
			}
			return name + t.String()
		}
	}
	return ""
}

// unused reports whether no instruction reads the old value that an atomic returns.
func unused(in *ptx.Inst, uses map[*ptx.Symbol]int) bool {
	d := &in.Args[0]
	return d.Kind == ptx.SinkOperand || d.Kind == ptx.RegOperand && uses[d.Sym] == 1
}

// usesOf counts how often each register is named in a function.
func usesOf(f *ptx.Func) map[*ptx.Symbol]int {
	uses := map[*ptx.Symbol]int{}
	var count func(os []ptx.Operand)
	count = func(os []ptx.Operand) {
		for i := range os {
			if s := os[i].Sym; s != nil && s.Kind == ptx.RegSymbol {
				uses[s]++
			}
			count(os[i].Elems)
		}
	}
	for _, s := range f.Body {
		if in, ok := s.(*ptx.Inst); ok {
			count(in.Args)
			if in.Guard.Sym != nil {
				uses[in.Guard.Sym]++
			}
		}
	}
	for _, v := range f.Returns {
		uses[v.Sym]++ // a result in a register is read by the caller
	}
	return uses
}
