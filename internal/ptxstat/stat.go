package ptxstat

import (
	"cmp"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Module is the numbers of a module. The JSON forms here are part of the command
// line's contract.
type Module struct {
	Version     string     `json:"version"` // what the header says
	Target      string     `json:"target"`
	AddressSize int        `json:"address_size"`
	Needs       Needs      `json:"needs"`
	GlobalBytes int64      `json:"global_bytes"` // variables of the module's scope
	ConstBytes  int64      `json:"const_bytes"`
	Functions   []Function `json:"functions"`
}

// Needs is the lowest target and PTX version that the module needs, and the instruction that needs
// them, if there is one.
type Needs struct {
	Target      string `json:"target"`
	Version     string `json:"version"`
	Instruction string `json:"instruction"`
	Function    string `json:"function"`
	Line        int    `json:"line"`
}

// Function is the numbers of a function with a body.
type Function struct {
	Name          string   `json:"name"`
	Kind          string   `json:"kind"` // "entry" or "func"
	Line          int      `json:"line"`
	Params        int      `json:"params"`
	ParamBytes    int64    `json:"param_bytes"`
	Declared      []Count  `json:"registers_declared"` // by type
	Estimate      Estimate `json:"register_estimate"`
	SharedStatic  int64    `json:"shared_static_bytes"`
	SharedDynamic bool     `json:"shared_dynamic"`
	LocalBytes    int64    `json:"local_bytes"`
	Instructions  int      `json:"instructions"`
	Families      []Count  `json:"families"` // most frequent first, as below
	Opcodes       []Count  `json:"opcodes"`
	Loops         int      `json:"loops"`
	LoopDepth     int      `json:"loop_depth"`
	Barriers      []Count  `json:"barriers"`
}

// Estimate is the number of registers that live ranges suggest: see [verify.Estimate] for
// how far the count of ptxas can differ.
type Estimate struct {
	Registers   int    `json:"registers"` // 32-bit registers, within the limit
	Live        int    `json:"live"`      // 32-bit registers that are live at once
	Limit       int    `json:"limit"`     // the limit of 32-bit registers from the launch bounds
	Predicates  int    `json:"predicates"`
	Partial     bool   `json:"partial"` // the function was too large to follow every register
	Instruction string `json:"instruction"`
	Line        int    `json:"line"` // the line with the most live registers
}

// Count is how often something occurs.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Of counts a module.
func Of(m *ptx.Module) *Module {
	s := &Module{
		Version: m.Version.String(), Target: m.Target.String(), AddressSize: m.AddressSize,
		Needs: needs(m), Functions: []Function{},
	}
	for _, v := range m.Vars() {
		switch v.Space {
		case ptx.Global:
			s.GlobalBytes += v.Size()
		case ptx.Const:
			s.ConstBytes += v.Size()
		}
	}
	c := counter{kinds: map[*ptx.Opcode]kind{}, shared: verify.NewSharedUse(m)}
	for _, f := range m.Funcs() {
		s.Functions = append(s.Functions, c.function(f))
	}
	return s
}

func needs(m *ptx.Module) Needs {
	least, by := verify.MinTarget(m)
	n := Needs{Target: least.Target.String(), Version: least.Version.String()}
	if by != nil {
		n.Instruction, n.Line = by.String(), int(by.Pos.Line)
		n.Function = functionOf(m, by)
	}
	return n
}

func functionOf(m *ptx.Module, in *ptx.Inst) string {
	for _, f := range m.Funcs() {
		for _, s := range f.Body {
			if s == ptx.Stmt(in) {
				return f.Sym.Name
			}
		}
	}
	return ""
}

// counter remembers what the instruction table says of each opcode, because a text has
// many instructions and few opcodes.
type counter struct {
	kinds  map[*ptx.Opcode]kind
	shared *verify.SharedUse
}

// kind is the family of an opcode, and its short name if threads meet at it.
type kind struct{ family, barrier string }

func (c *counter) function(f *ptx.Func) Function {
	g := verify.NewCFG(f)
	s := Function{
		Name: f.Sym.Name, Kind: "func", Line: int(f.Pos.Line),
		Params: len(f.Params), ParamBytes: paramBytes(f),
		SharedStatic: c.shared.Static(f), SharedDynamic: len(c.shared.Dynamic(f)) > 0,
		Estimate: estimate(f, g), Loops: len(g.Loops),
	}
	if f.Entry {
		s.Kind = "entry"
	}
	for _, l := range g.Loops {
		s.LoopDepth = max(s.LoopDepth, l.Depth)
	}
	c.body(&s, f)
	return s
}

func estimate(f *ptx.Func, g *verify.CFG) Estimate {
	p := verify.Pressure(f, g)
	e := Estimate{Registers: p.Registers, Live: p.Live, Limit: p.Limit, Predicates: p.Predicates, Partial: p.Partial}
	if p.At != nil {
		e.Instruction, e.Line = p.At.String(), int(p.At.Pos.Line)
	}
	return e
}

// paramBytes lays the parameters out one after the other, each aligned.
func paramBytes(f *ptx.Func) (end int64) {
	for _, p := range f.Params {
		a := int64(p.Alignment())
		end = (end+a-1)/a*a + p.Size()
	}
	return end
}

// body counts the statements of a function.
func (c *counter) body(s *Function, f *ptx.Func) {
	regs, families, opcodes, barriers := tally{}, tally{}, tally{}, tally{}
	for _, st := range f.Body {
		switch st := st.(type) {
		case *ptx.RegDecl:
			for _, n := range st.Names {
				regs[st.Type.String()] += max(n.Count, 1)
			}
		case *ptx.Var:
			if st.Space == ptx.Local {
				s.LocalBytes += st.Size()
			}
		case *ptx.Inst:
			s.Instructions++
			k := c.kind(st.Op)
			families[k.family]++
			opcodes[st.Op.Text]++
			if k.barrier != "" {
				barriers[k.barrier]++
			}
		}
	}
	s.Declared, s.Families = regs.counts(), families.counts()
	s.Opcodes, s.Barriers = opcodes.counts(), barriers.counts()
}

// unknownFamily is the family of opcodes that the instruction table does not have.
const unknownFamily = "unknown"

func (c *counter) kind(op *ptx.Opcode) kind {
	k, ok := c.kinds[op]
	if ok {
		return k
	}
	k.family = unknownFamily
	if ms := isa.Lookup(op); len(ms) > 0 {
		k.family = ms[0].Form.Family.Name
		if ms[0].Class().Unit == isa.UnitBarrier {
			k.barrier = barrier(op)
		}
	} else if forms := isa.Forms(op.Name); len(forms) > 0 {
		k.family = forms[0].Family.Name
	}
	c.kinds[op] = k
	return k
}

// barrier returns the short name of an instruction at which threads meet, such as
// "bar.sync", "barrier.cluster.wait" or "mbarrier.try_wait".
func barrier(op *ptx.Opcode) string {
	name := op.Name
	for _, mod := range op.Mods {
		switch mod {
		case "cta":
			continue
		case "warp", "cluster":
			name += "." + mod
			continue
		}
		return name + "." + mod
	}
	return name
}

type tally map[string]int

// counts lists the tally, most frequent first and by name where equal.
func (t tally) counts() []Count {
	cs := make([]Count, 0, len(t))
	for name, n := range t {
		cs = append(cs, Count{name, n})
	}
	sorted.By(cs, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return cs
}
