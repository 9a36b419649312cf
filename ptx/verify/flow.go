package verify

import "github.com/GOATnote-Inc/attest/ptx"

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

// afterAbort marks the blocks that control would reach if a trap, or a call that never
// returns, went on to the next statement. Compilers do not remove such code, so it is not
// worth a warning.
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
