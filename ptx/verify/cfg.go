package verify

import "github.com/GOATnote-Inc/attest/ptx"

// CFG is the control-flow graph of a function. Blocks[0] is the entry; the last
// block is the virtual exit, which holds no statement and follows every ret,
// exit and trap.
type CFG struct {
	Func   *ptx.Func
	Blocks []Block
	// RPO lists the blocks that control can reach, in reverse postorder.
	RPO []int
	// Idom and Ipdom are the immediate dominator and post-dominator of each
	// block. -1 stands for none: for the entry, for the exit, and for unreachable
	// blocks in Idom. An infinite loop has a virtual edge to the exit from its last
	// block, so that every block has a post-dominator.
	Idom, Ipdom []int
	// Loops are the natural loops, inner ones before those around them.
	Loops []Loop
	// LoopOf is the innermost loop of each block, an index into Loops, or -1.
	LoopOf []int

	labels  map[*ptx.Symbol]int          // the block that a label starts
	targets map[*ptx.Symbol]*ptx.Targets // lists for brx.idx
	dom     treeSpan
	rpoOf   []int // position in RPO, or -1
}

// Block is a run of statements that control enters at its start and leaves at
// its end.
type Block struct {
	Start, End   int // Func.Body[Start:End]
	Succs, Preds []int
	// Ends says how control leaves the block.
	Ends End
}

// End is how control leaves a block.
type End uint8

// The ends of a block.
const (
	Falls    End = iota // into the next block
	Branches            // bra, brx
	Returns             // ret, exit
	Aborts              // trap, or a call of a function that never returns
	Drops               // off the end of the function's text
)

// Exit is the index of the virtual exit block.
func (g *CFG) Exit() int { return len(g.Blocks) - 1 }

// Reachable reports whether control can reach the block from the entry.
func (g *CFG) Reachable(b int) bool { return g.rpoOf[b] >= 0 }

// Dominates reports whether every path from the entry to b passes a. A block
// dominates itself.
func (g *CFG) Dominates(a, b int) bool { return g.dom.contains(a, b) }

// Target returns the block that a label starts, or -1.
func (g *CFG) Target(label *ptx.Symbol) int {
	if b, ok := g.labels[label]; ok {
		return b
	}
	return -1
}

// Branch returns the instruction that chooses between the successors of the block, or nil
// if the block has one successor.
func (g *CFG) Branch(b int) *ptx.Inst {
	blk := &g.Blocks[b]
	if len(blk.Succs) < 2 {
		return nil
	}
	return lastInst(g.Func.Body[blk.Start:blk.End])
}

// blockAt returns the block that contains a statement.
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

// NewCFG builds the control-flow graph of a function with a body.
func NewCFG(f *ptx.Func) *CFG {
	g := &CFG{Func: f, labels: map[*ptx.Symbol]int{}, targets: map[*ptx.Symbol]*ptx.Targets{}}
	g.split()
	g.connect()
	g.order()
	g.dominance()
	g.findLoops()
	return g
}

// split cuts the body into blocks. A label starts a block only if it follows an
// instruction, so that there are no blocks without instructions.
func (g *CFG) split() {
	body := g.Func.Body
	start, hasInst := 0, false
	cut := func(end int) {
		if hasInst {
			g.Blocks = append(g.Blocks, Block{Start: start, End: end})
			start, hasInst = end, false
		}
	}
	for i, s := range body {
		switch s := s.(type) {
		case *ptx.Label:
			cut(i)
			g.labels[s.Sym] = len(g.Blocks)
		case *ptx.Targets:
			g.targets[s.Sym] = s
		case *ptx.Inst:
			hasInst = true
			if endOf(s) != Falls {
				cut(i + 1)
			}
		}
	}
	if hasInst || start < len(body) || len(g.Blocks) == 0 {
		g.Blocks = append(g.Blocks, Block{Start: start, End: len(body)})
	}
	g.Blocks = append(g.Blocks, Block{Start: len(body), End: len(body)})
}

