package parse_test

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// dumper writes the whole contents of a module, without positions. It numbers symbols in the
// order of their appearance, so two modules have the same dump only if their operands share
// symbols in the same way.
type dumper struct {
	strings.Builder
	ids map[*ptx.Symbol]int
}

func dump(m *ptx.Module) string {
	d := &dumper{ids: map[*ptx.Symbol]int{}}
	d.printf("%v %v %q %d\n", m.Version, m.Target, m.Options, m.AddressSize)
	for _, it := range m.Items {
		d.node(it)
	}
	return d.String()
}

func (d *dumper) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *dumper) node(n any) {
	switch n := n.(type) {
	case *ptx.Func:
		d.function(n)
	case *ptx.Var:
		d.variable(n)
	case *ptx.Directive:
		d.directive(n)
	case *ptx.Inst:
		d.printf("inst %s ! %v", n.Op.Text, n.Guard.Neg)
		d.symbol(n.Guard.Sym)
		d.operands(n.Args)
	case *ptx.Label:
		d.printf("label")
		d.symbol(n.Sym)
	case *ptx.Targets:
		d.printf("targets %s", n.Kind)
		d.symbol(n.Sym)
		d.operands(n.List)
	case *ptx.Proto:
		d.printf("proto")
		d.symbol(n.Sym)
		d.variables("returns", n.Returns)
		d.variables("params", n.Params)
		for _, x := range n.Directives {
			d.directive(x)
		}
	case *ptx.RegDecl:
		d.printf("reg %v %d %v", n.Type, n.Vec, n.Names)
	case *ptx.Loc:
		d.printf("loc %d %d %d +%d %v", n.File, n.Line, n.Col, n.FuncOff, n.At)
		d.symbol(n.Func)
	case *ptx.File:
		d.printf("file %d %q %d %d %v", n.Index, n.Name, n.Time, n.Size, n.HasTime)
	case *ptx.Section:
		d.printf("section %s %q", n.Name, n.Lines)
	case *ptx.Alias:
		d.printf("alias")
		d.symbol(n.Name)
		d.symbol(n.Target)
	case *ptx.Comment:
		d.printf("comment %q %v", n.Text, n.Trailing)
	default:
		d.printf("%T", n)
	}
	d.printf("\n")
}

func (d *dumper) function(f *ptx.Func) {
	d.printf("func entry=%v %v body=%v", f.Entry, f.Linkage, f.HasBody)
	d.symbol(f.Sym)
	d.variables("returns", f.Returns)
	d.variables("params", f.Params)
	for _, x := range f.Directives {
		d.directive(x)
	}
	d.printf("\n")
	for _, s := range f.Body {
		d.node(s)
	}
	d.printf("regs")
	for i, r := range f.Regs {
		d.symbol(r)
		if int(r.ID) != i {
			d.printf(" (misnumbered %d)", r.ID)
		}
	}
}

func (d *dumper) variables(what string, vs []*ptx.Var) {
	d.printf(" %s(", what)
	for _, v := range vs {
		d.variable(v)
	}
	d.printf(")")
}

func (d *dumper) variable(v *ptx.Var) {
	d.printf("var %v %v align %d vec %d %v %v %q", v.Linkage, v.Space, v.Align, v.Vec, v.Type, v.Dims, v.Attributes)
	if v.Ptr != nil {
		d.printf(" ptr %v", *v.Ptr)
	}
	d.symbol(v.Sym)
	if v.Init != nil {
		d.operand(v.Init)
	}
}

func (d *dumper) directive(x *ptx.Directive) {
	d.printf("directive %s %v", x.Name, x.Semi)
	d.operands(x.Args)
}

func (d *dumper) operands(ops []ptx.Operand) {
	for i := range ops {
		d.printf(" ")
		d.operand(&ops[i])
	}
}

func (d *dumper) operand(o *ptx.Operand) {
	d.printf("<%d %v %c %b %d", o.Kind, o.Neg, o.Comp, o.Flags, o.Val)
	if o.Kind == ptx.StringOperand || o.Kind == ptx.FieldOperand {
		d.printf(" %q", o.Sym.Name)
	} else {
		d.symbol(o.Sym)
	}
	d.operands(o.Elems)
	d.printf(">")
}

func (d *dumper) symbol(s *ptx.Symbol) {
	if s == nil {
		return
	}
	id, ok := d.ids[s]
	if !ok {
		id = len(d.ids)
		d.ids[s] = id
	}
	d.printf(" #%d %s %v %v %d", id, s.Name, s.Kind, s.Type, s.Vec)
}
