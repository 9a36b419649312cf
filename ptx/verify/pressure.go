package verify

import "github.com/GOATnote-Inc/attest/ptx"

// Estimate is the number of registers that a function needs, estimated from live ranges.
// ptxas decides the real number. For large kernels the two differ by less than 15 %; for
// kernels below about 64 registers ptxas often uses more, because it unrolls loops.
type Estimate struct {
	Registers  int       // 32-bit registers: Live, or Limit if that is less
	Live       int       // 32-bit registers that are live at once, at the peak
	Limit      int       // 32-bit registers that the launch bounds allow
	Predicates int       // predicates that are live at once, at their own peak
	At         *ptx.Inst // the last instruction of its block where Live peaks; nil without registers
	// Partial is set when the function was too large to follow every register.
	Partial bool
}

// Pressure estimates the registers that a function needs.
func Pressure(f *ptx.Func, g *CFG) Estimate {
	c := newDecoder().decode(f, g, nil)
	return c.pressure(c.live())
}

func (c *code) pressure(live *liveness) Estimate {
	p := &pressureScan{c: c, alive: make([]bool, len(c.fn.Regs)), hoister: newHoister(c)}
	p.est.Partial = !live.complete
	for b := range c.cfg.Blocks {
		if c.cfg.Reachable(b) {
			p.block(b, live)
		}
	}
	p.est.Limit = RegisterLimit(c.fn)
	p.est.Registers = min(p.est.Live, p.est.Limit)
	return p.est
}

// The register file of an SM, for compute capability 7.0 to 9.0.
const (
	registersPerSM      = 64 << 10
	registerGranularity = 8 // registers are allocated per thread in units of this size
)

// RegisterLimit returns how many registers a thread may have for the launch bounds of f.
func RegisterLimit(f *ptx.Func) int {
	limit := int64(maxRegisters)
	if threads := max(product(f.Directive(".reqntid")), product(f.Directive(".maxntid"))); threads > 0 {
		warps := (threads + 31) / 32
		blocks := max(product(f.Directive(".minnctapersm")), 1)
		limit = min(limit, registersPerSM/(32*warps*blocks)/registerGranularity*registerGranularity)
	}
	if most := product(f.Directive(".maxnreg")); most > 0 {
		limit = min(limit, most)
	}
	return int(max(limit, registerGranularity))
}

type pressureScan struct {
	c           *code
	hoister     *hoister
	est         Estimate
	alive       []bool
	list        []int32 // registers to clear after the block
	regs, preds int
}

// block walks backwards from what is live after the block, in the order in which ptxas
// would issue the instructions.
func (p *pressureScan) block(b int, live *liveness) {
	blk := &p.c.cfg.Blocks[b]
	for _, s := range blk.Succs {
		for _, r := range live.in[s] {
			p.add(r)
		}
	}
	order := p.hoister.order(b)
	for n := len(order) - 1; n >= 0; n-- {
		i := order[n]
		in := p.c.at[i].in
		for _, r := range p.c.writes(i) { // a result needs its register even if no instruction reads it
			p.add(r)
		}
		p.peak(in)
		for _, r := range p.c.writes(i) {
			if p.c.kills(i, r) {
				p.drop(r)
			}
		}
		for _, r := range p.c.reads(i) {
			p.add(r)
		}
		p.peak(in)
	}
	for _, r := range p.list {
		p.drop(r)
	}
	p.list = p.list[:0]
}

func (p *pressureScan) peak(in *ptx.Inst) {
	if p.regs > p.est.Live {
		p.est.Live, p.est.At = p.regs, in
	}
	p.est.Predicates = max(p.est.Predicates, p.preds)
}

func (p *pressureScan) add(r int32) {
	if !p.alive[r] {
		p.alive[r] = true
		p.list = append(p.list, r)
		p.count(r, 1)
	}
}

func (p *pressureScan) drop(r int32) {
	if p.alive[r] {
		p.alive[r] = false
		p.count(r, -1)
	}
}

// count adds the 32-bit registers that r needs. A value of 16 bits needs a whole one.
func (p *pressureScan) count(r int32, sign int) {
	s := p.c.fn.Regs[r]
	n := sign * max(int(s.Vec), 1)
	if s.Type == ptx.Pred {
		p.preds += n
		return
	}
	p.regs += n * ((s.Type.Bits() + 31) / 32)
}
