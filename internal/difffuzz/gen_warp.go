package difffuzz

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// member returns the mask of the lanes that execute the node, as a constant or in a
// register.
func (g *gen) member(n *Node, s scope) string {
	mask := fmt.Sprintf("%#08x", s.mask)
	if !g.oneIn(4) {
		return mask
	}
	n.with(".reg .b32 %mask;")
	n.Insts = append(n.Insts, inst("mov.b32", "%mask", mask))
	return "%mask"
}

// shuffle makes a node that reads a register of another lane. If only a part of the warp
// executes it, segments restrict the source to that part, because values of other lanes are
// undefined.
func (g *gen) shuffle(s scope) *Node {
	n := &Node{}
	mode := g.pick("up", "down", "bfly", "idx")
	b, c := g.reg('r'), g.reg('r')
	if g.oneIn(2) {
		b = itoa(g.IntN(40))
	}
	if g.oneIn(2) || !s.warp() {
		segments := 0
		for i, m := range laneMasks {
			if s.mask == m || s.mask == ^m {
				segments = 0x1f << i & 0x1f
				if mode == "bfly" {
					b = itoa(g.IntN(1 << i))
				}
			}
		}
		clamp := 0x1f
		if mode == "up" {
			clamp = 0
		}
		c = fmt.Sprintf("%#x", segments<<8|clamp)
	}
	d := g.out('r')
	if g.oneIn(2) {
		d += "|" + g.out('p')
	}
	mask := g.member(n, s)
	n.Insts = append(n.Insts, inst("shfl.sync."+mode+".b32", d, g.reg('r'), b, c, mask))
	return n
}

// vote makes a vote, match or redux of the lanes that execute the node.
func (g *gen) vote(s scope) *Node {
	n := &Node{}
	mask := g.member(n, s)
	switch g.IntN(8) {
	case 0:
		n.Insts = append(n.Insts, inst("vote.sync."+g.pick("all", "any", "uni")+".pred", g.out('p'), g.pred(), mask))
	case 1:
		n.Insts = append(n.Insts, inst("vote.sync.ballot.b32", g.out('r'), g.pred(), mask))
	case 2:
		n.Insts = append(n.Insts, inst("match.any.sync.b32", g.out('r'), g.reg('r'), mask))
	case 3:
		n.Insts = append(n.Insts, inst("match.any.sync.b64", g.out('r'), g.reg('d'), mask))
	case 4:
		letter, size := byte('r'), "32"
		if g.oneIn(2) {
			letter, size = 'd', "64"
		}
		n.Insts = append(n.Insts, inst("match.all.sync.b"+size, g.out('r')+"|"+g.out('p'), g.reg(letter), mask))
	case 5:
		n.Insts = append(n.Insts, act("bar.warp.sync", mask))
	case 6: // PTX does not say which lane is elected, so only the number of elected lanes is used
		if !g.has(90, 80) {
			return nil
		}
		n.with(".reg .pred %me;", ".reg .b32 %who;")
		n.Insts = append(n.Insts, inst("elect.sync", "%who|%me", mask), inst("vote.sync.ballot.b32", "%who", "%me", mask),
			inst("popc.b32", g.out('r'), "%who"))
	default:
		n.Insts = append(n.Insts, inst("redux.sync."+g.pick("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"),
			g.out('r'), g.reg('r'), mask))
	}
	return n
}

// moveMatrix makes a node that moves 8×8 matrices between registers and the warp's shared
// memory.
func (g *gen) moveMatrix(scope) *Node {
	op := g.pick("ldmatrix", "stmatrix", "movmatrix")
	m, ok := g.variant(isa.Forms(op)[0], nil)
	if !ok {
		return nil
	}
	name := m.Opcode().Text
	if op == "movmatrix" {
		return node(inst(name, g.out('r'), g.reg('r')))
	}
	count := modifierCount(m.Mod("num"))
	n := node(
		inst("mad.lo.u32", "%line", "%lane", "16", "%wx"),
		act("bar.warp.sync", "0xffffffff"),
		act("st.shared.v4.b32", "[%line]", g.vector('r', 4, false)),
		act("bar.warp.sync", "0xffffffff"),
		inst("xor.b32", "%row", "%lane", itoa(g.IntN(32))),
		inst("mad.lo.u32", "%row", "%row", "16", "%wx"))
	n.with(".reg .b32 %line, %row;")
	where := "[%row]"
	if m.Mod("ss") == "" {
		n.with(".reg .b64 %ga;")
		n.Insts = append(n.Insts, inst("cvt.u64.u32", "%ga", "%row"), inst("cvta.shared.u64", "%ga", "%ga"))
		where = "[%ga]"
	}
	if op == "ldmatrix" {
		n.Insts = append(n.Insts, inst(name, g.vector('r', count, true), where))
	} else {
		n.Insts = append(n.Insts, act(name, where, g.vector('r', count, false)), act("bar.warp.sync", "0xffffffff"),
			inst("ld.shared.v4.b32", g.vector('r', 4, true), "[%line]"))
	}
	n.Insts = append(n.Insts, act("bar.warp.sync", "0xffffffff"))
	return n
}

