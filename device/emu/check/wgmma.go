package check

import (
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The registers of wgmma.mma_async belong to the product from its start to the wait that covers
// it. wgmma.fence orders the accesses of other instructions before the start.
//
// If wgmma is inline assembly, the compiler may move its operands: nvcc moves them between the
// fence and the product, and without optimisation to and from local memory while the product
// runs. Assemblers recognise such moves and wait there. So moves by a compiler are accepted
// before the product, and are warnings while it runs. All other accesses are errors.

// groupPart is the check of wgmma for a launch.
type groupPart struct {
	insts []*groupInst  // by instruction; nil if it does not matter
	regs  []*ptx.Symbol // the registers of all wgmma
}

// groupInst is a wgmma, or an instruction that accesses registers of wgmma. Registers are
// indices of groupPart.regs.
type groupInst struct {
	d, a   []int // wgmma.mma_async: the accumulator, and the factor a if it is in registers
	reads  []int
	writes []int
	shape  string
	// compiled is set if the instruction is inline assembly, so that a compiler placed the
	// instructions around it.
	compiled bool
	moves    bool // it only moves values, and a compiler placed it
}

// WgmmaHazard is a use of the registers of wgmma against its rules.
const WgmmaHazard finding.Kind = "wgmma-hazard"

func init() {
	register(checker{kinds: []kind{{Rule: finding.Rule{
		Kind:  WgmmaHazard,
		Short: "registers or operands of wgmma touched while it may use them",
		Full:  "wgmma.mma_async uses its registers after the instruction. They may not be touched before wgmma.wait_group, and need wgmma.fence after ordinary writes. All four warps must give the same descriptors.",
		Help:  "Put wgmma.fence before the first wgmma and after writes to its registers, and wgmma.wait_group before its results are read.",
	}}}, start: newGroups})
}

func newGroups(l *launch) part {
	return l.once("wgmma", func() part { return findGroups(l) })
}

// findGroups finds wgmma and the instructions that access its registers. It returns nil if there
// is no wgmma.
func findGroups(l *launch) part {
	p := &groupPart{insts: make([]*groupInst, len(l.Program))}
	numbers := map[*ptx.Symbol]int{}
	for id := range l.Program {
		if in := &l.Program[id]; isGroupProduct(in) {
			for _, name := range []string{"d", "a"} {
				for _, r := range operandRegs(in.Arg(name)) {
					if _, ok := numbers[r]; !ok {
						numbers[r] = len(p.regs)
						p.regs = append(p.regs, r)
					}
				}
			}
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	asm := map[*ptx.Inst]bool{}
	for _, f := range l.Module.Funcs() {
		inlineAssembly(f, asm)
	}
	for id := range l.Program {
		p.insts[id] = newGroupInst(&l.Program[id], numbers, asm)
	}
	return p
}

func isGroupProduct(in *observe.Inst) bool { return in.Op.Name == "wgmma" && in.Op.Has("mma_async") }

func operandRegs(o *ptx.Operand) (list []*ptx.Symbol) {
	if o == nil {
		return nil
	}
	for _, a := range undefArgs(o) {
		if a.id >= 0 {
			list = append(list, a.o.Sym)
		}
	}
	return list
}

// inlineAssembly marks the instructions of inline assembly.
func inlineAssembly(f *ptx.Func, asm map[*ptx.Inst]bool) {
	in := false
	for _, s := range f.Body {
		switch s := s.(type) {
		case *ptx.Comment:
			if strings.Contains(s.Text, "begin inline asm") {
				in = true
			} else if strings.Contains(s.Text, "end inline asm") {
				in = false
			}
		case *ptx.Inst:
			if in {
				asm[s] = true
			}
		}
	}
}

// newGroupInst returns the registers of wgmma that an instruction accesses, or nil if the
// instruction does not matter.
func newGroupInst(in *observe.Inst, numbers map[*ptx.Symbol]int, asm map[*ptx.Inst]bool) *groupInst {
	g := &groupInst{compiled: asm[in.Inst]}
	if in.Op.Name == "wgmma" {
		if isGroupProduct(in) {
			for _, r := range operandRegs(in.Arg("d")) {
				g.d = append(g.d, numbers[r])
			}
			for _, r := range operandRegs(in.Arg("a")) {
				g.a = append(g.a, numbers[r])
			}
			g.shape = in.Match.Mod("shape")
		}
		return g
	}
	u := newUndefInst(in, -1)
	add := func(to *[]int, as []undefArg) {
		for _, a := range as {
			if a.id < 0 {
				continue
			}
			if n, ok := numbers[in.Func.Regs[a.id]]; ok {
				*to = append(*to, n)
			}
		}
	}
	add(&g.reads, u.src)
	add(&g.reads, u.addr)
	add(&g.writes, u.dst)
	ends := (in.Op.Name == "ret" || in.Op.Name == "exit") && in.Func.Entry
	if len(g.reads) == 0 && len(g.writes) == 0 && !ends {
		return nil
	}
	switch in.Op.Name {
	case "mov", "ld", "st":
		g.moves = !g.compiled
	}
	return g
}

func (p *groupPart) wants(in *observe.Inst) bool { return p.insts[in.ID] != nil }

func (p *groupPart) cluster(c *cluster) any {
	return &groupWatch{p: p, c: c, warps: perWarp[groupWarp](c), groups: map[int]*warpgroup{}}
}

// groupWatch watches a cluster.
type groupWatch struct {
	p      *groupPart
	c      *cluster
	warps  []*groupWarp       // see perWarp
	groups map[int]*warpgroup // by rank and index of the warpgroup
}

// groupWarp is what a warp has done with the registers of wgmma.
type groupWarp struct {
	fenced  bool         // it has executed a wgmma.fence
	ready   bool         // it has executed a wgmma.fence since the last wait
	epoch   int          // number of fences
	groups  int          // number of commits
	issued  int          // number of products
	running []*groupWork // products that no wait has covered
	regs    []groupReg
}

// groupReg is the state of a register.
type groupReg struct {
	work  *groupWork // the running product that uses it, or nil
	input bool       // the product uses it as a, not as an accumulator
	// wrote is the last instruction other than wgmma that wrote the register, or -1. since is the
	// epoch of that write.
	wrote, since int
	// shape is the shape of the last product that the register was an accumulator of. shaped is
	// the epoch of that product.
	shape  string
	shaped int
}

// groupWork is a running product.
type groupWork struct {
	id       int
	group    int // number of commits before it
	inst     *groupInst
	reported map[finding.Severity]bool
}

func (w *groupWatch) warp(s *observe.Step) *groupWarp {
	g := &w.warps[w.c.warpIndex(s)]
	if *g == nil {
		*g = &groupWarp{regs: make([]groupReg, len(w.p.regs))}
		for i := range (*g).regs {
			(*g).regs[i].wrote = -1
		}
	}
	return *g
}

func (w *groupWatch) step(s *observe.Step) {
	in, g := w.p.insts[s.ID], w.warp(s)
	switch {
	case s.Op.Name != "wgmma":
		w.touch(g, in, s)
		if s.Op.Name == "ret" || s.Op.Name == "exit" {
			w.checkEnd(g, s)
		}
	case s.Op.Has("fence"):
		g.fenced, g.ready = true, true
		g.epoch++
	case s.Op.Has("commit_group"):
		g.groups++
	case s.Op.Has("wait_group"):
		g.wait(int(s.Arg("N").Val))
	default:
		w.issue(g, in, s)
	}
}

// wait ends all products except those of the last keep groups and those that are not committed.
func (g *groupWarp) wait(keep int) {
	n := 0
	for n < len(g.running) && g.running[n].group+keep < g.groups {
		for _, regs := range [][]int{g.running[n].inst.d, g.running[n].inst.a} {
			for _, i := range regs {
				if r := &g.regs[i]; r.work == g.running[n] {
					r.work = nil
				}
			}
		}
		n++
	}
	g.running = g.running[n:]
	g.ready = g.ready && n == 0
}

// touch checks an instruction other than wgmma that accesses registers of wgmma.
func (w *groupWatch) touch(g *groupWarp, in *groupInst, s *observe.Step) {
	for _, i := range in.reads {
		if r := &g.regs[i]; r.work != nil {
			w.reportEarly(g, in, s, r, i, false)
		}
	}
	for _, i := range in.writes {
		r := &g.regs[i]
		if r.work != nil {
			w.reportEarly(g, in, s, r, i, true)
		}
		r.wrote, r.since = s.ID, g.epoch
	}
}

// issue checks the start of a product and records it.
func (w *groupWatch) issue(g *groupWarp, in *groupInst, s *observe.Step) {
	w.compare(g, s)
	if bad := g.unordered(in, w.p.insts); bad != nil || !g.fenced {
		w.reportUnfenced(g, in, s, bad)
	}
	w.overlap(g, in, s)
	k := &groupWork{id: s.ID, group: g.groups, inst: in, reported: map[finding.Severity]bool{}}
	for _, i := range in.a {
		r := &g.regs[i]
		r.work, r.input = k, true
	}
	for _, i := range in.d {
		r := &g.regs[i]
		r.work, r.input = k, false
		r.shape, r.shaped = in.shape, g.epoch
	}
	g.running = append(g.running, k)
	g.fenced = true // a missing fence is reported once
	g.issued++
}

// unordered returns a register of the product that was written after the last fence, or nil.
func (g *groupWarp) unordered(in *groupInst, insts []*groupInst) *groupReg {
	for _, regs := range [][]int{in.d, in.a} {
		for _, i := range regs {
			r := &g.regs[i]
			if r.wrote < 0 || r.since != g.epoch {
				continue
			}
			if in.compiled && insts[r.wrote].moves && g.ready {
				continue
			}
			return r
		}
	}
	return nil
}

// overlap reports registers that a running product uses in another way. Only accumulators of the
// same shape may be used again before the wait.
func (w *groupWatch) overlap(g *groupWarp, in *groupInst, s *observe.Step) {
	for _, i := range in.a {
		if r := &g.regs[i]; r.work != nil && !r.input {
			w.reportEarly(g, in, s, r, i, false)
			return
		}
	}
	for _, i := range in.d {
		r := &g.regs[i]
		switch {
		case r.work != nil && r.input:
			w.reportEarly(g, in, s, r, i, true)
			return
		case r.shape != "" && r.shape != in.shape && r.shaped == g.epoch:
			w.reportReshaped(in, s, r)
			return
		}
	}
}
