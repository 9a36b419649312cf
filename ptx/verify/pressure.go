package verify

import "github.com/GOATnote-Inc/attest/ptx"

// Estimate is what live ranges say of a function's need of registers. It is an
// estimate: the assembler reorders, rematerialises and spills, and its own
// count, not this one, decides occupancy.
type Estimate struct {
	Registers  int       // 32-bit registers live at once, at the peak
	Predicates int       // predicates live at once, at their own peak
	At         *ptx.Inst // where Registers peaks, the last such place of its block; nil without registers
	// Partial is set when the function was too large to follow every register.
	Partial bool
}

// Pressure estimates the registers a function needs.
func Pressure(f *ptx.Func, g *CFG) Estimate {
	c := newDecoder().decode(f, g, nil)
	return c.pressure(c.live())
}

func (c *code) pressure(live *liveness) Estimate {
	p := &pressureScan{c: c, alive: make([]bool, len(c.fn.Regs))}
	p.est.Partial = !live.complete
	for b := range c.cfg.Blocks {
		if c.cfg.Reachable(b) {
			p.block(b, live)
		}
	}
	return p.est
}

type pressureScan struct {
	c           *code
	est         Estimate
	alive       []bool
	list        []int32 // registers to clear after the block
	regs, preds int
}

// block walks backwards from what is live after the block.
func (p *pressureScan) block(b int, live *liveness) {
	blk := &p.c.cfg.Blocks[b]
	for _, s := range blk.Succs {
		for _, r := range live.in[s] {
			p.add(r)
		}
	}
	for i := blk.End - 1; i >= blk.Start; i-- {
		in := p.c.at[i].in
		if in == nil {
			continue
		}
		for _, r := range p.c.writes(i) { // a result needs its register even if nobody reads it
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
	if p.regs > p.est.Registers {
		p.est.Registers, p.est.At = p.regs, in
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

// count adds the 32-bit registers that r takes; smaller values take a whole one.
func (p *pressureScan) count(r int32, sign int) {
	s := p.c.fn.Regs[r]
	n := sign * max(int(s.Vec), 1)
	if s.Type == ptx.Pred {
		p.preds += n
		return
	}
	p.regs += n * ((s.Type.Bits() + 31) / 32)
}
