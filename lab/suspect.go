package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// suspects looks at the text of a kernel for what lets a launch depend on earlier launches or on
// the moment: reads of outputs and of variables that the kernel also writes, writes of inputs,
// and special registers that differ between launches. It follows addresses from the parameters
// through registers, in any order of the instructions. It does not follow addresses through
// memory; the checker of suspectWatch sees those when they are used.
func suspects(s *Subject) []finding.Finding {
	m, err := parse.Parse(s.Name, s.PTX)
	if err != nil {
		return nil // the devices report it
	}
	var list finding.List
	state := &moduleState{declared: declaredState(s), written: map[string]bool{}}
	for _, f := range m.Funcs() {
		t := newTrace(s, f, state)
		t.follow()
		for _, one := range t.found() {
			list.Add(one)
		}
	}
	for _, f := range state.reads {
		if state.written[f.Var] {
			list.Add(f)
		}
	}
	for _, f := range unwaited(s, m) {
		list.Add(f)
	}
	return list.All()
}

// moduleState holds the uses of the variables of a module by all its functions: what one launch
// writes, another can read.
type moduleState struct {
	declared map[string]bool
	reads    []finding.Finding // they count if the kernel also writes the variable
	written  map[string]bool
}

// memoryUse is what a kernel does with a piece of memory that an address points to.
type memoryUse struct {
	operand  *kernel.Operand // nil for a variable
	variable string
}

func (u memoryUse) name() string {
	if u.operand != nil {
		return u.operand.Name
	}
	return u.variable
}

// readable reports whether a launch may use the old content of an operand.
func readable(o *kernel.Operand) bool { return o.Role != kernel.Output || o.Init != kernel.AsIs }

// trace follows addresses through the registers of a function.
type trace struct {
	s     *Subject
	f     *ptx.Func
	state *moduleState
	uses  []memoryUse
	// points holds, by symbol of a register or a parameter, the set of uses that it may point to.
	points map[*ptx.Symbol]uint64
	insts  []isa.Bound
}

func newTrace(s *Subject, f *ptx.Func, state *moduleState) *trace {
	t := &trace{s: s, f: f, state: state, points: map[*ptx.Symbol]uint64{}}
	for _, l := range s.Launches {
		if l.Entry != f.Sym.Name {
			continue
		}
		for i, a := range l.Args {
			name := a.Pointer
			if a.Map != nil {
				name = a.Map.Operand
			}
			if o := s.Operand(name); o != nil && i < len(f.Params) {
				t.points[f.Params[i].Sym] |= t.bit(memoryUse{operand: o})
			}
		}
	}
	for _, st := range f.Body {
		in, ok := st.(*ptx.Inst)
		if !ok {
			continue
		}
		if b, err := isa.BindInst(in); err == nil {
			t.insts = append(t.insts, b)
		}
	}
	return t
}

// bit returns the bit of a use. Uses after the 63rd share a bit that is never reported.
func (t *trace) bit(u memoryUse) uint64 {
	at := slices.Index(t.uses, u)
	if at < 0 {
		at = len(t.uses)
		t.uses = append(t.uses, u)
	}
	return 1 << min(at, 63)
}

// follow spreads addresses from operand to operand until nothing changes.
func (t *trace) follow() {
	for changed := true; changed; {
		changed = false
		for i := range t.insts {
			in := &t.insts[i]
			if len(in.Args) < 2 || !t.computes(in) {
				continue
			}
			var from uint64
			for j := range in.Args[1:] {
				from |= t.pointsTo(&in.Args[1+j])
			}
			changed = t.mark(&in.Args[0], from) || changed
		}
	}
}

// computes reports whether the result of an instruction is computed from its operands, and not
// loaded. Loading a parameter is like computing with it.
func (t *trace) computes(in *isa.Bound) bool {
	switch in.Match.Class().Role {
	case isa.RoleNone:
		return true
	case isa.RoleLoad:
		return in.Op.Name == "ld" && in.Space("a") == ptx.Param
	}
	return false
}

// pointsTo returns what an operand may point to.
func (t *trace) pointsTo(o *ptx.Operand) (set uint64) {
	if o.Sym != nil {
		set = t.points[o.Sym]
		if v := o.Sym.Var; o.Sym.Kind == ptx.VarSymbol && v != nil && v.Space == ptx.Global {
			set |= t.bit(memoryUse{variable: o.Sym.Name})
		}
	}
	for i := range o.Elems {
		if o.Kind != ptx.AddrOperand { // the coordinates of a tensor are no addresses
			set |= t.pointsTo(&o.Elems[i])
		}
	}
	return set
}

