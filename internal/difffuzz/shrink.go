package difffuzz

import (
	"context"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
)

// Shrink removes everything from a kernel that does not matter to a difference of the same
// kind. It removes instructions first, then simplifies guards and operands, the numbers of
// blocks and threads, and the initial values. It returns the smaller kernel and how the
// devices differ on it.
func Shrink(ctx context.Context, p *Pair, k *Kernel, d *Difference) (*Kernel, *Difference, error) {
	s := &shrinker{ctx: ctx, pair: p, best: k, diff: d}
	for s.err == nil {
		before := s.best
		s.nodes()
		s.flatten()
		s.threads()
		s.operands()
		s.values()
		if s.best == before {
			break
		}
	}
	if ctx.Err() != nil {
		return s.best, s.diff, nil // the smallest kernel so far
	}
	return s.best, s.diff, s.err
}

type shrinker struct {
	ctx   context.Context
	pair  *Pair
	best  *Kernel
	diff  *Difference
	tries int
	err   error
}

// maxTries limits the work on one find.
const maxTries = 2000

// try applies a change to a copy of the kernel and keeps the copy if the devices still
// differ. It reports whether they do.
func (s *shrinker) try(change func(k *Kernel)) bool {
	if s.err != nil || s.tries >= maxTries || s.ctx.Err() != nil {
		return false
	}
	s.tries++
	k := s.best.clone()
	change(k)
	ds, err := s.pair.differ(s.ctx, []*Kernel{k})
	if err != nil {
		s.err = err
		return false
	}
	if ds[0] == nil || ds[0].Kind != s.diff.Kind {
		return false
	}
	s.best, s.diff = k, ds[0]
	return true
}

// nodeList identifies a list of nodes: the body of the kernel, or the Body or Else of a
// node.
type nodeList struct {
	node int // index in the order of walk; -1 for the body of the kernel
	els  bool
}

func (l nodeList) of(k *Kernel) *[]*Node {
	if l.node < 0 {
		return &k.Body
	}
	i := 0
	var found *[]*Node
	walk(k.Body, func(n *Node) {
		if i == l.node {
			found = &n.Body
			if l.els {
				found = &n.Else
			}
		}
		i++
	})
	return found
}

// nodeLists returns all lists of nodes, outer lists first.
func nodeLists(k *Kernel) []nodeList {
	all := []nodeList{{-1, false}}
	i := 0
	walk(k.Body, func(n *Node) {
		if len(n.Body) > 0 {
			all = append(all, nodeList{i, false})
		}
		if len(n.Else) > 0 {
			all = append(all, nodeList{i, true})
		}
		i++
	})
	return all
}

// nodes removes sequences of nodes: first halves of a list, then shorter and shorter
// sequences.
func (s *shrinker) nodes() {
	for at := 0; at < len(nodeLists(s.best)); at++ {
		l := nodeLists(s.best)[at]
		for size := max(len(*l.of(s.best))/2, 1); ; size /= 2 {
			for from := 0; from < len(*l.of(s.best)); {
				if !s.try(func(k *Kernel) {
					ns := l.of(k)
					*ns = slices.Delete(*ns, from, min(from+size, len(*ns)))
				}) {
					from += size
				}
			}
			if size <= 1 {
				break
			}
		}
	}
}

// flatten replaces branches and loops with the nodes inside them.
func (s *shrinker) flatten() {
	for at := 0; at < len(nodeLists(s.best)); at++ {
		l := nodeLists(s.best)[at]
		for i := 0; i < len(*l.of(s.best)); i++ {
			n := (*l.of(s.best))[i]
			if n.Kind == Straight {
				continue
			}
			known := n.Kind == If && n.Cond == "" // instructions inside have masks with these lanes
			if !known && s.try(func(k *Kernel) {
				ns := l.of(k)
				inner := (*ns)[i]
				*ns = slices.Concat((*ns)[:i:i], inner.Body, inner.Else, (*ns)[i+1:])
			}) {
				i--
				continue
			}
			if n.Kind == Loop {
				s.try(func(k *Kernel) { c := (*l.of(k))[i]; c.Count, c.From = 1, "" })
			}
		}
	}
}

// eachInst tries a change on every instruction.
func (s *shrinker) eachInst(try func(at, inst int)) {
	var sizes []int
	walk(s.best.Body, func(n *Node) { sizes = append(sizes, len(n.Insts)) })
	for at, n := range sizes {
		for i := range n {
			try(at, i)
		}
	}
}

func instAt(k *Kernel, at, inst int) *Inst {
	var found *Inst
	i := 0
	walk(k.Body, func(n *Node) {
		if i == at {
			found = &n.Insts[inst]
		}
		i++
	})
	return found
}

// operands removes guards that are predicates of the pool, and reduces the number of
// registers.
func (s *shrinker) operands() {
	s.eachInst(func(at, i int) {
		in := *instAt(s.best, at, i)
		if pool.MatchString(in.Guard) {
			s.try(func(k *Kernel) { instAt(k, at, i).Guard = "" })
		}
		for a := in.Out; a < len(in.Args); a++ {
			if strings.ContainsAny(in.Args[a], "{[|") {
				continue // vectors and addresses stay as they are
			}
			r := pool.FindString(in.Args[a])
			if r == "" || strings.HasSuffix(r, "0") || slices.Contains(instAt(s.best, at, i).Args, r[:2]+"0") {
				continue // ptxas compiles an instruction with the same register twice differently
			}
			s.try(func(k *Kernel) {
				arg := &instAt(k, at, i).Args[a]
				*arg = strings.Replace(*arg, r, r[:2]+"0", 1)
			})
		}
	})
}

// threads reduces the numbers of blocks and threads.
func (s *shrinker) threads() {
	if s.best.Grid.X > 1 {
		s.try(func(k *Kernel) { k.Grid = device.D(1) })
	}
	for _, n := range []int{32, 64} {
		if s.best.Threads() > n && !usesMatrix(s.best) {
			s.try(func(k *Kernel) { k.Block = device.D(n) })
		}
	}
	if b := s.best.Block; b.Y > 1 || b.Z > 1 {
		s.try(func(k *Kernel) { k.Block = device.D(b.Count()) })
	}
}

// usesMatrix reports whether the kernel uses wgmma, which needs a whole warpgroup.
func usesMatrix(k *Kernel) bool {
	found := false
	walk(k.Body, func(n *Node) { found = found || n.Matrix > 0 })
	return found
}

// values simplifies the initial values of registers and memory: the same in all threads,
// then zero or one.
func (s *shrinker) values() {
	if s.best.Fill != 0 {
		s.try(func(k *Kernel) { k.Fill = 0 })
	}
	used, _ := s.best.registers()
	for _, r := range used {
		for _, w := range []Word{{}, {1}} {
			if s.uniform(r, w) {
				break
			}
		}
	}
	thread := max(s.diff.Thread, 0) + s.diff.Block*s.best.Threads()
	for _, r := range used {
		if ws := s.best.Inputs[r]; len(ws) > 0 && !allEqual(ws) {
			s.uniform(r, ws[thread%len(ws)])
		}
	}
}

// uniform tries to give a register the same value in all threads.
func (s *shrinker) uniform(r string, w Word) bool {
	if ws := s.best.Inputs[r]; len(ws) == 0 || allEqual(ws) && ws[0] == w {
		return true
	}
	return s.try(func(k *Kernel) {
		for i := range k.Inputs[r] {
			k.Inputs[r][i] = w
		}
	})
}

func allEqual(ws []Word) bool {
	for _, w := range ws {
		if w != ws[0] {
			return false
		}
	}
	return true
}
