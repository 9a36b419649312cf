package machine

import (
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/ptx"
)

// sourceLine returns the source line of an instruction, from the .loc before it.
func (fn *Function) sourceLine(pc int32) sourceLine {
	fn.Lines.once.Do(func() { fn.Lines.of = sources(fn) })
	return fn.Lines.of[fn.Code[pc].Inst]
}

// sourceLine is the source line of an instruction. If the instruction was inlined, callers
// are the places of the calls, the innermost first.
type sourceLine struct {
	line    string
	callers []string
	library bool // the code is in a header of the toolkit, and line is the line that uses it
}

// SourceLines are the source lines of a function's instructions. They are computed on
// first use.
type SourceLines struct {
	once sync.Once
	of   map[*ptx.Inst]sourceLine
}

// sources returns the source lines of a function's instructions.
func sources(fn *Function) map[*ptx.Inst]sourceLine {
	chains, by := map[*ptx.Inst][]ptx.SrcPos{}, map[ptx.SrcPos]ptx.SrcPos{}
	var at []ptx.SrcPos
	var home nesting
	var nowhere []*ptx.Inst
	zero := false
	for _, s := range fn.Decl.Body {
		switch s := s.(type) {
		case *ptx.Label:
			nowhere = nil
		case *ptx.Loc:
			if zero = s.Line == 0; zero {
				// Line 0 marks code that the compiler has moved, such as loads that were hoisted out
				// of a loop. It belongs to the line that follows, or else to the line before.
				continue
			}
			here := ptx.SrcPos{File: s.File, Line: s.Line, Col: s.Col}
			switch {
			case s.At != nil:
				by[here] = *s.At
				at = calls(here, by)
			default:
				at = home.enter(here)
			}
			for _, in := range nowhere {
				chains[in] = at
			}
			nowhere = nil
		case *ptx.Inst:
			if at != nil {
				chains[s] = at
			}
			if zero {
				nowhere = append(nowhere, s)
			}
		}
	}
	hall, lines := entrance(chains), map[*ptx.Inst]sourceLine{}
	for in, chain := range chains {
		if n := len(chain) - 1; n > 0 && chain[n] == hall {
			chain = chain[:n]
		}
		user := fn.Prog.userCode(chain)
		at := sourceLine{line: fn.Prog.place(user[0]), library: user[0] != chain[0]}
		for _, c := range user[1:] {
			at.callers = append(at.callers, fn.Prog.place(c))
		}
		lines[in] = at
	}
	return lines
}

// nesting guesses where inlined code was called if .loc does not say so, as in code
// without optimisation. There the code is in the order of the source, and a function is
// declared before its callers.
type nesting struct {
	levels []level // the functions of the file that the code starts in, the outermost first
}

// level is a function: the first of its lines that was seen, and the last place in it.
type level struct {
	low int
	at  ptx.SrcPos
}

// enter returns the place here, and the calls that led to it.
func (n *nesting) enter(here ptx.SrcPos) (chain []ptx.SrcPos) {
	if len(n.levels) == 0 || here.File == n.levels[0].at.File {
		n.step(here)
	} else {
		chain = append(chain, here)
	}
	for _, l := range slices.Backward(n.levels) {
		chain = append(chain, l.at)
	}
	return chain
}

func (n *nesting) step(here ptx.SrcPos) {
	i := slices.IndexFunc(n.levels, func(l level) bool { return l.low <= here.Line })
	if i < 0 {
		l := level{here.Line, here}
		if len(n.levels) == 0 && here.Col != 0 {
			l.low = 0 // no compiler states this place as the start of the function
		}
		n.levels = append(n.levels, l)
		return
	}
	n.levels = n.levels[:i+1]
	n.levels[i].at = here
}

// place formats a place of the source as file:line:column.
func (p *Program) place(at ptx.SrcPos) string {
	return fmt.Sprintf("%s:%d:%d", p.Module.FileName(at.File), at.Line, at.Col)
}

// calls returns a place and the calls that led to it, the innermost first. by maps
// inlined code to the place of the call.
func calls(at ptx.SrcPos, by map[ptx.SrcPos]ptx.SrcPos) []ptx.SrcPos {
	chain := []ptx.SrcPos{at}
	for len(chain) < 64 {
		up, ok := by[chain[len(chain)-1]]
		if !ok {
			break
		}
		chain = append(chain, up)
	}
	return chain
}

// entrance returns the single line from which nearly all code of a kernel is called, if
// there is one: a library template with which each of its kernels starts. Such a line says
// nothing about the kernel, and its file is not the author's.
func entrance(chains map[*ptx.Inst][]ptx.SrcPos) ptx.SrcPos {
	const least, share = 100, 50
	through, all := map[ptx.SrcPos]int{}, 0
	for _, chain := range chains {
		all++
		if n := len(chain) - 1; n > 0 {
			through[chain[n]]++
		}
	}
	for at, n := range through {
		if n >= least && n >= all-all/share {
			return at
		}
	}
	return ptx.SrcPos{}
}

// userCode returns those of the calls that led to a place which are in the kernel's own
// file or folder: the line that uses a header of the toolkit, not the line in the header.
// For a kernel written in Go it returns all calls, because .loc names only lines of the
// kernel's authors there.
func (p *Program) userCode(chain []ptx.SrcPos) (user []ptx.SrcPos) {
	if path.Ext(p.Module.FileName(chain[0].File)) == ".go" {
		return chain
	}
	outer := chain[len(chain)-1]
	dir := path.Dir(p.Module.FileName(outer.File))
	for _, c := range chain {
		if c.File == outer.File || dir != "." && path.Dir(p.Module.FileName(c.File)) == dir {
			user = append(user, c)
		}
	}
	return user
}
