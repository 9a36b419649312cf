package verify

import "github.com/GOATnote-Inc/attest/ptx"

// Variance says whether a value can differ between the lanes of a warp.
type Variance uint8

// The variances, in order.
const (
	Invariant Variance = iota // the same in all lanes that run
	MayVary                   // unknown: from the stack, a call, a clock
	Varies                    // computed from a value that differs between lanes
)

func (v Variance) String() string {
	return [...]string{"uniform", "unknown", "divergent"}[v]
}

// Uniform is the result of [Uniformity].
type Uniform struct {
	g        *CFG
	regs     []Variance
	cause    []int32 // by register: the statement that raised it, or -1
	branches []Variance
	control  []Variance
	under    []int32 // by block: the block whose branch decides control
	// Partial is set when the function was too large to follow every branch: then
	// registers count as unknown at least.
	Partial bool
}

// Reg returns the variance of a register of the function.
func (u *Uniform) Reg(s *ptx.Symbol) Variance { return u.regs[s.ID] }

// Branch returns the variance of the branch at the end of a block.
func (u *Uniform) Branch(b int) Variance { return u.branches[b] }

// Control returns whether some lanes of a warp may run the block without the others, and
// the block whose branch separates them, or -1 if there is none. Lanes that have left the
// function count as separated.
func (u *Uniform) Control(b int) (Variance, int) { return u.control[b], int(u.under[b]) }

// Uniformity finds the values and branches that are the same for all lanes of a warp. A
// value varies if it is computed from a value that varies, or if lanes that took different
// branches meet with different values.
func Uniformity(f *ptx.Func, g *CFG) *Uniform {
	c := newDecoder().decode(f, g, nil)
	return c.uniformity(c.live())
}

// spread passes variance on from registers to their users until nothing changes.
type spread struct {
	c       *code
	u       *Uniform
	live    *liveness
	shapes  []shape
	users   table   // by register: the statements that read it
	blockOf []int32 // by statement
	work    []int32
	queued  []bool
	region  region
}

func (c *code) uniformity(live *liveness) *Uniform {
	regs, blocks := len(c.fn.Regs), len(c.cfg.Blocks)
	u := &Uniform{
		g: c.cfg, regs: make([]Variance, regs), cause: stamps(regs),
		branches: make([]Variance, blocks), control: make([]Variance, blocks), under: stamps(blocks),
	}
	s := &spread{
		c: c, u: u, live: live, shapes: c.shapes(),
		blockOf: make([]int32, len(c.at)), queued: make([]bool, len(c.at)),
		region: region{seen: make([]bool, blocks), defs: stamps(regs)},
	}
	var es []entry
	for b := range c.cfg.Blocks {
		for i := c.cfg.Blocks[b].Start; i < c.cfg.Blocks[b].End; i++ {
			s.blockOf[i] = int32(b)
			for _, r := range c.reads(i) {
				es = append(es, entry{r, int32(i)})
			}
		}
	}
	s.users = newTable(regs, es)
	for i := len(c.at) - 1; i >= 0; i-- {
		if c.at[i].in != nil && c.cfg.Reachable(int(s.blockOf[i])) {
			s.push(int32(i))
		}
	}
	s.run()
	return u
}

func (s *spread) push(stmt int32) {
	if !s.queued[stmt] {
		s.queued[stmt] = true
		s.work = append(s.work, stmt)
	}
}

func (s *spread) run() {
	for len(s.work) > 0 {
		i := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		s.queued[i] = false
		if ws := s.c.writes(int(i)); len(ws) > 0 {
			v := s.value(int(i))
			for _, r := range ws {
				if !s.elected(int(i), r) {
					s.raise(r, v, i)
				}
			}
		}
		if b := int(s.blockOf[i]); len(s.c.cfg.Blocks[b].Succs) > 1 && s.c.cfg.Branch(b) == s.c.at[i].in {
			s.branch(b, int(i))
		}
	}
}

func (s *spread) raise(r int32, v Variance, cause int32) {
	if s.u.regs[r] >= v {
		return
	}
	s.u.regs[r], s.u.cause[r] = v, cause
	for _, i := range s.users.of(int(r)) {
		if s.c.cfg.Reachable(int(s.blockOf[i])) {
			s.push(i)
		}
	}
}

// branch updates the variance of the branch at the end of a block.
func (s *spread) branch(b, stmt int) {
	in := s.c.at[stmt].in
	v := Invariant
	if !in.Op.Has("uni") {
		v = s.sources(stmt)
	}
	if v > s.u.branches[b] {
		s.u.branches[b] = v
		s.part(b, stmt, v)
	}
}

// region is the part of a function between a branch and the place where its lanes meet.
type region struct {
	seen   []bool  // by block, during one walk
	defs   []int32 // by register: the last branch whose region writes it
	blocks []int
	spent  int // blocks walked so far, over all branches
}

// regionBudget limits the walks of one function. When it is used up, the rest counts as
// unknown, so that the time does not become quadratic.
const regionBudget = 1 << 23

// part follows a branch that separates the lanes. Only some lanes run the blocks up to the
// place where they meet again, and registers that these blocks write may differ there.
func (s *spread) part(b, stmt int, v Variance) {
	if s.region.spent > regionBudget {
		s.giveUp()
		return
	}
	g, join := s.c.cfg, s.c.cfg.Ipdom[b]
	s.walk(b, join)
	for _, x := range s.region.blocks {
		later := s.u.under[x] < 0 || g.rpoOf[b] > g.rpoOf[s.u.under[x]]
		if v > s.u.control[x] || v == s.u.control[x] && later {
			s.u.control[x], s.u.under[x] = v, int32(b)
		}
		for i := g.Blocks[x].Start; i < g.Blocks[x].End; i++ {
			for _, r := range s.c.writes(i) {
				s.region.defs[r] = int32(b)
			}
		}
	}
	for _, x := range append(s.region.blocks, join) {
		if x == join || s.meets(b, x) {
			for _, r := range s.live.in[x] {
				if s.region.defs[r] == int32(b) {
					s.raise(r, v, int32(stmt))
				}
			}
		}
	}
}

// walk collects the blocks reached from b's successors before the join.
func (s *spread) walk(b, join int) {
	rg := &s.region
	rg.blocks = rg.blocks[:0]
	stack := append([]int(nil), s.c.cfg.Blocks[b].Succs...)
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if x == join || x == s.c.cfg.Exit() || rg.seen[x] {
			continue
		}
		rg.seen[x] = true
		rg.blocks = append(rg.blocks, x)
		stack = append(stack, s.c.cfg.Blocks[x].Succs...)
	}
	for _, x := range rg.blocks {
		rg.seen[x] = false
	}
	rg.spent += len(rg.blocks) + 1
}

// meets reports whether lanes from several sides of b's branch can meet at block x of its
// region, because more than one side leads there. A loop's header above b does not count:
// lanes come back to it from one side only.
func (s *spread) meets(b, x int) bool {
	g := s.c.cfg
	if len(g.Blocks[x].Preds) < 2 || g.Dominates(x, b) {
		return false
	}
	for _, side := range g.Blocks[b].Succs {
		if len(g.Blocks[side].Preds) == 1 && g.Dominates(side, x) {
			return false
		}
	}
	return true
}

func (s *spread) giveUp() {
	if s.u.Partial {
		return
	}
	s.u.Partial = true
	for r := range s.u.regs {
		s.raise(int32(r), MayVary, -1)
	}
}
