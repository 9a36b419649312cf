package build

import (
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Kernel is an .entry being written.
type Kernel struct {
	name       string
	target     ptx.Target
	version    ptx.Version
	params     []*ptx.Var
	directives []*ptx.Directive
	shared     []*ptx.Var // shared-memory declarations, at the top of the body
	dynamic    *ptx.Var   // the one .extern .shared array
	print      printer
	body       []ptx.Stmt
	opcodes    map[string]*ptx.Opcode
	names      map[string]bool // parameters and variables
	scope      *scope
	loops      []*loop
	src        sources
	doing      string // the instruction being emitted, for errors
	where      place  // the line that called New
	strict     bool   // warnings are errors
	errs       Errors
}

// New starts a kernel for the target. The PTX version is the first that knows the target;
// [Kernel.Version] raises it.
func New(name string, target ptx.Target) *Kernel {
	k := &Kernel{
		name:    name,
		target:  target,
		version: target.MinVersion(),
		opcodes: map[string]*ptx.Opcode{},
		names:   map[string]bool{},
		scope:   &scope{what: "the kernel"},
	}
	k.src.init()
	k.where = k.src.author()
	if !validName(name) {
		k.errorf("kernel name %q is not a PTX identifier: use letters, digits, _ and $", name)
	}
	return k
}

// Name is the entry's name.
func (k *Kernel) Name() string { return k.name }

// Target is the architecture that the kernel is written for.
func (k *Kernel) Target() ptx.Target { return k.target }

// Version raises the PTX version above the first that knows the target.
func (k *Kernel) Version(major, minor int) {
	v := ptx.Version{Major: major, Minor: minor}
	if v.Less(k.version) {
		k.errorf("PTX %s does not know %s: it needs at least %s", v, k.target, k.version)
		return
	}
	k.version = v
}

// Comment puts a // comment into the PTX, in ASCII: Q·Kᵀ becomes Q*K^T. ptxas 13 refuses
// other characters even in comments.
func (k *Kernel) Comment(text string) {
	k.body = append(k.body, &ptx.Comment{Text: "// " + ascii(oneLine(text))})
}

// PTX returns the kernel as text. The error is of type [Errors] and lists the misuses and
// what the verifier finds to be wrong. The verifier's warnings are not errors, unless
// [Kernel.Strict] makes them errors: print [Kernel.Warnings] beside the text.
func (k *Kernel) PTX() (string, error) {
	m, err := k.Module()
	if err != nil {
		return "", err
	}
	return m.String(), nil
}

// Module returns the kernel as a verified module of its own. It fails where PTX fails.
func (k *Kernel) Module() (*ptx.Module, error) {
	if len(k.errs) > 0 {
		return nil, k.errs
	}
	m := k.assemble()
	wrong, doubtful := k.verify(m)
	if k.strict {
		wrong = append(wrong, doubtful...)
	}
	if len(wrong) > 0 {
		return nil, wrong[:min(maxErrors, len(wrong))]
	}
	return m, nil
}

// Strict makes warnings errors: PTX and Module then refuse a kernel that has warnings. Use
// it in a generator that has no place to print warnings.
func (k *Kernel) Strict() { k.strict = true }

// Warnings returns what the verifier finds doubtful, each at the author's line. A kernel
// with warnings may still be correct, so PTX returns its text. A kernel with misuses has
// no warnings, because it cannot be verified.
func (k *Kernel) Warnings() Errors {
	if len(k.errs) > 0 {
		return nil
	}
	_, doubtful := k.verify(k.assemble())
	return doubtful
}

// verify returns the verifier's errors and warnings, each at the author's line.
func (k *Kernel) verify(m *ptx.Module) (wrong, doubtful Errors) {
	for _, d := range verify.Check(m) {
		where := k.where.open()
		if d.Source != "" {
			where = k.src.open(d.Source)
		}
		e := &Error{where, d.Message}
		switch d.Severity {
		case finding.Error:
			wrong = append(wrong, e)
		case finding.Warning:
			doubtful = append(doubtful, e)
		}
	}
	return wrong, doubtful
}

// assemble makes a module of the parts. It can be called again after more was written.
func (k *Kernel) assemble() *ptx.Module {
	m := &ptx.Module{File: k.name + ".ptx", Version: k.version, Target: k.target, AddressSize: 64}
	for _, f := range k.src.files {
		m.Items = append(m.Items, f)
	}
	if k.dynamic != nil {
		m.Items = append(m.Items, k.dynamic)
	}
	m.Items = append(m.Items, k.print.items()...)
	f := &ptx.Func{
		Sym:        &ptx.Symbol{Name: k.name, Kind: ptx.FuncSymbol},
		Linkage:    ptx.Visible,
		Entry:      true,
		Params:     k.params,
		Directives: k.directives,
		HasBody:    true,
	}
	f.Sym.Func = f
	code := numberLabels(coalesce(k.body))
	code = append(code, &ptx.Inst{Op: k.opcode("ret", nil)})
	decls := numberRegs(f, code)
	for _, v := range k.shared {
		decls = append(decls, v)
	}
	if k.print.args != nil {
		decls = append(decls, k.print.args)
	}
	f.Body = append(decls, code...)
	m.Items = append(m.Items, f)
	return m
}

// declare checks the name of a parameter or variable and makes its symbol.
func (k *Kernel) declare(v *ptx.Var, name string) *ptx.Symbol {
	switch {
	case !validName(name):
		k.errorf("%q is not a PTX identifier: use letters, digits, _ and $", name)
	case k.names[name]:
		k.errorf("the name %q is taken already", name)
	}
	k.names[name] = true
	v.Sym = &ptx.Symbol{Name: name, Kind: ptx.VarSymbol, Type: v.Type, Var: v}
	return v.Sym
}

func validName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// signs maps the signs of formulas to ASCII.
var signs = strings.NewReplacer("·", "*", "ᵀ", "^T", "×", "x", "−", "-", "²", "^2", "√", "sqrt ", "Σ", "sum ",
	"≤", "<=", "≥", ">=", "≠", "!=", "∞", "inf", "→", "->", "←", "<-", "…", "...", "α", "alpha", "µ", "u", "½", "1/2")

// ascii writes a text in ASCII.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, signs.Replace(s))
}
