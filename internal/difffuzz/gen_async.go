package difffuzz

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// asyncCopy makes a node that copies to the thread's own shared memory with cp.async, waits
// and reads it.
func (g *gen) asyncCopy(scope) *Node {
	var forms []*isa.Form
	for _, f := range isa.Forms("cp") {
		if hasSlot(f, "global") && (hasSlot(f, "ca") || hasSlot(f, "cg")) {
			forms = append(forms, f)
		}
	}
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, nil)
	if !ok {
		return nil
	}
	size := 16
	if m.Has("ca") {
		size = 4 << g.IntN(3)
	}
	src := ownMemories["global"]
	if g.oneIn(2) {
		src = readOnly
	}
	to := size * g.IntN(ownSize/size)
	in := act(m.Opcode().Text, fmt.Sprintf("[%%own+%d]", to), g.addressIn(src, size), itoa(size))
	switch last := f.Params[3]; {
	case last.Name == "ignoreSrc":
		in.Args = append(in.Args, g.reg('p'))
	case g.oneIn(2) || m.Has("L2::cache_hint"):
		in.Args = append(in.Args, itoa(g.IntN(size+1)))
	}
	if m.Has("L2::cache_hint") {
		in.Args = append(in.Args, "%pol")
	}
	n := node(in)
	switch g.IntN(3) {
	case 0:
		n.Insts = append(n.Insts, act("cp.async.commit_group"), act("cp.async.wait_group", "0"))
	case 1:
		n.Insts = append(n.Insts, act("cp.async.wait_all"))
	case 2:
		noinc := g.pick("", ".noinc")
		count := "2" // with .noinc, the phase must await the arrival of the copy as well
		if noinc == "" {
			count = "1"
		}
		n.Insts = append([]Inst{act("mbarrier.init.shared.b64", "[%mb]", count)}, n.Insts...)
		n.Insts = append(n.Insts, act("cp.async.mbarrier.arrive"+noinc+g.sharedSpace()+".b64", "[%mb]"),
			inst("mbarrier.arrive.shared.b64", "%state", "[%mb]"))
		n.Insts = append(n.Insts, g.wait("[%mb]")...)
		n.Insts = append(n.Insts, act("mbarrier.inval.shared.b64", "[%mb]"))
		n.with(".reg .pred %over;", ".reg .b64 %state;")
	}
	n.Insts = append(n.Insts, inst("ld.shared.b32", g.out('r'), fmt.Sprintf("[%%own+%d]", to)))
	return n
}

// mbarrierPhase models the counts of a thread's own mbarrier.
type mbarrierPhase struct{ pending, expected, bytes int }

// step starts the next phase if no arrivals and no bytes are left to wait for.
func (p *mbarrierPhase) step() {
	if p.pending == 0 && p.bytes == 0 {
		p.pending = p.expected
	}
}

