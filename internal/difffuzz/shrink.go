package difffuzz

import (
	"context"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
)

// Shrink takes out of a kernel all that does not matter to a difference of the kind:
// instructions first, then what is left of their guards and operands, then blocks and
// threads, then the values it starts with. It returns the smaller kernel and how the
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
		return s.best, s.diff, nil // what there is by now
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

// mostTries bounds the work on one find.
const mostTries = 2000

// try makes a change to a copy and keeps it if the devices still differ. It reports
// whether they do.
func (s *shrinker) try(change func(k *Kernel)) bool {
	if s.err != nil || s.tries >= mostTries || s.ctx.Err() != nil {
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

// list is a place where nodes stand: the body, or that of the i-th node, or its Else.
type list struct {
	node int // in the order of walk, -1 for the kernel's body
	els  bool
}

func (l list) of(k *Kernel) *[]*Node {
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

// lists are all places where nodes stand, outer ones first.
func lists(k *Kernel) []list {
	all := []list{{-1, false}}
	i := 0
	walk(k.Body, func(n *Node) {
		if len(n.Body) > 0 {
			all = append(all, list{i, false})
		}
		if len(n.Else) > 0 {
			all = append(all, list{i, true})
		}
		i++
	})
	return all
}

// nodes takes out runs of nodes: halves first, then ever shorter ones.
func (s *shrinker) nodes() {
	for at := 0; at < len(lists(s.best)); at++ {
		l := lists(s.best)[at]
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

// flatten puts the nodes inside branches and loops in their place.
func (s *shrinker) flatten() {
	for at := 0; at < len(lists(s.best)); at++ {
		l := lists(s.best)[at]
		for i := 0; i < len(*l.of(s.best)); i++ {
			n := (*l.of(s.best))[i]
			if n.Kind == Straight {
				continue
			}
			known := n.Kind == If && n.Cond == "" // who is inside is in the masks of instructions there
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

// operands takes guards away that are the pool's own, and has fewer registers serve.
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
				continue // of one register twice an assembler makes another instruction
			}
			s.try(func(k *Kernel) {
				arg := &instAt(k, at, i).Args[a]
				*arg = strings.Replace(*arg, r, r[:2]+"0", 1)
			})
		}
	})
}

// threads makes the launch smaller.
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

// usesMatrix reports whether a warpgroup is needed.
func usesMatrix(k *Kernel) bool {
	found := false
	walk(k.Body, func(n *Node) { found = found || n.Matrix > 0 })
	return found
}

// values makes what registers and memory start with plainer: the same in all threads,
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
		if ws := s.best.Inputs[r]; len(ws) > 0 && !alike(ws) {
			s.uniform(r, ws[thread%len(ws)])
		}
	}
}

// uniform gives a register the same value in all threads.
func (s *shrinker) uniform(r string, w Word) bool {
	if ws := s.best.Inputs[r]; len(ws) == 0 || alike(ws) && ws[0] == w {
		return true
	}
	return s.try(func(k *Kernel) {
		for i := range k.Inputs[r] {
			k.Inputs[r][i] = w
		}
	})
}

func alike(ws []Word) bool {
	for _, w := range ws {
		if w != ws[0] {
			return false
		}
	}
	return true
}
