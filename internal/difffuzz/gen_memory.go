package difffuzz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// ownMemory is a memory of which each thread has its own part.
type ownMemory struct {
	base string // register or variable with the address of the thread's part
	size int
}

// ownMemories holds the addresses that a thread may use, by state space.
var ownMemories = map[string]ownMemory{
	"global": {"%mem", memSize}, "shared": {"%own", ownSize}, "shared::cta": {"%own", ownSize}, "shared::cluster": {"%own", ownSize},
	"local": {"%loc", ownSize}, "const": {"CST", paramSize}, "param": {"PAR", paramSize}, "param::entry": {"PAR", paramSize},
}

// readOnly is global memory that no thread writes.
var readOnly = ownMemory{"%ro", constantSize}

// addressIn returns an address in the memory for an access of the given number of bytes.
func (g *gen) addressIn(h ownMemory, bytes int) string {
	return fmt.Sprintf("[%s+%d]", h.base, bytes*g.IntN(h.size/bytes))
}

// toGeneric adds instructions that put the generic address of a thread's memory into %ga.
func (g *gen) toGeneric(n *Node, space string) ownMemory {
	n.with(".reg .b64 %ga;")
	h := ownMemories[space]
	if strings.HasPrefix(space, "shared") {
		n.Insts = append(n.Insts, inst("cvt.u64.u32", "%ga", h.base), inst("cvta."+space+".u64", "%ga", "%ga"))
	} else {
		n.Insts = append(n.Insts, inst("cvta."+space+".u64", "%ga", h.base))
	}
	return ownMemory{"%ga", h.size}
}

// access returns the address of an instruction's memory operand in a state space. If space
// is "", the address is generic and lies in one of spaces. Cache hints need global memory,
// and a memory order needs memory that threads can share.
func (g *gen) access(n *Node, m isa.Match, space string, bytes int, spaces ...string) string {
	if space != "" {
		return g.addressIn(ownMemories[space], bytes)
	}
	for _, mod := range m.Opcode().Mods {
		switch {
		case strings.HasPrefix(mod, "L1::") || strings.HasPrefix(mod, "L2::") || mod == "mmio":
			spaces = []string{"global"}
		case slices.Contains([]string{"volatile", "relaxed", "acquire", "release", "acq_rel"}, mod):
			spaces = spaces[:min(2, len(spaces))] // global and shared come first
		}
	}
	return g.addressIn(g.toGeneric(n, g.pick(spaces...)), bytes)
}

// accessBytes returns the size of an access: the size of its type times its vector length.
func accessBytes(m isa.Match, p *isa.Param) int { return m.Type(p).Bytes() * max(m.Count(p), 1) }

// without returns a filter for variant that excludes modifiers from the slot of that name.
func without(slot string, mods ...string) func(*isa.Slot) []string {
	return func(s *isa.Slot) []string {
		if s.Name != slot {
			return nil
		}
		var left []string
		if s.Opt {
			left = append(left, "")
		}
	next:
		for _, a := range s.Alts {
			for _, m := range mods {
				if a == m {
					continue next
				}
			}
			left = append(left, a)
		}
		return left
	}
}

// load makes a node that reads the thread's own memory, or memory that no thread writes.
func (g *gen) load(scope) *Node {
	forms := append(append([]*isa.Form{}, isa.Forms("ld")...), isa.Forms("ldu")...)
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, without("ss", "param::func"))
	if !ok || excludedBy(m) != "" {
		return nil
	}
	n := &Node{}
	var d, a = &f.Params[0], &f.Params[1]
	bytes := accessBytes(m, d)
	var addr string
	switch space := m.Space(a); {
	case f.Op == "ldu" || m.Has("nc"): // ldu also needs the same address in all lanes of a warp
		addr = g.addressIn(readOnly, bytes)
	default:
		addr = g.access(n, m, space, bytes, "global", "shared", "local", "const")
	}
	return g.addAccess(n, m, f.Op, g.operand(m, d, new(bool)), addr)
}

// addAccess adds a load or store to a node, sometimes with a guard.
func (g *gen) addAccess(n *Node, m isa.Match, op string, args ...string) *Node {
	in := Inst{Op: m.Opcode().Text, Args: args}
	if op != "st" && op != "red" {
		in.Out = 1
	}
	if m.Has("L2::cache_hint") {
		in.Args = append(in.Args, "%pol")
	}
	if g.oneIn(6) {
		in.Guard = "@" + g.pred()
	}
	n.Insts = append(n.Insts, in)
	return n
}

// store makes a node that writes the thread's own memory.
func (g *gen) store(scope) *Node {
	forms := isa.Forms("st")
	f := forms[g.IntN(len(forms))]
	if hasSlot(f, "async") {
		return nil
	}
	m, ok := g.variant(f, without("ss", "param", "param::func"))
	if !ok {
		return nil
	}
	n := &Node{}
	addr := g.access(n, m, m.Space(&f.Params[0]), accessBytes(m, &f.Params[1]), "global", "shared", "local")
	return g.addAccess(n, m, f.Op, addr, g.operand(m, &f.Params[1], new(bool)))
}