// ownBarrier makes a node in which each thread runs its own mbarrier through some phases.
func (g *gen) ownBarrier(scope) *Node {
	p := mbarrierPhase{pending: 1 + g.IntN(4)}
	p.expected = p.pending
	n := node(act("mbarrier.init"+g.sharedSpace()+".b64", "[%mb]", itoa(p.pending)))
	n.with(".reg .b64 %state;")
	tx := g.has(90, 80)
	for range 2 + g.IntN(4) {
		size := 4 * (1 + g.IntN(4))
		switch op := g.IntN(7); {
		case op == 0 && p.pending > 1:
			count := 1 + g.IntN(p.pending-1)
			p.pending -= count
			n.arrive("arrive.noComplete"+g.ordering("release")+g.sharedSpace(), count)
		case op == 1 && tx && p.pending > 0:
			count := 1 + g.IntN(p.pending)
			p.pending -= count
			n.arrive("arrive"+g.ordering("release")+g.sharedSpace(), count)
		case op == 2 && p.pending > 0 && p.expected > 1:
			p.pending, p.expected = p.pending-1, p.expected-1
			n.arrive("arrive_drop"+g.ordering("release")+g.sharedSpace(), 0)
		case op == 3 && tx && p.pending > 0:
			p.pending, p.bytes = p.pending-1, p.bytes+size
			n.arrive("arrive.expect_tx"+g.ordering("release")+g.sharedSpace(), size)
		case op == 4 && tx && p.pending > 0:
			p.bytes += size
			n.Insts = append(n.Insts, act("mbarrier.expect_tx"+g.pick("", ".relaxed.cta")+".shared::cta.b64", "[%mb]", itoa(size)))
			continue
		case p.bytes > 0 && op > 2:
			n.Insts = append(n.Insts, act("mbarrier.complete_tx"+g.pick("", ".relaxed.cta")+".shared::cta.b64", "[%mb]", itoa(p.bytes)))
			p.bytes = 0
			p.step()
			continue
		case p.pending > 0:
			p.pending--
			n.arrive("arrive"+g.ordering("release")+g.sharedSpace(), 0)
		default:
			continue
		}
		p.step()
		if g.oneIn(2) {
			n.Insts = append(n.Insts, inst("mbarrier.pending_count.b64", g.out('r'), "%state"))
		}
		if g.oneIn(2) {
			n.Insts = append(n.Insts, inst("mbarrier.test_wait"+g.ordering("acquire")+g.sharedSpace()+".b64", g.out('p'), "[%mb]", "%state"))
		}
	}
	if p.bytes > 0 {
		n.Insts = append(n.Insts, act("mbarrier.complete_tx.shared::cta.b64", "[%mb]", itoa(p.bytes)))
	}
	n.Insts = append(n.Insts, act("mbarrier.inval"+g.sharedSpace()+".b64", "[%mb]"))
	return n
}

// arrive adds an operation on the thread's own mbarrier. A count of 0 omits the operand, so
// that the default applies.
func (n *Node) arrive(op string, count int) {
	in := inst("mbarrier."+op+".b64", "%state", "[%mb]")
	if count > 0 {
		in.Args = append(in.Args, itoa(count))
	}
	n.Insts = append(n.Insts, in)
}

// bulkForms returns the bulk copies and reductions whose destination is the block's own
// shared memory or global memory.
func bulkForms() (list []*isa.Form) {
	for _, f := range isa.Forms("cp") {
		if f.Family.Name == "bulk" && (hasSlot(f, "mbarrier::complete_tx::bytes") || hasSlot(f, "bulk_group")) && len(f.Params) > 1 {
			list = append(list, f)
		}
	}
	return list
}

// bulk makes a node that copies or reduces bytes with the copy engine.
func (g *gen) bulk(scope) *Node {
	forms := bulkForms()
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, without("multicast::cluster", "multicast::cluster"))
	if !ok || m.Has("f64") {
		return nil // D16
	}
	size := 16 << g.IntN(3)
	n := node(
		inst("setp.eq.u32", "%lead", "%t", "0"), inst("mad.lo.u32", "%mine", "%t", itoa(exchangeSize), "%bx"),
		act("bar.sync", "0"), act("st.shared.v4.b32", "[%mine]", g.vector('r', 4, false)))
	n.with(".reg .b32 %mine;", ".reg .pred %lead, %over;", ".reg .b64 %state;")
	dst, src := "[%bx+256]", "[%bx]"
	global := hasSlot(f, "bulk_group")
	if !global {
		n.Insts = append(n.Insts, leader(act("mbarrier.init.shared.b64", "[%bb]", "1")))
	}
	n.Insts = append(n.Insts, act("fence.proxy.async"), act("bar.sync", "0"))
	if global {
		dst = "[%mem]"
	} else if m.Space(&f.Params[1]) == "global" {
		src = g.addressIn(readOnly, size)
	}
	n.Cluster = m.Has("shared::cluster") && m.Has("shared::cta")
	copyIt := act(m.Opcode().Text, dst, src, itoa(size))
	if !global {
		copyIt.Args = append(copyIt.Args, "[%bb]")
		n.Insts = append(n.Insts, leader(inst("mbarrier.arrive.expect_tx.shared.b64", "%state", "[%bb]", itoa(size))))
	}
	if m.Has("L2::cache_hint") {
		copyIt.Args = append(copyIt.Args, "%pol")
	}
	n.Insts = append(n.Insts, leader(copyIt))
	if global {
		n.Insts = append(n.Insts, leader(act("cp.async.bulk.commit_group")), act("cp.async.bulk.wait_group"+g.pick("", ".read"), "0"),
			act("cp.async.bulk.wait_group", "0"), act("fence.proxy.async"))
		return n
	}
	n.Insts = append(n.Insts, raw("poll:"),
		inst("mbarrier.try_wait.parity"+g.ordering("acquire")+g.sharedSpace()+".b64", "%over", "[%bb]", "0"),
		Inst{Guard: "@!%over", Op: "bra", Args: []string{"poll"}},
		inst("ld.shared.b32", g.out('r'), fmt.Sprintf("[%%bx+%d]", 256+4*g.IntN(size/4))),
		act("bar.sync", "0"), leader(act("mbarrier.inval.shared.b64", "[%bb]")), act("bar.sync", "0"))
	return n
}

