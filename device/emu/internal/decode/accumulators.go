package decode

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// A program may touch the accumulators of a wgmma only after the wait that covers the product. An
// assembler that finds another access waits there, so the access sees the product. The emulator
// does the same: it finds the instructions that may touch accumulators too early, and finishes the
// products before them.

// never is the age of a register that no running product writes.
const never = ^uint8(0)

// ages holds, for each accumulator of a function, the least number of groups that were committed
// since a product that writes it started, or never.
type ages []uint8

// early finds the instructions of a function that touch accumulators before the wait.
type early struct {
	graph *verify.CFG
	index map[*ptx.Symbol]int // accumulators
	touch map[*ptx.Inst][]*ptx.Symbol
}

// earlyAccesses returns the accumulators that instructions of a function may touch while a product
// that writes them runs.
func earlyAccesses(g *verify.CFG) map[*ptx.Inst][]*ptx.Symbol {
	e := &early{graph: g, index: map[*ptx.Symbol]int{}, touch: map[*ptx.Inst][]*ptx.Symbol{}}
	for _, s := range g.Func.Body {
		if in, ok := s.(*ptx.Inst); ok && isProduct(in) {
			eachRegister(in.Args[:1], func(r *ptx.Symbol) {
				if _, ok := e.index[r]; !ok {
					e.index[r] = len(e.index)
				}
			})
		}
	}
	if len(e.index) > 0 {
		e.solve()
	}
	return e.touch
}

func isProduct(in *ptx.Inst) bool { return in.Op.Name == "wgmma" && in.Op.Has("mma_async") }

func eachRegister(os []ptx.Operand, do func(*ptx.Symbol)) {
	for i := range os {
		if s := os[i].Sym; s != nil && s.Kind == ptx.RegSymbol {
			do(s)
		}
		eachRegister(os[i].Elems, do)
	}
}

// solve iterates over the blocks until the ages at their starts no longer fall.
func (e *early) solve() {
	fresh := func() ages { return slices.Repeat(ages{never}, len(e.index)) }
	starts := make([]ages, len(e.graph.Blocks))
	for b := range starts {
		starts[b] = fresh()
	}
	for changed := true; changed; {
		changed = false
		for _, b := range e.graph.RPO {
			end := slices.Clone(starts[b])
			e.block(b, end)
			for _, next := range e.graph.Blocks[b].Succs {
				for i, age := range end {
					if age < starts[next][i] {
						starts[next][i], changed = age, true
					}
				}
			}
		}
	}
}

// block applies the instructions of a block to the ages at its start.
func (e *early) block(b int, at ages) {
	blk := &e.graph.Blocks[b]
	for _, s := range e.graph.Func.Body[blk.Start:blk.End] {
		if in, ok := s.(*ptx.Inst); ok {
			e.inst(in, at)
		}
	}
}

func (e *early) inst(in *ptx.Inst, at ages) {
	args := in.Args
	if isProduct(in) {
		args = in.Args[1:] // a product may follow another one on the same accumulators
	}
	eachRegister(args, func(r *ptx.Symbol) {
		if i, ok := e.index[r]; ok && at[i] != never && !slices.Contains(e.touch[in], r) {
			e.touch[in] = append(e.touch[in], r)
		}
	})
	switch {
	case isProduct(in):
		eachRegister(in.Args[:1], func(r *ptx.Symbol) { at[e.index[r]] = 0 })
	case in.Op.Name != "wgmma":
	case in.Op.Has("commit_group"):
		for i := range at {
			if at[i] < never-1 {
				at[i]++
			}
		}
	case in.Op.Has("wait_group"):
		x, err := isa.BindInst(in)
		for i := range at {
			if err == nil && int64(at[i]) > x.Arg("N").Val {
				at[i] = never
			}
		}
	}
}

// finishBefore adds an operation before the present instruction that finishes the products that
// write any of the registers.
func finishBefore(d *operand.Decoder, regs []*ptx.Symbol) {
	var slots []machine.Slot
	for _, r := range regs {
		for i := range max(int(r.Vec), 1) {
			slots = append(slots, d.Func.Regs[r.ID]+machine.Slot(i))
		}
	}
	d.Pre = append(d.Pre, machine.Op{
		Run:   func(f *machine.Frame, _ uint32) { f.Warp.Async.Products.FinishWriters(f, slots) },
		Guard: -1, Target: -1,
	})
}
