package difffuzz

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// maxMatrixBytes limits the shared memory for the matrices of wgmma: b, followed by a.
const maxMatrixBytes = 32 << 10

// matrixKind is a layout of a factor in shared memory: its descriptor without the start
// address, and the size in bytes of n lines of 32 bytes.
type matrixKind struct {
	swizzle, leading, stride int
	bytes                    int
}

func (k matrixKind) descriptor() uint64 {
	return uint64(k.leading>>4)<<16 | uint64(k.stride>>4)<<32 | uint64(k.swizzle)<<62
}

// matrixKinds returns layouts for n lines. If transposed is set, the other dimension is
// contiguous.
func matrixKinds(n int, transposed bool) []matrixKind {
	if transposed { // 16 steps of n elements of 2 bytes
		kinds := []matrixKind{{0, n * 16, 128, n * 32}}
		for i, span := range []int{128, 64, 32} {
			atoms := (2*n + span - 1) / span // along the lines; an atom has eight steps
			kinds = append(kinds, matrixKind{i + 1, 8 * span, atoms * 8 * span, 2 * atoms * 8 * span})
		}
		return kinds
	}
	kinds := []matrixKind{{0, 128, 256, n * 32}, {0, n * 16, 128, n * 32}}
	for i, span := range []int{128, 64, 32} {
		kinds = append(kinds, matrixKind{i + 1, 16, 8 * span, n * span})
	}
	return kinds
}

// wgmma makes a node in which a warpgroup multiplies matrices. The registers may hold any
// bits.
func (g *gen) wgmma(scope) *Node {
	forms := denseForms("wgmma")
	f := forms[g.IntN(len(forms))]
	if f.Slots[0].Name != "mma_async" {
		return nil
	}
	m, ok := g.variant(f, g.smallShapes())
	if !ok {
		return nil
	}
	lines := shapeN(m.Mod("shape"))
	n := &Node{}
	transA, transB := g.transposes(f)
	a, b := g.layoutFor(64, transA), g.layoutFor(lines, transB)
	if a.bytes+b.bytes > maxMatrixBytes {
		return nil
	}
	bBytes := (b.bytes + 1023) &^ 1023 // swizzle patterns start at multiples of 1024 bytes
	n.Matrix = bBytes + (a.bytes+1023)&^1023
	n.with(".reg .b64 %ad, %bd, %start;", ".reg .b32 %to, %mine;", ".reg .pred %scale;")
	g.fillMatrices(n)
	n.Insts = append(n.Insts, inst("mad.lo.u32", "%mine", "%t", "16", "%mat"))
	n.Insts = append(n.Insts,
		inst("shr.u32", "%to", "%mat", "4"), inst("cvt.u64.u32", "%start", "%to"),
		inst("or.b64", "%bd", "%start", fmt.Sprintf("%#x", b.descriptor())),
		inst("add.u64", "%start", "%start", itoa(bBytes>>4)),
		inst("or.b64", "%ad", "%start", fmt.Sprintf("%#x", a.descriptor())))
	d := &f.Params[0]
	count := m.Count(d)
	n.with(fmt.Sprintf(".reg .b32 %%acc<%d>;", count))
	for i := range count {
		n.Insts = append(n.Insts, g.opaqueLoad(fmt.Sprintf("%%acc%d", i)))
	}
	products := []Inst{act("wgmma.fence.sync.aligned")}
	for i := range 1 + g.IntN(2) {
		b := "%bd"
		if i > 0 {
			b = n.opaqueCopy(b)
		}
		products = append(products, g.product(n, m, f, count, b, transA, transB))
	}
	n.Insts = append(n.Insts, inst("setp.ne.u32", "%scale", itoa(g.IntN(3)), "0"))
	n.Insts = append(n.Insts, products...)
	n.Insts = append(n.Insts, act("wgmma.commit_group.sync.aligned"), act("wgmma.wait_group.sync.aligned", "0"))
	g.collect(n, count)
	return n
}

// smallShapes returns a filter for variant that prefers small shapes.
func (g *gen) smallShapes() func(*isa.Slot) []string {
	return func(s *isa.Slot) []string {
		if s.Name == "shape" && !g.oneIn(4) {
			return s.Alts[:4]
		}
		return nil
	}
}

// shapeN returns N of a shape such as m64n128k16.
func shapeN(shape string) (n int) {
	_, rest, _ := strings.Cut(shape, "n")
	fmt.Sscanf(rest, "%d", &n)
	return n
}

