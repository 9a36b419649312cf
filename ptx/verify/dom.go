package verify

// dominance computes both dominator trees.
func (g *CFG) dominance() {
	n := len(g.Blocks)
	g.Idom = dominators(n, 0,
		func(b int) []int { return g.Blocks[b].Succs },
		func(b int) []int { return g.Blocks[b].Preds })
	g.dom = newTreeSpan(g.Idom, 0)

	preds, succs := g.reversed()
	g.Ipdom = dominators(n, g.Exit(),
		func(b int) []int { return preds[b] },
		func(b int) []int { return succs[b] })
}

// reversed returns the reversed edges of the graph, with one edge from the exit to each
// infinite loop, so that every block reaches the exit. The edge belongs to the block of the
// loop that comes last in the order from the entry.
func (g *CFG) reversed() (preds, succs [][]int) {
	n, exit := len(g.Blocks), g.Exit()
	preds, succs = make([][]int, n), make([][]int, n)
	for b := range g.Blocks {
		preds[b], succs[b] = g.Blocks[b].Preds, g.Blocks[b].Succs
	}
	seen := make([]bool, n)
	g.markBack(exit, seen)
	tie := func(b int) {
		if !seen[b] {
			preds[exit] = append(preds[exit][:len(preds[exit]):len(preds[exit])], b)
			succs[b] = append(succs[b][:len(succs[b]):len(succs[b])], exit)
			g.markBack(b, seen)
		}
	}
	for i := len(g.RPO) - 1; i >= 0; i-- {
		tie(g.RPO[i])
	}
	for b := range g.Blocks {
		tie(b)
	}
	return preds, succs
}

// markBack marks the blocks that lead to b.
func (g *CFG) markBack(b int, seen []bool) {
	seen[b] = true
	stack := []int{b}
	for len(stack) > 0 {
		b, stack = stack[len(stack)-1], stack[:len(stack)-1]
		for _, p := range g.Blocks[b].Preds {
			if !seen[p] {
				seen[p] = true
				stack = append(stack, p)
			}
		}
	}
}

// dominators returns the immediate dominator of each node, or -1 for the root and for nodes
// that the root does not reach. It is the semidominator method with nearest common
// ancestors: nearly linear, even for long chains of early exits.
func dominators(n, root int, succs, preds func(int) []int) []int {
	d := newSemi(n, root, succs)
	for v := len(d.node) - 1; v > 0; v-- {
		semi := d.parent[v]
		for _, p := range preds(d.node[v]) {
			if u := d.num[p]; u >= 0 {
				semi = min(semi, d.eval(u, v))
			}
		}
		d.semi[v] = semi
		d.label[v] = semi
	}
	idom := make([]int, n)
	for i := range idom {
		idom[i] = -1
	}
	up := make([]int, len(d.node)) // immediate dominators by number
	for v := 1; v < len(d.node); v++ {
		up[v] = d.parent[v]
		for up[v] > d.semi[v] {
			up[v] = up[up[v]]
		}
		idom[d.node[v]] = d.node[up[v]]
	}
	return idom
}

// semi is the state of the semidominator method. Nodes have the number of their place in a
// depth-first walk.
type semi struct {
	num      []int // node to number, or -1
	node     []int // number to node
	parent   []int
	semi     []int
	label    []int // least semidominator on the compressed path
	ancestor []int // compressed path upwards
	path     []int
}

func newSemi(n, root int, succs func(int) []int) *semi {
	d := &semi{num: make([]int, n)}
	for i := range d.num {
		d.num[i] = -1
	}
	type edge struct{ from, to int }
	stack := []edge{{-1, root}}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if d.num[e.to] >= 0 {
			continue
		}
		v := len(d.node)
		d.num[e.to] = v
		d.node = append(d.node, e.to)
		d.parent = append(d.parent, e.from)
		for _, s := range succs(e.to) {
			if d.num[s] < 0 {
				stack = append(stack, edge{v, s})
			}
		}
	}
	d.semi = make([]int, len(d.node))
	d.label = make([]int, len(d.node))
	d.ancestor = append([]int(nil), d.parent...)
	for v := range d.node {
		d.semi[v], d.label[v] = v, v
	}
	return d
}

// eval returns the least semidominator among u and its processed ancestors, whose numbers
// are above v. It compresses the path that it walks.
func (d *semi) eval(u, v int) int {
	if u <= v {
		return u
	}
	path := d.path[:0]
	for d.ancestor[u] > v {
		path = append(path, u)
		u = d.ancestor[u]
	}
	// u is the topmost processed node: its label is correct, so carry it down.
	for i := len(path) - 1; i >= 0; i-- {
		w := path[i]
		d.label[w] = min(d.label[w], d.label[d.ancestor[w]])
		d.ancestor[w] = d.ancestor[u]
	}
	best := d.label[u]
	if len(path) > 0 {
		best = d.label[path[0]]
	}
	d.path = path
	return best
}

// treeSpan answers ancestor queries on a tree in constant time.
type treeSpan struct{ in, out []int }

func newTreeSpan(parent []int, root int) treeSpan {
	n := len(parent)
	child, next := make([]int, n), make([]int, n)
	for i := range child {
		child[i], next[i] = -1, -1
	}
	for v, p := range parent {
		if p >= 0 {
			next[v], child[p] = child[p], v
		}
	}
	t := treeSpan{make([]int, n), make([]int, n)}
	for i := range n {
		t.in[i], t.out[i] = -1, -1
	}
	clock := 0
	for v := root; v >= 0; {
		t.in[v] = clock
		clock++
		if child[v] >= 0 {
			v = child[v]
			continue
		}
		for v >= 0 {
			t.out[v] = clock
			if next[v] >= 0 {
				v = next[v]
				break
			}
			v = parent[v]
		}
	}
	return t
}

func (t treeSpan) contains(a, b int) bool {
	return t.in[a] >= 0 && t.in[b] >= t.in[a] && t.in[b] < t.out[a]
}