// modifierCount returns the number in a modifier such as x4.
func modifierCount(mod string) int { return int(mod[len(mod)-1] - '0') }

// mma makes a node that multiplies fragments. The registers may hold any bits.
func (g *gen) mma(scope) *Node {
	forms := denseForms("mma")
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, nil)
	if !ok || g.plainMul && (m.Has("e4m3") || m.Has("e5m2")) {
		return nil // fp8 products are added with an add, into which ptxas may fuse another product
	}
	in := inst(m.Opcode().Text)
	for i := range f.Params {
		arg := g.operand(m, &f.Params[i], new(bool))
		for i == len(f.Params)-1 && !separateAccumulator(m, in.Args[0], arg) {
			arg = g.operand(m, &f.Params[i], new(bool))
		}
		in.Args = append(in.Args, arg)
	}
	return node(in)
}

// wmma makes a node that loads fragments, multiplies them and stores the result. Only the
// stored matrix is compared, because PTX does not define the layout of fragments.
func (g *gen) wmma(scope) *Node {
	var forms []*isa.Form
	for _, f := range isa.Forms("wmma") {
		if f.Slots[0].Name == "mma" {
			forms = append(forms, f)
		}
	}
	f := forms[g.IntN(len(forms))]
	m, ok := g.variant(f, nil)
	if !ok {
		return nil
	}
	w := describeWmma(m)
	ss := g.pick(".shared", ".shared", ".shared::cta")
	if !g.has(70, 78) {
		ss = ".shared"
	}
	n := node(
		inst("mad.lo.u32", "%line", "%lane", "32", "%wx"),
		act("bar.warp.sync", "0xffffffff"),
		act("st.shared.v4.b32", "[%line]", g.vector('r', 4, false)),
		act("st.shared.v4.b32", "[%line+16]", g.vector('r', 4, false)),
		act("bar.warp.sync", "0xffffffff"))
	n.with(".reg .b32 %line;")
	args := []string{}
	for i, matrix := range []string{"d", "a", "b", "c"} {
		p := &f.Params[i]
		count := m.Count(p)
		n.with(fmt.Sprintf(".reg .b%d %%f%s<%d>;", m.Type(p).Bits(), matrix, count))
		frag := temps("%f"+matrix, count)
		args = append(args, frag)
		if i > 0 {
			layout := map[string]string{"a": w.alayout, "b": w.blayout, "c": g.pick("row", "col")}[matrix]
			n.Insts = append(n.Insts, inst("wmma.load."+matrix+".sync.aligned."+layout+"."+w.shape+ss+"."+w.types[i], frag, "[%wx]"))
		}
	}
	n.Insts = append(n.Insts, inst(m.Opcode().Text, args...), act("bar.warp.sync", "0xffffffff"),
		act("wmma.store.d.sync.aligned."+g.pick("row", "col")+"."+w.shape+ss+"."+w.types[0], "[%wx]", args[0]),
		act("bar.warp.sync", "0xffffffff"),
		inst("ld.shared.v4.b32", g.vector('r', 4, true), "[%line]"), inst("ld.shared.v4.b32", g.vector('r', 4, true), "[%line+16]"),
		act("bar.warp.sync", "0xffffffff"))
	return n
}

// product holds the modifiers of a wmma.mma.
type product struct {
	alayout, blayout, shape string
	types                   [4]string // the types of d, a, b and c
}

func describeWmma(m isa.Match) (w product) {
	mods := m.Opcode().Mods
	at := slices.Index(mods, "aligned")
	w.alayout, w.blayout, w.shape = mods[at+1], mods[at+2], mods[at+3]
	var types []string
	for _, t := range mods[at+4:] {
		if !slices.Contains([]string{"satfinite", "rn", "rz", "rm", "rp"}, t) {
			types = append(types, t)
		}
	}
	if len(types) == 2 {
		types = []string{types[0], "f16", "f16", types[1]}
	}
	copy(w.types[:], types)
	return w
}

// temps returns n registers with a common prefix in braces.
func temps(prefix string, n int) string {
	s := "{"
	for i := range n {
		if i > 0 {
			s += ", "
		}
		s += prefix + itoa(i)
	}
	return s + "}"
}