// transposes chooses which factors are transposed, if the form allows it.
func (g *gen) transposes(f *isa.Form) (a, b bool) {
	for i := range f.Params {
		switch f.Params[i].Name {
		case "immTransA":
			a = g.oneIn(2)
		case "immTransB":
			b = g.oneIn(2)
		}
	}
	return a, b
}

func (g *gen) layoutFor(lines int, transposed bool) matrixKind {
	kinds := matrixKinds(lines, transposed)
	return kinds[g.IntN(len(kinds))]
}

// fillMatrices adds instructions with which the threads fill the matrices from their
// registers, 16 bytes at a time.
func (g *gen) fillMatrices(n *Node) {
	n.Insts = append(n.Insts, act("bar.sync", "0"), inst("mad.lo.u32", "%to", "%t", "16", "%mat"))
	for at := 0; at < n.Matrix; at += 2048 {
		if at+2048 <= n.Matrix {
			n.Insts = append(n.Insts, act("st.shared.v4.b32", fmt.Sprintf("[%%to+%d]", at), g.vector('r', 4, false)))
			continue
		}
		n.Insts = append(n.Insts, inst("setp.lt.u32", "%scale", "%t", "64"),
			Inst{Guard: "@%scale", Op: "st.shared.v4.b32", Args: []string{fmt.Sprintf("[%%to+%d]", at), g.vector('r', 4, false)}})
	}
	n.Insts = append(n.Insts, act("fence.proxy.async"), act("bar.sync", "0"))
}

// opaqueLoad loads a register for a product from the part of the matrices that the thread
// has written. ptxas must not know its value: it compiles products incorrectly if two
// registers have the same value, or a value that is used elsewhere (D28).
func (g *gen) opaqueLoad(to string) Inst {
	return inst("ld.volatile.shared.b32", to, fmt.Sprintf("[%%mine+%d]", 4*g.IntN(4)))
}

// fragment adds instructions that load the registers of a factor, and returns the
// registers.
func (g *gen) fragment(n *Node, count int) string {
	prefix := fmt.Sprintf("%%a%d_", len(n.Regs))
	n.with(fmt.Sprintf(".reg .b32 %s<%d>;", prefix, count))
	for i := range count {
		n.Insts = append(n.Insts, g.opaqueLoad(prefix+itoa(i)))
	}
	return temps(prefix, count)
}

// opaqueCopy copies a descriptor to another register, for the second product of a node.
// ptxas must not know that both are equal: it may remove one of two products with the same
// operands (D38).
func (n *Node) opaqueCopy(desc string) string {
	other := desc + "2"
	n.with(fmt.Sprintf(".reg .b64 %s;", other))
	n.Insts = append(n.Insts, inst("xor.b64", other, desc, "%nild"))
	return other
}

// product returns one wgmma.mma_async with the descriptor of b in bDesc.
func (g *gen) product(n *Node, m isa.Match, f *isa.Form, count int, bDesc string, transA, transB bool) Inst {
	in := Inst{Op: m.Opcode().Text, Out: 1}
	bit := map[bool]string{false: "0", true: "1"}
	for i := range f.Params {
		switch p := &f.Params[i]; p.Name {
		case "d":
			in.Args = append(in.Args, temps("%acc", count))
		case "aDesc":
			in.Args = append(in.Args, "%ad")
		case "bDesc":
			in.Args = append(in.Args, bDesc)
		case "scaleD":
			in.Args = append(in.Args, "%scale")
		case "immTransA":
			in.Args = append(in.Args, bit[transA])
		case "immTransB":
			in.Args = append(in.Args, bit[transB])
		default:
			arg := g.operand(m, p, new(bool))
			if regs := pool.FindAllString(arg, -1); regs != nil {
				arg = g.fragment(n, len(regs))
			}
			in.Args = append(in.Args, arg)
		}
	}
	return in
}

// collect moves the accumulators into registers of the pool. The first accumulators get
// their own registers. The others are combined with them by rotation and exclusive or.
func (g *gen) collect(n *Node, count int) {
	const own = 8
	regs := make([]string, min(own, count))
	for i := range count {
		acc := fmt.Sprintf("%%acc%d", i)
		if i < own {
			regs[i] = g.out('r')
			n.Insts = append(n.Insts, inst("mov.b32", regs[i], acc))
			continue
		}
		to := regs[i%own]
		n.Insts = append(n.Insts, inst("shf.l.wrap.b32", to, to, to, "1"), inst("xor.b32", to, to, acc))
	}
}
