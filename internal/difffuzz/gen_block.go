package difffuzz

import (
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// threadsWord stands for the number of threads in a block. The printer replaces it, because
// shrinking may reduce the number.
const threadsWord = "THREADS"

// sync returns a barrier of all threads of the block, usually barrier 0.
func (g *gen) sync() Inst {
	if g.oneIn(4) {
		return act(g.pick("barrier.sync.aligned", "barrier.sync", "bar.sync"), itoa(g.IntN(16)), threadsWord)
	}
	return act("bar.sync", "0")
}

// neighbour returns instructions that put the exchange address of another thread into %from
// and the exchange address of this thread into %mine.
func (g *gen) neighbour() (insts []Inst, regs string) {
	return []Inst{
		inst("mad.lo.u32", "%mine", "%t", itoa(exchangeSize), "%bx"),
		inst("add.u32", "%from", "%t", itoa(g.IntN(g.threads))),
		inst("rem.u32", "%from", "%from", threadsWord),
		inst("mad.lo.u32", "%from", "%from", itoa(exchangeSize), "%bx"),
	}, ".reg .b32 %mine, %from;"
}

// exchange makes a node that passes registers to another thread of the block.
func (g *gen) exchange(scope) *Node {
	insts, regs := g.neighbour()
	insts = append(insts, g.sync(), act("st.shared.v4.b32", "[%mine]", g.vector('r', 4, false)), g.sync())
	if g.oneIn(2) {
		insts = append(insts, inst("ld.shared.v4.b32", g.vector('r', 4, true), "[%from]"))
	} else {
		insts = append(insts, inst("ld.shared.v2.b64", g.vector('d', 2, true), "[%from]"))
	}
	return node(insts...).with(regs)
}

// barrier makes a node that reduces a predicate over the block, or a barrier at which half
// of the warps arrive without waiting.
func (g *gen) barrier(scope) *Node {
	if g.threads >= 64 && g.oneIn(3) {
		id, n := itoa(1+g.IntN(15)), threadsWord
		return node(
			inst("and.b32", "%odd", "%t", "32"), inst("setp.ne.u32", "%goes", "%odd", "0"),
			Inst{Guard: "@%goes", Op: g.pick("bar.arrive", "barrier.arrive.aligned", "barrier.arrive"), Args: []string{id, n}},
			Inst{Guard: "@!%goes", Op: "bar.sync", Args: []string{id, n}},
			act("bar.sync", "0"),
		).with(".reg .b32 %odd;", ".reg .pred %goes;")
	}
	var forms []*isa.Form
	for _, f := range append(append([]*isa.Form{}, isa.Forms("bar")...), isa.Forms("barrier")...) {
		if hasSlot(f, "red") {
			forms = append(forms, f)
		}
	}
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, nil)
	if !ok {
		return nil
	}
	letter := byte('p')
	if m.Has("popc") {
		letter = 'r'
	}
	args := []string{g.out(letter), itoa(g.IntN(16))}
	if g.oneIn(2) {
		args = append(args, threadsWord)
	}
	return node(inst(m.Opcode().Text, append(args, g.pred())...))
}

// ordering returns the modifiers for the memory order of an mbarrier operation, or none for
// the default.
func (g *gen) ordering(order string) string {
	if g.has(80, 80) && g.oneIn(3) {
		return "." + order + ".cta"
	}
	return ""
}

// sharedSpace returns a name for the block's own shared memory.
func (g *gen) sharedSpace() string {
	if g.has(80, 78) && g.oneIn(2) {
		return ".shared::cta"
	}
	return ".shared"
}

// wait returns a loop that polls an mbarrier with the state in %state, or with parity 0 if
// the mbarrier is in its first phase.
func (g *gen) wait(bar string) []Inst {
	op, what := "mbarrier.test_wait", "%state"
	if g.has(90, 78) && g.oneIn(2) {
		op = "mbarrier.try_wait"
	}
	if g.has(80, 71) && g.oneIn(2) {
		op, what = op+".parity", "0"
	}
	return []Inst{
		raw("poll:"), inst(op+g.ordering("acquire")+g.sharedSpace()+".b64", "%over", bar, what),
		{Guard: "@!%over", Op: "bra", Args: []string{"poll"}},
	}
}

// leader makes i an instruction that only the first thread of the block executes. There,
// %lead is true.
func leader(i Inst) Inst {
	i.Guard = "@%lead"
	return i
}

// blockBarrier makes a node in which threads exchange registers and synchronise with an
// mbarrier.
func (g *gen) blockBarrier(scope) *Node {
	insts, regs := g.neighbour()
	arrive := inst("mbarrier.arrive"+g.ordering("release")+g.sharedSpace()+".b64", "%state", "[%bb]")
	if g.oneIn(3) {
		arrive.Op = "mbarrier.arrive_drop" + g.ordering("release") + g.sharedSpace() + ".b64"
	}
	if g.has(90, 80) && g.oneIn(3) {
		arrive = inst("mbarrier.arrive"+g.ordering("release")+g.sharedSpace()+".b64", "%state", "[%bb]", "1")
	}
	insts = append(insts,
		inst("setp.eq.u32", "%lead", "%t", "0"),
		act("bar.sync", "0"),
		leader(act("mbarrier.init"+g.sharedSpace()+".b64", "[%bb]", threadsWord)),
		act("st.shared.v2.b32", "[%mine]", g.vector('r', 2, false)),
		act("bar.sync", "0"), arrive)
	insts = append(insts, g.wait("[%bb]")...)
	insts = append(insts,
		inst("ld.shared.v2.b32", g.vector('r', 2, true), "[%from]"),
		act("bar.sync", "0"), leader(act("mbarrier.inval"+g.sharedSpace()+".b64", "[%bb]")), act("bar.sync", "0"))
	return node(insts...).with(regs, ".reg .pred %lead, %over;", ".reg .b64 %state;")
}