// endOf returns how control leaves the block after the instruction, if its guard holds.
func endOf(in *ptx.Inst) End {
	switch in.Op.Name {
	case "bra", "brx":
		return Branches
	case "ret", "exit":
		return Returns
	case "trap":
		return Aborts
	case "call":
		if f := callee(in); f != nil && f.Directive(".noreturn") != nil {
			return Aborts
		}
	}
	return Falls
}

// callee returns the function that a direct call names, or nil.
func callee(in *ptx.Inst) *ptx.Func {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ptx.SymOperand && o.Sym.Kind == ptx.FuncSymbol {
			return o.Sym.Func
		}
	}
	return nil
}

func lastInst(stmts []ptx.Stmt) *ptx.Inst {
	for i := len(stmts) - 1; i >= 0; i-- {
		if in, ok := stmts[i].(*ptx.Inst); ok {
			return in
		}
	}
	return nil
}

func (g *CFG) connect() {
	exit := g.Exit()
	for b := range exit {
		blk := &g.Blocks[b]
		in := lastInst(g.Func.Body[blk.Start:blk.End])
		if in != nil {
			blk.Ends = endOf(in)
		}
		switch blk.Ends {
		case Branches:
			g.branch(b, in)
		case Returns, Aborts:
			g.edge(b, exit)
		}
		if blk.Ends != Falls && in.Guard.Sym == nil {
			continue
		}
		if b+1 == exit {
			blk.Ends = Drops
		}
		g.edge(b, b+1)
	}
}

// branch adds the edges of a bra or brx. A label that is not declared leads to the exit;
// names reports the missing label.
func (g *CFG) branch(b int, in *ptx.Inst) {
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind != ptx.SymOperand {
			continue
		}
		if list := g.targets[o.Sym]; list != nil {
			for j := range list.List {
				g.edgeTo(b, list.List[j].Sym)
			}
			continue
		}
		g.edgeTo(b, o.Sym)
	}
	if len(g.Blocks[b].Succs) == 0 {
		g.edge(b, g.Exit())
	}
}

func (g *CFG) edgeTo(b int, label *ptx.Symbol) {
	if t := g.Target(label); t >= 0 {
		g.edge(b, t)
	} else {
		g.edge(b, g.Exit())
	}
}

// edge adds an edge once. Lists of branch targets repeat labels, so the check
// looks at the smaller of both ends.
func (g *CFG) edge(from, to int) {
	f, t := &g.Blocks[from], &g.Blocks[to]
	if len(f.Succs) <= len(t.Preds) {
		if has(f.Succs, to) {
			return
		}
	} else if has(t.Preds, from) {
		return
	}
	f.Succs = append(f.Succs, to)
	t.Preds = append(t.Preds, from)
}

func has(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// order fills RPO by a depth-first walk from the entry.
func (g *CFG) order() {
	n := len(g.Blocks)
	g.rpoOf = make([]int, n)
	for i := range g.rpoOf {
		g.rpoOf[i] = -1
	}
	post := postorder(n, 0, func(b int) []int { return g.Blocks[b].Succs })
	g.RPO = make([]int, len(post))
	for i, b := range post {
		r := len(post) - 1 - i
		g.RPO[r], g.rpoOf[b] = b, r
	}
}

// postorder walks a graph of n nodes from root. It does not recurse, because the depth of
// the graph is limited only by the length of the text.
func postorder(n, root int, succs func(int) []int) []int {
	type frame struct{ node, next int }
	seen := make([]bool, n)
	seen[root] = true
	stack := []frame{{node: root}}
	var post []int
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		ss := succs(top.node)
		if top.next == len(ss) {
			post = append(post, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		s := ss[top.next]
		top.next++
		if !seen[s] {
			seen[s] = true
			stack = append(stack, frame{node: s})
		}
	}
	return post
}