// cluster makes a node with instructions for clusters. The cluster has one block.
func (g *gen) cluster(scope) *Node {
	switch g.IntN(4) {
	case 0:
		return node(act("barrier.cluster.arrive"+g.pick("", ".release", ".relaxed")+g.pick("", ".aligned")),
			act("barrier.cluster.wait"+g.pick("", ".acquire")+g.pick("", ".aligned")))
	case 1:
		return node(inst("mapa.shared::cluster.u32", "%there", "%own", "0"),
			inst("getctarank.shared::cluster.u32", g.out('r'), "%there"),
			inst("ld.shared::cluster.b32", g.out('r'), "[%there+8]")).with(".reg .b32 %there;")
	case 2:
		n := &Node{}
		g.toGeneric(n, "shared")
		n.Insts = append(n.Insts, inst("mapa.u64", "%ga", "%ga", "0"), inst("getctarank.u64", g.out('r'), "%ga"),
			inst("ld.b32", g.out('r'), "[%ga+12]"))
		return n
	}
	return g.remote()
}

// remote makes a node that stores to shared memory of the cluster, or reduces there.
func (g *gen) remote() *Node {
	if !g.has(90, 81) {
		return nil
	}
	var forms []*isa.Form
	for _, f := range append(append([]*isa.Form{}, isa.Forms("st")...), isa.Forms("red")...) {
		if hasSlot(f, "async") {
			forms = append(forms, f)
		}
	}
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, func(s *isa.Slot) []string {
		if s.Name == "shared::cluster" { // required, because the addresses are not generic
			return s.Alts
		}
		return nil
	})
	if !ok {
		return nil
	}
	b := &f.Params[1]
	size := accessBytes(m, b)
	at := size * g.IntN(ownSize/size)
	// The threads do not interact: each has its own mbarrier and destination.
	n := node(
		act("mbarrier.init.shared.b64", "[%mb]", "1"), act("fence.mbarrier_init.release.cluster"),
		inst("mapa.shared::cluster.u32", "%there", "%own", "0"), inst("mapa.shared::cluster.u32", "%bar", "%mb", "0"),
		inst("mbarrier.arrive.expect_tx.shared.b64", "%state", "[%mb]", itoa(size)),
		act(m.Opcode().Text, fmt.Sprintf("[%%there+%d]", at), g.operand(m, b, new(bool)), "[%bar]"),
		raw("poll:"), inst("mbarrier.try_wait.parity.shared.b64", "%over", "[%mb]", "0"),
		Inst{Guard: "@!%over", Op: "bra", Args: []string{"poll"}},
		inst("ld.shared.b32", g.out('r'), fmt.Sprintf("[%%own+%d]", at)), act("mbarrier.inval.shared.b64", "[%mb]"))
	n.Cluster = true
	return n.with(".reg .b32 %there, %bar;", ".reg .pred %over;", ".reg .b64 %state;")
}
