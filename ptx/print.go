package ptx

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// String is the module as PTX text.
func (m *Module) String() string { return string(m.Append(nil)) }

// WriteTo writes the module as PTX text.
func (m *Module) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(m.Append(nil))
	return int64(n), err
}

// Append appends the module's PTX text to b.
func (m *Module) Append(b []byte) []byte {
	p := printer{b: b}
	p.header(m)
	for i, it := range m.Items {
		if i > 0 && startsParagraph(m.Items, i) {
			p.str("\n")
		}
		p.item(it)
	}
	return p.b
}

// startsParagraph reports whether an empty line goes before item i: a function, or the
// comments above one.
func startsParagraph(items []Item, i int) bool {
	if c, ok := items[i-1].(*Comment); ok && !c.Trailing {
		return false // inside the paragraph
	}
	for ; i < len(items); i++ {
		switch it := items[i].(type) {
		case *Func:
			return true
		case *Comment:
			if it.Trailing {
				return false
			}
		default:
			return false
		}
	}
	return false
}

// String is the instruction as one line of PTX, without indentation.
func (i *Inst) String() string {
	p := printer{}
	p.inst(i)
	return string(p.b)
}

type printer struct {
	b      []byte
	indent int
}

func (p *printer) str(s ...string) {
	for _, s := range s {
		p.b = append(p.b, s...)
	}
}

func (p *printer) int(v int64) { p.b = strconv.AppendInt(p.b, v, 10) }

func (p *printer) line() {
	for range p.indent {
		p.b = append(p.b, '\t')
	}
}

func (p *printer) header(m *Module) {
	p.str(".version ", m.Version.String(), "\n.target ", m.Target.String())
	for _, o := range m.Options {
		p.str(", ", o)
	}
	if m.AddressSize != 0 {
		p.str("\n.address_size ")
		p.int(int64(m.AddressSize))
	}
	p.str("\n\n")
}

func (p *printer) item(it Item) {
	switch it := it.(type) {
	case *Func:
		p.function(it)
	case *Var:
		p.variable(it)
		p.str(";\n")
	case *File:
		p.file(it)
	case *Section:
		p.section(it)
	case *Alias:
		p.str(".alias ", it.Name.Name, ", ", it.Target.Name, ";\n")
	case *Directive:
		p.directive(it)
		p.str("\n")
	case *Comment:
		p.comment(it)
	default:
		panic(fmt.Sprintf("ptx: item of type %T", it))
	}
}

func (p *printer) file(f *File) {
	p.str(".file ")
	p.int(int64(f.Index))
	p.str(" ", quote(f.Name))
	if f.HasTime {
		p.str(", ", strconv.FormatUint(f.Time, 10), ", ", strconv.FormatUint(f.Size, 10))
	}
	p.str("\n")
}

func (p *printer) section(s *Section) {
	p.str(".section ", s.Name, "\n{\n")
	for _, l := range s.Lines {
		p.str(l, "\n")
	}
	p.str("}\n")
}

// comment puts a trailing comment back on the line it came from.
func (p *printer) comment(c *Comment) {
	if n := len(p.b); c.Trailing && n > 0 && p.b[n-1] == '\n' {
		p.b = append(p.b[:n-1], ' ')
	} else {
		p.line()
	}
	p.str(c.Text, "\n")
}

func (p *printer) function(f *Func) {
	if f.Linkage != Internal {
		p.str(f.Linkage.String(), " ")
	}
	if f.Entry {
		p.str(".entry ")
	} else {
		p.str(".func ")
		for _, d := range f.Directives {
			if leadsFunc(d) {
				p.directive(d)
				p.str(" ")
			}
		}
	}
	if len(f.Returns) > 0 {
		p.params(f.Returns)
		p.str(" ")
	}
	p.str(f.Sym.Name)
	p.params(f.Params)
	p.str("\n")
	for _, d := range f.Directives {
		if f.Entry || !leadsFunc(d) {
			p.directive(d)
			p.str("\n")
		}
	}
	if !f.HasBody {
		p.b = p.b[:len(p.b)-1]
		p.str(";\n")
		return
	}
	p.str("{\n")
	p.indent++
	for _, s := range f.Body {
		p.stmt(s)
	}
	p.indent--
	p.str("}\n")
}

// leadsFunc reports whether the directive is written between .func and the name.
func leadsFunc(d *Directive) bool { return d.Name == ".attribute" }

