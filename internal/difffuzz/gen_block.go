package difffuzz

import (
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// threadsWord stands for the number of threads in a block: a smaller launch of the same
// nodes has fewer.
const threadsWord = "THREADS"

// sync has the threads of the block wait for each other, most often at barrier 0.
func (g *gen) sync() Inst {
	if g.one(4) {
		return act(g.pick("barrier.sync.aligned", "barrier.sync", "bar.sync"), itoa(g.IntN(16)), threadsWord)
	}
	return act("bar.sync", "0")
}

// neighbour puts the address of another thread's place in %from and this one's in %mine.
func (g *gen) neighbour() (insts []Inst, regs string) {
	return []Inst{
		inst("mad.lo.u32", "%mine", "%t", itoa(exchangeSize), "%bx"),
		inst("add.u32", "%from", "%t", itoa(g.IntN(g.threads))),
		inst("rem.u32", "%from", "%from", threadsWord),
		inst("mad.lo.u32", "%from", "%from", itoa(exchangeSize), "%bx"),
	}, ".reg .b32 %mine, %from;"
}

// exchange gives registers to another thread of the block.
func (g *gen) exchange(scope) *Node {
	insts, regs := g.neighbour()
	insts = append(insts, g.sync(), act("st.shared.v4.b32", "[%mine]", g.vector('r', 4, false)), g.sync())
	if g.one(2) {
		insts = append(insts, inst("ld.shared.v4.b32", g.vector('r', 4, true), "[%from]"))
	} else {
		insts = append(insts, inst("ld.shared.v2.b64", g.vector('d', 2, true), "[%from]"))
	}
	return node(insts...).with(regs)
}

// barrier reduces a predicate over the block, or has half of the warps only arrive.
func (g *gen) barrier(scope) *Node {
	if g.threads >= 64 && g.one(3) {
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
	if g.one(2) {
		args = append(args, threadsWord)
	}
	return node(inst(m.Opcode().Text, append(args, g.pred())...))
}

// sem is how an mbarrier's operation orders memory, in words or by default.
func (g *gen) sem(order string) string {
	if g.has(80, 80) && g.one(3) {
		return "." + order + ".cta"
	}
	return ""
}

// window is how the block's own shared memory is named.
func (g *gen) window() string {
	if g.has(80, 78) && g.one(2) {
		return ".shared::cta"
	}
	return ".shared"
}

// wait polls an mbarrier: by the phase's state in %state, or by parity 0 of a barrier
// in its first phase.
func (g *gen) wait(bar string) []Inst {
	op, what := "mbarrier.test_wait", "%state"
	if g.has(90, 78) && g.one(2) {
		op = "mbarrier.try_wait"
	}
	if g.has(80, 71) && g.one(2) {
		op, what = op+".parity", "0"
	}
	return []Inst{
		raw("poll:"), inst(op+g.sem("acquire")+g.window()+".b64", "%over", bar, what),
		{Guard: "@!%over", Op: "bra", Args: []string{"poll"}},
	}
}

// leader is an instruction of the block's first thread, which is where %lead holds.
func leader(i Inst) Inst {
	i.Guard = "@%lead"
	return i
}

// blockBarrier has threads exchange registers by way of an mbarrier.
func (g *gen) blockBarrier(scope) *Node {
	insts, regs := g.neighbour()
	arrive := inst("mbarrier.arrive"+g.sem("release")+g.window()+".b64", "%state", "[%bb]")
	if g.one(3) {
		arrive.Op = "mbarrier.arrive_drop" + g.sem("release") + g.window() + ".b64"
	}
	if g.has(90, 80) && g.one(3) {
		arrive = inst("mbarrier.arrive"+g.sem("release")+g.window()+".b64", "%state", "[%bb]", "1")
	}
	insts = append(insts,
		inst("setp.eq.u32", "%lead", "%t", "0"),
		act("bar.sync", "0"),
		leader(act("mbarrier.init"+g.window()+".b64", "[%bb]", threadsWord)),
		act("st.shared.v2.b32", "[%mine]", g.vector('r', 2, false)),
		act("bar.sync", "0"), arrive)
	insts = append(insts, g.wait("[%bb]")...)
	insts = append(insts,
		inst("ld.shared.v2.b32", g.vector('r', 2, true), "[%from]"),
		act("bar.sync", "0"), leader(act("mbarrier.inval"+g.window()+".b64", "[%bb]")), act("bar.sync", "0"))
	return node(insts...).with(regs, ".reg .pred %lead, %over;", ".reg .b64 %state;")
}
