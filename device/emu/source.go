package emu

import (
	"fmt"
	"path"
	"sync"

	"attest/ptx"
)

// source is the source line of an instruction, from the .loc before it.
func (fn *function) source(pc int32) string {
	fn.lines.once.Do(func() { fn.lines.of = sources(fn) })
	return fn.lines.of[fn.code[pc].in]
}

// sourceLines are the source lines of a function's instructions, once they are asked
// for.
type sourceLines struct {
	once sync.Once
	of   map[*ptx.Inst]string
}

// sources are the source lines of a function's instructions.
func sources(fn *function) map[*ptx.Inst]string {
	lines := map[*ptx.Inst]string{}
	callers := map[ptx.SrcPos]ptx.SrcPos{} // of inlined code: where it was called
	at := ""
	for _, s := range fn.f.Body {
		switch s := s.(type) {
		case *ptx.Loc:
			here := ptx.SrcPos{File: s.File, Line: s.Line, Col: s.Col}
			if s.At != nil {
				callers[here] = *s.At
				here = fn.prog.userCode(here, callers)
			}
			at = fmt.Sprintf("%s:%d:%d", fn.prog.mod.FileName(here.File), here.Line, here.Col)
		case *ptx.Inst:
			lines[s] = at
		}
	}
	return lines
}

// userCode is the innermost of the calls that led to a place that is in the kernel's
// own file, or in its folder: not the line of a header of the toolkit, but the one
// that uses it.
func (p *program) userCode(at ptx.SrcPos, callers map[ptx.SrcPos]ptx.SrcPos) ptx.SrcPos {
	chain := []ptx.SrcPos{at}
	for len(chain) < 64 {
		up, ok := callers[chain[len(chain)-1]]
		if !ok {
			break
		}
		chain = append(chain, up)
	}
	outer := chain[len(chain)-1]
	dir := path.Dir(p.mod.FileName(outer.File))
	for _, c := range chain {
		if c.File == outer.File || dir != "." && path.Dir(p.mod.FileName(c.File)) == dir {
			return c
		}
	}
	return outer
}
