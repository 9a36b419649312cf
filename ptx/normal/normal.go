package normal

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// Text returns the normal form of a PTX text. name stands for the text in errors.
func Text(name, text string) (string, error) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return "", err
	}
	reduce(m)
	return m.String(), nil
}

// Hash returns the SHA-256 of the normal form, in hexadecimal.
func Hash(name, text string) (string, error) {
	n, err := Text(name, text)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(n))
	return hex.EncodeToString(sum[:]), nil
}

// reduce rewrites a module in place.
func reduce(m *ptx.Module) {
	items := m.Items[:0]
	for _, it := range m.Items {
		switch it := it.(type) {
		case *ptx.Comment, *ptx.File:
			continue
		case *ptx.Section:
			if strings.HasPrefix(it.Name, ".debug") {
				continue
			}
		case *ptx.Func:
			reduceFunc(it)
		}
		items = append(items, it)
	}
	m.Items = items
}

// renaming numbers the registers and labels of one function by their first use.
type renaming struct {
	seen  map[*ptx.Symbol]bool
	decls []*ptx.RegDecl // one for each type, in the order of first use
	label int
}

func reduceFunc(f *ptx.Func) {
	r := &renaming{seen: map[*ptx.Symbol]bool{}}
	body := make([]ptx.Stmt, 0, len(f.Body))
	for _, s := range f.Body {
		switch s := s.(type) {
		case *ptx.Comment, *ptx.Loc, *ptx.RegDecl:
			continue
		case *ptx.Label:
			r.rename(s.Sym)
		case *ptx.Inst:
			r.rename(s.Guard.Sym)
			r.operands(s.Args)
		case *ptx.Targets:
			r.operands(s.List)
		}
		body = append(body, s)
	}
	f.Body = nil
	for _, d := range r.decls {
		f.Body = append(f.Body, d)
	}
	f.Body = append(f.Body, body...)
}

func (r *renaming) operands(list []ptx.Operand) {
	for i := range list {
		o := &list[i]
		o.Flags &^= ptx.Hex
		r.rename(o.Sym)
		r.operands(o.Elems)
	}
}

func (r *renaming) rename(s *ptx.Symbol) {
	if s == nil || r.seen[s] {
		return
	}
	switch s.Kind {
	case ptx.RegSymbol:
		r.seen[s] = true
		d := r.decl(s)
		s.Name = d.Names[0].Prefix + strconv.Itoa(d.Names[0].Count)
		d.Names[0].Count++
	case ptx.LabelSymbol:
		r.seen[s] = true
		s.Name = "$L" + strconv.Itoa(r.label)
		r.label++
	}
}

// decl finds the declaration of registers of the symbol's type.
func (r *renaming) decl(s *ptx.Symbol) *ptx.RegDecl {
	for _, d := range r.decls {
		if d.Type == s.Type && d.Vec == int(s.Vec) {
			return d
		}
	}
	prefix := "%" + strings.TrimPrefix(s.Type.String(), ".") + "_"
	if s.Vec > 0 {
		prefix = "%v" + strconv.Itoa(int(s.Vec)) + strings.TrimPrefix(prefix, "%")
	}
	d := &ptx.RegDecl{Type: s.Type, Vec: int(s.Vec), Names: []ptx.RegName{{Prefix: prefix}}}
	r.decls = append(r.decls, d)
	return d
}
