package verify

import (
	"fmt"
	"strings"

	"attest/ptx"
)

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// flow reports code that control cannot reach, and control that runs off the
// end of the function.
func (k *checker) flow(c *code) {
	g := c.cfg
	dead := afterAbort(g)
	for b := range g.Exit() {
		blk := &g.Blocks[b]
		in, stmt := firstInst(k.fn.Body, blk)
		switch {
		case !g.Reachable(b) && in != nil && !dead[b]:
			if b == 0 || g.Reachable(b-1) { // one finding for a run of blocks
				k.warnf(stmt, in.Pos, "unreachable", "control never reaches %s", in)
			}
		case g.Reachable(b) && blk.Ends == Drops:
			k.dropsOff(c)
		}
	}
}

func (k *checker) dropsOff(c *code) {
	for i := len(c.at) - 1; i >= 0; i-- {
		if in := c.at[i].in; in != nil {
			k.warnf(i, in.Pos, "falls-off-end", "control runs off the end of %s after this; end it with ret or exit", k.fn.Sym.Name)
			return
		}
	}
	k.warnf(-1, k.fn.Pos, "falls-off-end", "control runs off the end of %s; end it with ret or exit", k.fn.Sym.Name)
}

func firstInst(body []ptx.Stmt, blk *Block) (*ptx.Inst, int) {
	for i := blk.Start; i < blk.End; i++ {
		if in, ok := body[i].(*ptx.Inst); ok {
			return in, i
		}
	}
	return nil, -1
}

// afterAbort marks the blocks that would be reached if a trap, or a call that
// never returns, fell through. Compilers leave such code standing, and it says
// nothing about the program.
func afterAbort(g *CFG) []bool {
	dead := make([]bool, len(g.Blocks))
	var stack []int
	mark := func(b int) {
		if !g.Reachable(b) && !dead[b] {
			dead[b] = true
			stack = append(stack, b)
		}
	}
	for b := range g.Exit() {
		if g.Blocks[b].Ends == Aborts {
			mark(b + 1)
		}
	}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, s := range g.Blocks[b].Succs {
			mark(s)
		}
	}
	return dead
}

// uninitialised reports registers that are read where no path has written them.
// A register that only some path leaves unwritten is not reported: compilers
// rely on knowing better.
func (k *checker) uninitialised(c *code, live *liveness) {
	if len(live.in) == 0 || !live.complete {
		return
	}
	suspects := map[int32]*suspect{}
	for _, r := range live.in[0] {
		suspects[r] = &suspect{}
	}
	for _, p := range k.fn.Params { // registers of the old calling convention
		if p.Sym.Kind == ptx.RegSymbol {
			delete(suspects, p.Sym.ID)
		}
	}
	if len(suspects) == 0 {
		return
	}
	c.collect(suspects)
	undefined := k.implicitDefs()
	for _, r := range live.in[0] {
		name := c.fn.Regs[r].Name
		if suspects[r] == nil {
			continue
		}
		if i := c.firstUnwritten(suspects[r]); i >= 0 && !undefined[name] {
			in := c.at[i].in
			if in.Op.Name == "st" && in.Op.Has("param") {
				continue // the padding of a struct that is passed by value
			}
			severity := Error
			if carries(in) {
				severity = Warning
			}
			k.report(i, severity, in.Pos, "uninit-register", fmt.Sprintf("%s reads %s, which nothing has written", in.Op.Text, name))
		}
	}
}

// suspect is a register that some path reads unwritten.
type suspect struct{ reads, writes []int32 } // statements

func (c *code) collect(suspects map[int32]*suspect) {
	for i := range c.at {
		for _, r := range c.reads(i) {
			if s := suspects[r]; s != nil {
				s.reads = append(s.reads, int32(i))
			}
		}
		for _, r := range c.writes(i) {
			if s := suspects[r]; s != nil {
				s.writes = append(s.writes, int32(i))
			}
		}
	}
}

// firstUnwritten is the first reachable statement that reads the register and
// that no write of it leads to, or -1.
func (c *code) firstUnwritten(s *suspect) int {
	g := c.cfg
	reached := make(map[int]bool) // blocks whose start a write leads to
	var stack []int
	for _, w := range s.writes {
		stack = append(stack, g.blockAt(int(w)))
	}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, n := range g.Blocks[b].Succs {
			if !reached[n] {
				reached[n] = true
				stack = append(stack, n)
			}
		}
	}
	w := 0
	for _, r := range s.reads {
		b := g.blockAt(int(r))
		for w < len(s.writes) && s.writes[w] < r {
			w++
		}
		before := w > 0 && int(s.writes[w-1]) >= g.Blocks[b].Start
		if g.Reachable(b) && !reached[b] && !before {
			return int(r)
		}
	}
	return -1
}

// blockAt is the block that holds a statement.
func (g *CFG) blockAt(stmt int) int {
	lo, hi := 0, len(g.Blocks)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if g.Blocks[mid].End <= stmt {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// carries reports whether the instruction only moves its operands about, or is a
// matrix product that may ignore its accumulator. Compilers emit these on values
// the source left undefined.
func carries(in *ptx.Inst) bool {
	switch in.Op.Name {
	case "mov", "st", "selp", "call", "mma", "wmma", "wgmma", "shfl", "prmt":
		return true
	}
	return false
}

// implicitDefs are the registers that a compiler says it leaves undefined, in
// comments such as "implicit-def: %r5".
func (k *checker) implicitDefs() map[string]bool {
	names := map[string]bool{}
	for _, s := range k.fn.Body {
		if cm, ok := s.(*ptx.Comment); ok {
			if _, name, found := strings.Cut(cm.Text, "implicit-def: "); found {
				names[strings.TrimSpace(name)] = true
			}
		}
	}
	return names
}