// mark adds to what a result may point to, and reports whether that is new.
func (t *trace) mark(o *ptx.Operand, set uint64) (changed bool) {
	for i := range o.Elems {
		changed = t.mark(&o.Elems[i], set) || changed
	}
	if o.Kind != ptx.RegOperand || o.Sym == nil || t.points[o.Sym]|set == t.points[o.Sym] {
		return changed
	}
	t.points[o.Sym] |= set
	return true
}

// found returns the findings of the function, and adds its uses of variables to the state.
func (t *trace) found() (list []finding.Finding) {
	for i := range t.insts {
		in := &t.insts[i]
		list = append(list, t.special(in)...)
		loads, stores := globalUse(in)
		if !loads && !stores {
			continue
		}
		set := t.addresses(in, loads && !stores)
		only := t.inputs(set)
		for j, u := range t.uses {
			if j >= 63 || set>>j&1 == 0 {
				continue
			}
			switch {
			case u.operand == nil:
				if stores {
					t.state.written[u.variable] = true
				}
				if loads && !t.state.declared[u.variable] {
					t.state.reads = append(t.state.reads, suspicion(finding.ModuleState, in, u.name()))
				}
			case loads && !readable(u.operand):
				list = append(list, suspicion(finding.OutputRead, in, u.name()))
			case stores && only:
				list = append(list, suspicion(finding.InputWrite, in, u.name()))
			}
		}
	}
	return list
}

// inputs reports whether all operands of a set are inputs.
func (t *trace) inputs(set uint64) bool {
	for j, u := range t.uses {
		if set>>min(j, 63)&1 != 0 && (u.operand == nil || u.operand.Role.Writable()) {
			return false
		}
	}
	return set != 0
}

// addresses returns what the addresses of an instruction may point to. The source of a copy is
// its last address, the destination the first.
func (t *trace) addresses(in *isa.Bound, loads bool) (set uint64) {
	var all []*ptx.Operand
	for i := range in.Args {
		if in.Args[i].Kind == ptx.AddrOperand {
			all = append(all, &in.Args[i])
		}
	}
	switch {
	case len(all) == 0:
		return 0
	case in.Match.Class().Role.Async() && loads && len(all) > 1:
		return t.pointsTo(all[1]) // [shared], [global], …, [mbarrier]
	}
	return t.pointsTo(all[0])
}

// globalUse reports whether an instruction reads or writes global memory, or memory of any space.
func globalUse(in *isa.Bound) (loads, stores bool) {
	c := in.Match.Class()
	any := func(s isa.Spaces) bool { return s.Has(ptx.Global) || s.Has(ptx.Generic) }
	switch c.Role {
	case isa.RoleLoad, isa.RoleAsyncLoad:
		return any(c.Reads), false
	case isa.RoleStore, isa.RoleAsyncStore:
		return false, any(c.Writes)
	case isa.RoleAtomic, isa.RoleReduction, isa.RoleAsyncReduction:
		return any(c.Writes), any(c.Writes)
	}
	return false, false
}

// momentary are the special registers that differ between launches, without their endings.
var momentary = []string{"%smid", "%nsmid", "%warpid", "%nwarpid", "%gridid", "%clock", "%globaltimer", "%pm", "%current_graph_exec", "%envreg"}

// special returns the special registers of an instruction that differ between launches and that
// the call does not declare.
func (t *trace) special(in *isa.Bound) (list []finding.Finding) {
	for i := range in.Args {
		s := in.Args[i].Sym
		if s == nil || s.Kind != ptx.SpecialSymbol || slices.Contains(t.s.Declares, s.Name) {
			continue
		}
		if slices.ContainsFunc(momentary, func(p string) bool { return strings.HasPrefix(s.Name, p) }) {
			list = append(list, suspicion(finding.LaunchDependent, in, s.Name))
		}
	}
	return list
}

// suspicion returns a finding about an instruction and the memory or register that it uses.
func suspicion(kind finding.Kind, in *isa.Bound, name string) finding.Finding {
	f := finding.Finding{Kind: kind, Severity: finding.Error, Place: finding.At(in.Pos), Message: suspicionText(kind, name), Count: 1}
	if kind == finding.LaunchDependent {
		f.Severity = finding.Warning
	}
	f.Inst, f.Var = in.Op.Text, name
	i := slices.IndexFunc(finding.Rules, func(r finding.Rule) bool { return r.Kind == kind })
	f.Why, f.Fix = finding.Rules[i].Full, finding.Rules[i].Help
	return f
}

func suspicionText(kind finding.Kind, name string) string {
	switch kind {
	case finding.OutputRead:
		return fmt.Sprintf("the output %s is read", name)
	case finding.ModuleState:
		return fmt.Sprintf("the variable %s, which keeps its content between launches, is read", name)
	case finding.InputWrite:
		return fmt.Sprintf("the input %s is written", name)
	}
	return fmt.Sprintf("%s is read, whose value differs between launches", name)
}
