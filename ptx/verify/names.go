package verify

import (
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// names checks that every name of a function is declared, once, and that
// branches lead to labels.
func (k *checker) names(c *code) {
	k.duplicates()
	seen := map[*ptx.Symbol]bool{}
	for i := range c.at {
		in := c.at[i].in
		if in == nil {
			continue
		}
		if g := in.Guard.Sym; g != nil {
			k.declared(i, &ptx.Operand{Kind: ptx.RegOperand, Sym: g, Pos: in.Pos}, seen)
		}
		if in.Op.Name == "bra" || in.Op.Name == "brx" {
			k.branchTargets(i, c.cfg, seen)
			continue
		}
		for j := range in.Args {
			k.declared(i, &in.Args[j], seen)
		}
	}
}

// declared reports names that are not declared, each once per function, and components that a
// register does not have.
func (k *checker) declared(stmt int, o *ptx.Operand, seen map[*ptx.Symbol]bool) {
	if o.Kind == ptx.StringOperand { // a selector such as b0
		return
	}
	if o.Sym != nil && o.Sym.Kind == ptx.UndefinedSymbol && !seen[o.Sym] {
		seen[o.Sym] = true
		k.errorf(stmt, o.Pos, "undefined-name", "%s is not declared", o.Sym.Name)
	}
	if o.Comp != 0 && o.Sym.Kind == ptx.RegSymbol && strings.IndexByte(components, o.Comp) >= int(o.Sym.Vec) {
		k.component(stmt, o)
	}
	for i := range o.Elems {
		k.declared(stmt, &o.Elems[i], seen)
	}
}

// components are the components of vector registers in their order.
const components = "xyzw"

// component reports a component that a register does not have.
func (k *checker) component(stmt int, o *ptx.Operand) {
	name, have := o.Sym.Name, components[:min(int(o.Sym.Vec), len(components))]
	if have == "" {
		k.errorf(stmt, o.Pos, "bad-operand", "%s has no component .%c: it is not a vector register", name, o.Comp)
		return
	}
	k.errorf(stmt, o.Pos, "bad-operand", "%s has no component .%c: it is a vector of %d, from %s.x to %s.%c", name, o.Comp, o.Sym.Vec, name, name, have[len(have)-1])
}

// branchTargets checks the operands of bra and brx.
func (k *checker) branchTargets(stmt int, g *CFG, seen map[*ptx.Symbol]bool) {
	in := k.fn.Body[stmt].(*ptx.Inst)
	for i := range in.Args {
		o := &in.Args[i]
		switch {
		case in.Op.Name == "brx" && i == 1 && (o.Sym == nil || g.targets[o.Sym] == nil):
			k.errorf(stmt, o.Pos, "bad-operand", "brx: %s is not a .branchtargets list of this function", o)
		case o.Kind != ptx.SymOperand:
			k.declared(stmt, o, seen)
		case in.Op.Name == "bra":
			k.label(stmt, o, g, seen)
		case i != 1:
			k.declared(stmt, o, seen) // the index
		default:
			list := g.targets[o.Sym].List
			for j := range list {
				k.label(stmt, &list[j], g, seen)
			}
		}
	}
}

func (k *checker) label(stmt int, o *ptx.Operand, g *CFG, seen map[*ptx.Symbol]bool) {
	if o.Sym == nil || g.Target(o.Sym) >= 0 || seen[o.Sym] {
		return
	}
	seen[o.Sym] = true
	if o.Sym.Kind == ptx.UndefinedSymbol || o.Sym.Kind == ptx.LabelSymbol {
		k.errorf(stmt, o.Pos, "missing-label", "label %s is not defined in the scope of this branch", o.Sym.Name)
		return
	}
	k.errorf(stmt, o.Pos, "bad-operand", "%s is a %s; a branch needs a label", o.Sym.Name, o.Sym.Kind)
}

// scope is the set of names declared between two braces.
type scope struct {
	names  map[string]ptx.Pos
	ranges map[string]rangeDecl // by prefix: %r<10> has the prefix %r
}

type rangeDecl struct {
	count int
	pos   ptx.Pos
}

func newScope() *scope {
	return &scope{map[string]ptx.Pos{}, map[string]rangeDecl{}}
}

// add declares a name. If it is declared already, add returns the position.
func (s *scope) add(name string, pos ptx.Pos) (ptx.Pos, bool) {
	if at, ok := s.names[name]; ok {
		return at, true
	}
	s.names[name] = pos
	return s.inRange(name)
}

// inRange finds a range that holds the name: %r12 may be in %r<20> or %r1<5>.
func (s *scope) inRange(name string) (ptx.Pos, bool) {
	for i := len(name) - 1; i > 0 && name[i] >= '0' && name[i] <= '9'; i-- {
		r, ok := s.ranges[name[:i]]
		if !ok || name[i] == '0' && i < len(name)-1 {
			continue
		}
		if n, err := strconv.Atoi(name[i:]); err == nil && n < r.count {
			return r.pos, true
		}
	}
	return ptx.Pos{}, false
}

// addRange declares prefix0 to prefix(count-1). If one of them is declared already, it
// returns that name.
func (s *scope) addRange(prefix string, count int, pos ptx.Pos) (string, ptx.Pos, bool) {
	if r, ok := s.ranges[prefix]; ok {
		return prefix + "0", r.pos, true
	}
	s.ranges[prefix] = rangeDecl{count, pos}
	for name, at := range s.names {
		digits, ok := strings.CutPrefix(name, prefix)
		if n, err := strconv.Atoi(digits); ok && err == nil && n < count && strconv.Itoa(n) == digits {
			return name, at, true
		}
	}
	return "", ptx.Pos{}, false
}

// duplicates finds names declared twice between the same braces.
func (k *checker) duplicates() {
	stack := []*scope{newScope()}
	for i, st := range k.fn.Body {
		top := stack[len(stack)-1]
		switch st := st.(type) {
		case *ptx.ScopeOpen:
			stack = append(stack, newScope())
		case *ptx.ScopeClose:
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case *ptx.RegDecl:
			k.registers(i, top, st)
		case *ptx.Label:
			k.declare(i, top, st.Sym.Name, st.Pos)
		case *ptx.Var:
			k.declare(i, top, st.Sym.Name, st.Pos)
		case *ptx.Targets:
			k.declare(i, top, st.Sym.Name, st.Pos)
		case *ptx.Proto:
			k.declare(i, top, st.Sym.Name, st.Pos)
		}
	}
}

func (k *checker) registers(stmt int, s *scope, d *ptx.RegDecl) {
	for _, n := range d.Names {
		if n.Count == 0 {
			k.declare(stmt, s, n.Prefix, d.Pos)
		} else if name, at, dup := s.addRange(n.Prefix, n.Count, d.Pos); dup {
			k.duplicate(stmt, name, d.Pos, at)
		}
	}
}

func (k *checker) declare(stmt int, s *scope, name string, pos ptx.Pos) {
	if at, dup := s.add(name, pos); dup {
		k.duplicate(stmt, name, pos, at)
	}
}

func (k *checker) duplicate(stmt int, name string, pos, first ptx.Pos) {
	if first.IsValid() {
		k.errorf(stmt, pos, "duplicate-name", "%s is declared twice; first at line %d", name, first.Line)
		return
	}
	k.errorf(stmt, pos, "duplicate-name", "%s is declared twice", name)
}

// moduleNames finds functions defined twice and variables declared twice.
// Declarations without a body, and extern ones, may repeat.
func (k *checker) moduleNames() {
	s := newScope()
	for _, it := range k.m.Items {
		switch it := it.(type) {
		case *ptx.Func:
			if it.HasBody {
				k.declare(-1, s, it.Sym.Name, it.Pos)
			}
		case *ptx.Var:
			if it.Linkage != ptx.Extern && it.Linkage != ptx.Common {
				k.declare(-1, s, it.Sym.Name, it.Pos)
			}
		}
	}
}