// atomic makes a node with an atomic on the thread's own memory, so that the order of
// threads does not matter.
func (g *gen) atomic(scope) *Node {
	op := g.pick("atom", "atom", "red")
	forms := isa.Forms(op)
	f := forms[g.IntN(len(forms))]
	if hasSlot(f, "async") {
		return nil
	}
	m, ok := g.variant(f, nil)
	if !ok || excludedBy(m) != "" {
		return nil
	}
	n := &Node{}
	var addr *isa.Param
	for i := range f.Params {
		if f.Params[i].Kind == isa.Addr {
			addr = &f.Params[i]
		}
	}
	last := &f.Params[len(f.Params)-1]
	if last.If != "" {
		last = &f.Params[len(f.Params)-2]
	}
	space := m.Space(addr)
	spaces := []string{"global", "shared"}
	if hasSlot(f, "vec") {
		spaces = spaces[:1] // vectors need global memory
	}
	if g.depth > 0 && space != "global" && len(spaces) > 1 && spins(m, m.Type(last)) {
		return nil // D26
	}
	where := g.access(n, m, space, accessBytes(m, last), spaces...)
	if m.Has("f64") {
		return g.atomicF64(n, m, op, where)
	}
	var args []string
	for i := range f.Params {
		switch p := &f.Params[i]; {
		case p == addr:
			args = append(args, where)
		case p.If == "":
			args = append(args, g.operand(m, p, new(bool)))
		}
	}
	return g.addAccess(n, m, op, args...)
}

// spins reports whether ptxas compiles an atomic in shared memory to a compare-and-swap
// loop, which lanes leave one after the other.
func spins(m isa.Match, t ptx.Type) bool {
	if m.Has("exch") || m.Has("cas") {
		return t.Bits() != 32 && t.Bits() != 64
	}
	return t.Bits() != 32 || t.Class() == ptx.ClassFloat || t.Class() == ptx.ClassPacked
}

// atomicF64 adds an f64 addition whose operands are not NaN (D16).
func (g *gen) atomicF64(n *Node, m isa.Match, op, where string) *Node {
	n.with(".reg .f64 %was, %more;")
	store := "st"
	if s := m.Mod("space"); s != "" {
		store += "." + s
	}
	n.Insts = append(n.Insts,
		inst("cvt.rn.f64.s32", "%was", g.reg('r')), inst("cvt.rn.f64.s32", "%more", g.reg('r')),
		act(store+".f64", where, "%was"))
	if op == "atom" {
		return g.addAccess(n, m, op, g.out('d'), where, "%more")
	}
	return g.addAccess(n, m, op, where, "%more")
}

// sharedOps are the atomics on memory that all threads of a block share. Their results do
// not depend on the order of threads. Each operation has its own word.
var sharedOps = []struct{ op, typ string }{
	{"and", "b32"}, {"or", "b32"}, {"xor", "b32"}, {"add", "u32"}, {"add", "s32"}, {"min", "u32"}, {"max", "u32"},
	{"min", "s32"}, {"max", "s32"}, {"inc", "u32"}, {"dec", "u32"}, {"and", "b64"}, {"or", "b64"}, {"xor", "b64"}, {"add", "u64"},
	{"min", "u64"}, {"max", "u64"}, {"min", "s64"}, {"max", "s64"},
}

// reduction makes a node with an atomic of all threads on one word.
func (g *gen) reduction(scope) *Node {
	i := g.IntN(len(sharedOps))
	c := sharedOps[i]
	letter := byte('r')
	if strings.HasSuffix(c.typ, "64") {
		letter = 'd'
	}
	b := g.reg(letter)
	if c.op == "inc" || c.op == "dec" {
		b = "1000" // the same limit for all threads, or their order would matter
	}
	base, space := "%gcom", ".global"
	spins := letter == 'd' && g.depth > 0 // D26
	if g.oneIn(2) && !spins {
		base, space = "%com", ".shared"
	}
	where := fmt.Sprintf("[%s+%d]", base, 8*i)
	tail := space + "." + c.op + "." + c.typ
	if g.oneIn(2) {
		return node(act("red"+g.pick("", ".relaxed.gpu", ".release.cta")+tail, where, b))
	}
	return node(inst("atom"+g.pick("", ".relaxed.cta", ".acquire.gpu", ".acq_rel.sys")+tail, "%old", where, b)).
		with(".reg .b" + c.typ[1:] + " %old;")
}

