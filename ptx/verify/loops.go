package verify

// Loop is a natural loop: its header dominates the blocks that branch back to it. A cycle
// that can be entered at two places has no header and does not count as a loop.
type Loop struct {
	Header int
	// Back are the blocks with an edge back to the header.
	Back []int
	// Parent is the loop around this one, or -1; Depth is 1 for an outermost loop.
	Parent, Depth int
}

// InLoop reports whether the block belongs to the loop or one inside it.
func (g *CFG) InLoop(b, loop int) bool {
	for l := g.LoopOf[b]; l >= 0; l = g.Loops[l].Parent {
		if l == loop {
			return true
		}
	}
	return false
}

// findLoops visits headers from the innermost outwards, because a header inside
// a loop comes after that loop's header in reverse postorder.
func (g *CFG) findLoops() {
	g.LoopOf = make([]int, len(g.Blocks))
	for i := range g.LoopOf {
		g.LoopOf[i] = -1
	}
	var root []int
	for i := len(g.RPO) - 1; i >= 0; i-- {
		h := g.RPO[i]
		var back []int
		for _, p := range g.Blocks[h].Preds {
			if g.Dominates(h, p) {
				back = append(back, p)
			}
		}
		if len(back) > 0 {
			root = g.addLoop(Loop{Header: h, Back: back, Parent: -1}, root)
		}
	}
	for l := len(g.Loops) - 1; l >= 0; l-- {
		lp := &g.Loops[l]
		lp.Depth = 1
		if lp.Parent >= 0 {
			lp.Depth += g.Loops[lp.Parent].Depth
		}
	}
}

// addLoop assigns to the loop the blocks that reach a back edge without passing the header.
// A loop that was found before counts as one block. root leads from each loop to the
// outermost loop around it in fewer steps than Parent does.
func (g *CFG) addLoop(lp Loop, root []int) []int {
	id := len(g.Loops)
	root = append(root, id)
	g.Loops = append(g.Loops, lp)
	g.LoopOf[lp.Header] = id
	work := append([]int(nil), lp.Back...)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !g.Reachable(b) {
			continue
		}
		if inner := g.LoopOf[b]; inner < 0 {
			g.LoopOf[b] = id
		} else {
			for root[inner] != inner {
				root[inner] = root[root[inner]]
				inner = root[inner]
			}
			if inner == id {
				continue
			}
			g.Loops[inner].Parent, root[inner] = id, id
			b = g.Loops[inner].Header
		}
		work = append(work, g.Blocks[b].Preds...)
	}
	return root
}
