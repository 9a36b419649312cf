package mutate

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Program is the program whose mutants are made. It is not changed, so several goroutines
// may use it.
type Program struct {
	module *ptx.Module
}

// Parse reads the program.
func Parse(name, text string) (*Program, error) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return &Program{module: m}, nil
}

// Mutant is the program with one change.
type Mutant struct {
	Operator string `json:"operator"` // the name of an operator of Operators
	Region   Region `json:"region"`
	Part     Part   `json:"part"`
	Func     string `json:"func"`
	Line     int    `json:"line"`             // the line in the text of the program
	Source   string `json:"source,omitempty"` // file and line by .loc, or ""
	Before   string `json:"before"`           // the instruction
	After    string `json:"after"`            // the instruction in its place, or "" if it is removed

	fn   *ptx.Func
	stmt int       // the index in the body of fn
	also int       // a second statement that is removed, or 0
	with *ptx.Inst // the instruction in its place; nil removes it
}

// Sync reports whether the mutant changes the synchronisation.
func (m *Mutant) Sync() bool { return m.Operator == removeSync || m.Operator == weakenSync }

// Change returns the change in one line.
func (m *Mutant) Change() string {
	if m.After == "" {
		return m.Before + " is removed"
	}
	return m.Before + " becomes " + m.After
}

// Place returns the source line if the program has one, and the line of the text otherwise.
func (m *Mutant) Place() string {
	if m.Source != "" {
		return fmt.Sprintf("line %d (%s)", m.Line, m.Source)
	}
	return fmt.Sprintf("line %d", m.Line)
}

// Mutants returns all mutants that the operators can make, in the order of the text. Most of
// them pass Check.
func (p *Program) Mutants() (all []*Mutant) {
	for _, f := range p.module.Funcs() {
		all = append(all, p.ofFunc(f)...)
	}
	return all
}

// ofFunc returns the mutants of one function.
func (p *Program) ofFunc(f *ptx.Func) (all []*Mutant) {
	regions := regionsOf(f)
	recent := &recent{}
	source := ""
	for i, s := range f.Body {
		switch s := s.(type) {
		case *ptx.Loc:
			source = fmt.Sprintf("%s:%d", path.Base(p.module.FileName(s.File)), s.Line)
		case *ptx.Inst:
			b, err := isa.BindInst(s)
			if err != nil {
				continue // the verifier accepts it, but the table does not say what it means
			}
			at := &site{Bound: b, body: f.Body, stmt: i, recent: recent}
			for _, op := range Operators {
				for _, with := range op.apply(at) {
					if with != nil && !p.legal(with) {
						continue
					}
					m := &Mutant{
						Operator: op.Name, Region: regions[i], Part: partOf(b.Match), Func: f.Sym.Name, Line: int(s.Pos.Line), Source: source,
						Before: s.String(), fn: f, stmt: i, with: with,
					}
					switch {
					case with != nil:
						m.After = with.String()
					case asks(s):
						if m.also = at.branchOfWait(); m.also > 0 {
							m.Before += " " + f.Body[m.also].(*ptx.Inst).String()
						}
					}
					all = append(all, m)
				}
			}
			recent.add(s)
		}
	}
	return all
}

// SyncOps returns the instructions that order accesses to memory: barriers, waits, fences, arrivals
// and exchanges of a warp.
func (p *Program) SyncOps() (list []*ptx.Inst) {
	for _, f := range p.module.Funcs() {
		for i, s := range f.Body {
			in, ok := s.(*ptx.Inst)
			if !ok {
				continue
			}
			b, err := isa.BindInst(in)
			if err != nil {
				continue
			}
			at := &site{Bound: b, body: f.Body, stmt: i}
			if at.removed() != nil && !prepares(in) || slices.Contains(exchanges, in.Op.Name) {
				list = append(list, in)
			}
		}
	}
	return list
}

// prepares reports whether an instruction is part of the synchronisation and orders nothing itself.
func prepares(in *ptx.Inst) bool {
	return in.Op.Name == "bra" || in.Op.Name == "mbarrier" && (in.Op.Has("init") || in.Op.Has("inval"))
}

// exchanges are instructions of a warp that wait for all lanes of a mask.
var exchanges = []string{"elect", "match", "redux", "shfl", "vote"}

// legal reports whether the instruction table has the instruction for the program's target.
func (p *Program) legal(in *ptx.Inst) bool {
	m, err := isa.Resolve(in)
	return err == nil && m.RunsOn(p.module.Version, p.module.Target)
}

// mutated returns the module with the changes of mutants. It shares all other statements.
func (p *Program) mutated(list ...*Mutant) *ptx.Module {
	module := *p.module
	module.Items = slices.Clone(module.Items)
	// Later statements first: a statement that is removed leaves the indices before it valid.
	list = slices.Clone(list)
	sorted.By(list, func(a, b *Mutant) int { return cmp.Compare(b.stmt, a.stmt) })
	copies := map[*ptx.Func]*ptx.Func{}
	for _, m := range list {
		f := copies[m.fn]
		if f == nil {
			c := *m.fn
			f, c.Body = &c, slices.Clone(c.Body)
			copies[m.fn] = f
			module.Items[slices.Index(module.Items, ptx.Item(m.fn))] = f
		}
		switch {
		case m.with != nil:
			f.Body[m.stmt] = m.with
		case m.also > 0: // it follows, so the first index stays valid
			f.Body = slices.Delete(f.Body, m.also, m.also+1)
			fallthrough
		default:
			f.Body = slices.Delete(f.Body, m.stmt, m.stmt+1)
		}
	}
	return &module
}

// Text returns the text of a mutant, or of a program with the changes of several mutants. They
// must change different instructions.
func (p *Program) Text(list ...*Mutant) string { return p.mutated(list...).String() }

// LineOf returns the line of the program that has the change of a mutant of another program: p must
// be the text of that mutant. If the mutant removes an instruction, it is the line of the next one.
func (p *Program) LineOf(m *Mutant) int {
	for _, f := range p.module.Funcs() {
		if f.Sym.Name != m.fn.Sym.Name {
			continue
		}
		for _, s := range f.Body[min(m.stmt, len(f.Body)):] {
			if in, ok := s.(*ptx.Inst); ok {
				return int(in.Pos.Line)
			}
		}
	}
	return 0
}

// SameInst reports whether two mutants change the same instruction.
func (m *Mutant) SameInst(o *Mutant) bool { return m.fn == o.fn && m.stmt == o.stmt }

// Check returns the first error that the verifier finds in a mutant. Such a mutant is no
// test of a gate: it never runs.
func (p *Program) Check(m *Mutant) error {
	for _, f := range verify.Check(p.mutated(m)) {
		if f.Severity == finding.Error {
			return errors.New(f.Message)
		}
	}
	return nil
}
