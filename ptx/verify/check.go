package verify

import (
	"fmt"
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Check reports everything wrong with a module, in the order of its text.
func Check(m *ptx.Module) []Diag {
	k := &checker{m: m, dec: newDecoder(), files: map[int]string{}}
	for _, it := range m.Items {
		if f, ok := it.(*ptx.File); ok {
			k.files[f.Index] = f.Name
		}
	}
	k.header()
	k.moduleNames()
	k.variables()
	for _, f := range m.Funcs() {
		k.function(f)
	}
	k.pairBarriers()
	sortDiags(k.diags)
	return k.diags
}

// checker collects findings; fn and locs belong to the function at hand.
type checker struct {
	m     *ptx.Module
	dec   *decoder
	diags []Diag
	files map[int]string
	bars  barrierUse

	fn   *ptx.Func
	locs []int32 // by statement: the .loc in force, -1 for none; nil until needed
}

func (k *checker) function(f *ptx.Func) {
	k.fn, k.locs = f, nil
	g := NewCFG(f)
	c := k.dec.decode(f, g, func(stmt int, p problem) {
		k.report(stmt, p.severity, p.pos, p.kind, p.msg)
	})
	k.names(c)
	k.calls(c)
	k.flow(c)
	live := c.live()
	k.uninitialised(c, live)
	k.targets(c)
	k.barriers(c, live)
	k.async(c)
	if f.Entry {
		k.limits(c)
	}
	k.fn, k.locs = nil, nil
}

func (k *checker) errorf(stmt int, pos ptx.Pos, kind, format string, args ...any) {
	k.report(stmt, Error, pos, kind, fmt.Sprintf(format, args...))
}

func (k *checker) warnf(stmt int, pos ptx.Pos, kind, format string, args ...any) {
	k.report(stmt, Warning, pos, kind, fmt.Sprintf(format, args...))
}

// report adds a finding. stmt is the statement of the function at hand that it
// is about, or -1.
func (k *checker) report(stmt int, s Severity, pos ptx.Pos, kind, msg string) {
	d := Diag{Pos: pos, Severity: s, Kind: kind, Msg: msg}
	if k.fn != nil {
		d.Func = k.fn.Sym.Name
		d.Source = k.source(stmt)
	}
	k.diags = append(k.diags, d)
}

// source is the place in the original source that the last .loc before the
// statement names.
func (k *checker) source(stmt int) string {
	if stmt < 0 {
		return ""
	}
	if k.locs == nil {
		k.locs = make([]int32, len(k.fn.Body))
		last := int32(-1)
		for i, s := range k.fn.Body {
			if _, ok := s.(*ptx.Loc); ok {
				last = int32(i)
			}
			k.locs[i] = last
		}
	}
	at := k.locs[stmt]
	if at < 0 {
		return ""
	}
	loc := k.fn.Body[at].(*ptx.Loc)
	file := k.files[loc.File]
	if file == "" || loc.Line == 0 {
		return ""
	}
	s := file + ":" + strconv.Itoa(loc.Line)
	if loc.Col > 0 {
		s += ":" + strconv.Itoa(loc.Col)
	}
	return s
}

// at says where an instruction stands, for a message about another one.
func (k *checker) at(stmt int) string {
	if in, ok := k.fn.Body[stmt].(*ptx.Inst); ok && in.Pos.IsValid() {
		return "line " + strconv.Itoa(int(in.Pos.Line))
	}
	if s := k.source(stmt); s != "" {
		return s
	}
	return "statement " + strconv.Itoa(stmt)
}