func (p *printer) params(vs []*Var) {
	if len(vs) < 2 {
		p.str("(")
		for _, v := range vs {
			p.variable(v)
		}
		p.str(")")
		return
	}
	p.str("(")
	for i, v := range vs {
		if i > 0 {
			p.str(",")
		}
		p.str("\n\t")
		p.variable(v)
	}
	p.str("\n)")
}

func (p *printer) variable(v *Var) {
	if v.Linkage != Internal {
		p.str(v.Linkage.String(), " ")
	}
	p.str(".", v.Space.String())
	if len(v.Attributes) > 0 {
		p.str(" .attribute(", strings.Join(v.Attributes, ", "), ")")
	}
	if v.Align > 0 {
		p.str(" .align ")
		p.int(int64(v.Align))
	}
	if v.Vec > 0 {
		p.str(" .v")
		p.int(int64(v.Vec))
	}
	p.str(" .", v.Type.String())
	if v.Ptr != nil {
		p.str(" .ptr")
		if v.Ptr.Space != Generic {
			p.str(" .", v.Ptr.Space.String())
		}
		if v.Ptr.Align > 0 {
			p.str(" .align ")
			p.int(int64(v.Ptr.Align))
		}
	}
	p.str(" ", v.Sym.Name)
	for _, d := range v.Dims {
		p.str("[")
		if d != Unsized {
			p.int(d)
		}
		p.str("]")
	}
	if v.Init != nil {
		p.str(" = ")
		p.operand(v.Init)
	}
}

func (p *printer) directive(d *Directive) {
	p.str(d.Name)
	for i := range d.Args {
		if i > 0 {
			p.str(",")
		}
		p.str(" ")
		p.operand(&d.Args[i])
	}
	if d.Semi || d.Name == ".pragma" {
		p.str(";")
	}
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Inst:
		p.line()
		p.inst(s)
		p.str("\n")
	case *Label:
		p.str(s.Sym.Name, ":\n")
	case *RegDecl:
		p.line()
		p.regDecl(s)
	case *Var:
		p.line()
		p.variable(s)
		p.str(";\n")
	case *ScopeOpen:
		p.line()
		p.str("{\n")
		p.indent++
	case *ScopeClose:
		p.indent--
		p.line()
		p.str("}\n")
	case *Loc:
		p.line()
		p.loc(s)
	case *Directive:
		p.line()
		p.directive(s)
		p.str("\n")
	case *Targets:
		p.targets(s)
	case *Proto:
		p.proto(s)
	case *Comment:
		p.comment(s)
	default:
		panic(fmt.Sprintf("ptx: statement of type %T", s))
	}
}

func (p *printer) inst(i *Inst) {
	if i.Guard.Sym != nil {
		p.str("@")
		if i.Guard.Neg {
			p.str("!")
		}
		p.str(i.Guard.Sym.Name, " ")
	}
	p.str(i.Op.Text)
	for n := range i.Args {
		if n > 0 {
			p.str(",")
		}
		p.str(" ")
		p.operand(&i.Args[n])
	}
	p.str(";")
}

func (p *printer) regDecl(d *RegDecl) {
	p.str(".reg ")
	if d.Vec > 0 {
		p.str(".v")
		p.int(int64(d.Vec))
		p.str(" ")
	}
	p.str(".", d.Type.String(), " ")
	for i, n := range d.Names {
		if i > 0 {
			p.str(", ")
		}
		p.str(n.Prefix)
		if n.Count > 0 {
			p.str("<")
			p.int(int64(n.Count))
			p.str(">")
		}
	}
	p.str(";\n")
}

func (p *printer) loc(l *Loc) {
	p.str(".loc ")
	p.b = appendInts(p.b, l.File, l.Line, l.Col)
	if l.Func != nil {
		p.str(", function_name ", l.Func.Name)
		if l.FuncOff != 0 {
			p.str("+")
			p.int(l.FuncOff)
		}
	}
	if l.At != nil {
		p.str(", inlined_at ")
		p.b = appendInts(p.b, l.At.File, l.At.Line, l.At.Col)
	}
	p.str("\n")
}

func appendInts(b []byte, vs ...int) []byte {
	for i, v := range vs {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return b
}

func (p *printer) targets(t *Targets) {
	p.str(t.Sym.Name, ": ", t.Kind, " ")
	p.operands(t.List)
	p.str(";\n")
}

func (p *printer) proto(t *Proto) {
	p.str(t.Sym.Name, ": .callprototype ")
	p.params(t.Returns)
	p.str(" _ ")
	p.params(t.Params)
	for _, d := range t.Directives {
		p.str(" ")
		p.directive(d)
	}
	p.str(";\n")
}
