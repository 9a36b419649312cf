package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Check reports everything that is wrong with a module, in the order of its text.
func Check(m *ptx.Module) []finding.Finding {
	k := newChecker(m)
	k.module()
	k.pairBarriers()
	finding.Sort(k.found)
	return k.found
}

func newChecker(m *ptx.Module) *checker {
	k := &checker{m: m, dec: newDecoder(), files: map[int]string{}, listed: map[finding.Severity]int{}}
	k.dec.newer = isa.Newest.Less(m.Version)
	for _, it := range m.Items {
		if f, ok := it.(*ptx.File); ok {
			k.files[f.Index] = f.Name
		}
	}
	return k
}

// module checks the header, the variables and the functions.
func (k *checker) module() {
	k.header()
	k.moduleNames()
	k.variables()
	for _, f := range k.m.Funcs() {
		k.function(f)
	}
}

// checker collects findings. fn and locs belong to the function that is being checked.
type checker struct {
	m      *ptx.Module
	dec    *decoder
	found  []finding.Finding
	files  map[int]string
	listed map[finding.Severity]int
	bars   barrierUse
	shared *SharedUse // nil until needed
	// errorsOnly skips the analyses that lead only to warnings, and the search for registers
	// that nothing has written.
	errorsOnly bool

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
	k.targets(c)
	k.locals()
	gathers := k.barriers(c)
	if !k.errorsOnly {
		k.flow(c)
		live := c.live()
		k.uninitialised(c, live)
		if len(gathers) > 0 && live.complete {
			k.convergence(c, c.uniformity(live), gathers)
		}
		k.async(c)
	}
	if f.Entry {
		k.limits(c)
	}
	k.fn, k.locs = nil, nil
}

func (k *checker) errorf(stmt int, pos ptx.Pos, kind, format string, args ...any) {
	k.report(stmt, finding.Error, pos, kind, fmt.Sprintf(format, args...))
}

func (k *checker) warnf(stmt int, pos ptx.Pos, kind, format string, args ...any) {
	k.report(stmt, finding.Warning, pos, kind, fmt.Sprintf(format, args...))
}

// report adds a finding about a statement of the current function. stmt is -1 for
// a finding that is about no statement.
func (k *checker) report(stmt int, s finding.Severity, pos ptx.Pos, kind, msg string) {
	if k.listed[s] < mostFindings {
		k.add(k.finding(stmt, s, pos, kind, msg))
	}
}

// mostFindings is how many findings of one severity a module may have, and mostMessage how many
// bytes a message may have. A text that is no PTX at all would otherwise give gigabytes of them.
const mostFindings, mostMessage = 1000, 2000

func (k *checker) add(f finding.Finding) {
	if len(f.Message) > mostMessage {
		f.Message = strings.ToValidUTF8(f.Message[:mostMessage], "") + "…"
	}
	switch k.listed[f.Severity]++; {
	case k.listed[f.Severity] > mostFindings:
		return
	case k.listed[f.Severity] == mostFindings:
		f.Message += fmt.Sprintf("; there may be more %ss, which are not listed", f.Severity)
	}
	k.found = append(k.found, f)
}

// finding makes the finding that report adds.
func (k *checker) finding(stmt int, s finding.Severity, pos ptx.Pos, kind, msg string) finding.Finding {
	f := finding.Finding{Place: finding.At(pos), Severity: s, Kind: finding.Kind(kind), Message: msg, Count: 1}
	if k.fn == nil {
		return f
	}
	f.Func = k.fn.Sym.Name
	if f.Source = k.source(stmt); stmt >= 0 {
		if in, ok := k.fn.Body[stmt].(*ptx.Inst); ok {
			f.Inst = in.Op.Text
		}
	}
	return f
}

// source returns the place in the original source that the last .loc before the
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

// at names the place of an instruction, for a message about another instruction.
func (k *checker) at(stmt int) string {
	if in, ok := k.fn.Body[stmt].(*ptx.Inst); ok && in.Pos.IsValid() {
		return "line " + strconv.Itoa(int(in.Pos.Line))
	}
	if s := k.source(stmt); s != "" {
		return s
	}
	return "statement " + strconv.Itoa(stmt)
}