// generic makes a node that accesses memory at a generic address, or tests to which state
// space one belongs.
func (g *gen) generic(scope) *Node {
	n := &Node{}
	if g.oneIn(2) {
		g.toGeneric(n, g.pick("global", "shared", "local"))
		asked := []string{"global", "shared", "local", "const"}
		if g.has(70, 77) {
			asked = append(asked, "param")
		}
		if g.has(90, 78) {
			asked = append(asked, "shared::cta", "shared::cluster")
		}
		n.Insts = append(n.Insts, inst("isspacep."+g.pick(asked...), g.out('p'), "%ga"))
		return n
	}
	spaces := []string{"global", "shared", "local", "const"}
	if g.has(70, 77) {
		spaces = append(spaces, "shared::cta")
	}
	if g.has(90, 78) {
		spaces = append(spaces, "shared::cluster")
	}
	space := g.pick(spaces...)
	h := g.toGeneric(n, space)
	n.with(".reg .b64 %sa;")
	n.Insts = append(n.Insts, inst("cvta.to."+space+".u64", "%sa", h.base))
	h.base = "%sa"
	n.Insts = append(n.Insts, inst("ld."+space+".b32", g.out('r'), g.addressIn(h, 4)))
	return n
}

// pack makes a node that packs registers into a wider one, or unpacks one.
func (g *gen) pack(scope) *Node {
	type shape struct {
		op   string
		wide byte
		part byte
		n    int
	}
	shapes := []shape{{"mov.b32", 'r', 'h', 2}, {"mov.b64", 'd', 'r', 2}, {"mov.b64", 'd', 'h', 4}}
	if g.has(70, 83) {
		shapes = append(shapes, shape{"mov.b128", 'q', 'd', 2})
	}
	s := shapes[g.IntN(len(shapes))]
	if g.oneIn(2) {
		return node(inst(s.op, g.out(s.wide), g.vector(s.part, s.n, false)))
	}
	return node(inst(s.op, g.vector(s.part, s.n, true), g.reg(s.wide)))
}

// special makes a move of a register, a constant or a special register.
func (g *gen) special(scope) *Node {
	if g.oneIn(2) {
		names := []string{"%laneid", "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y",
			"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"}
		if g.has(90, 78) {
			names = append(names, "%cluster_ctarank", "%cluster_nctarank", "%cluster_ctaid.x", "%cluster_nctaid.x")
		}
		return node(inst("mov.u32", g.out('r'), g.pick(names...)))
	}
	forms := isa.Forms("mov")
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, nil)
	if !ok || m.Has("b128") {
		return nil
	}
	imm := m.Type(&f.Params[1]) != ptx.B128 && g.oneIn(3)
	return node(inst(m.Opcode().Text, g.operand(m, &f.Params[0], new(bool)), g.operand(m, &f.Params[1], &imm)))
}

// cache makes a node with cache control instructions. They do not change values.
func (g *gen) cache(scope) *Node {
	switch g.IntN(6) {
	case 0:
		return node(act("prefetch.global."+g.pick("L1", "L2"), g.addressIn(ownMemories["global"], 16)))
	case 1:
		if g.has(80, 74) {
			return node(act("prefetch.global."+g.pick("L2::evict_last", "L2::evict_normal"), g.addressIn(ownMemories["global"], 16)))
		}
	case 2:
		n := &Node{}
		h := g.toGeneric(n, g.pick("global", "local"))
		n.Insts = append(n.Insts, act(g.pick("prefetch.L1", "prefetch.L2", "prefetchu.L1"), g.addressIn(h, 16)))
		return n
	case 3:
		return node(act("applypriority"+g.pick("", ".global")+".L2::evict_normal", "[%mem]", "128"))
	case 4:
		return node(inst("createpolicy.fractional."+g.pick("L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged")+
			g.pick("", ".L2::evict_first", ".L2::evict_unchanged")+".b64", "%policy")).with(".reg .b64 %policy;")
	}
	return node(inst("createpolicy.range"+g.pick("", ".global")+"."+g.pick("L2::evict_last", "L2::evict_normal", "L2::evict_first")+
		g.pick("", ".L2::evict_unchanged")+".b64", "%policy", "[%mem]", "128", "256")).with(".reg .b64 %policy;")
}

// fence makes a fence, or another instruction that does not change values.
func (g *gen) fence(scope) *Node {
	forms := append(append([]*isa.Form{}, isa.Forms("membar")...), isa.Forms("fence")...)
	forms = append(forms, isa.Forms("griddepcontrol")...)
	f := forms[g.IntN(len(forms))]
	if g.oneIn(6) {
		return node(act("nanosleep.u32", itoa(g.IntN(100))))
	}
	if g.oneIn(8) {
		return node(act("pmevent", itoa(g.IntN(16))))
	}
	m, ok := g.variant(f, nil)
	if !ok || len(f.Params) > 0 {
		return nil
	}
	return node(act(m.Opcode().Text))
}
