package difffuzz

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Options choose the instructions and the size of kernels.
type Options struct {
	// Target and Version are the .target and .version of the module. The generator uses only
	// instructions that they allow.
	Target  ptx.Target
	Version ptx.Version
	// Size is the approximate number of nodes of a kernel. 0 means 24.
	Size int
}

// gen makes one kernel.
type gen struct {
	*rand.Rand
	Options
	threads int
	next    map[byte]int // the register that is written next, by class
	funcs   int
	// ptxas may fuse a product and a sum without rounding modifiers. A kernel therefore has
	// only products or only sums without them.
	plainMul, plainAdd bool
	depth              int
}

// scope says which threads execute a node.
type scope struct {
	mask  uint32 // the lanes of each warp that execute the node together; 0 if not known
	block bool   // all threads of the block execute it
}

func (s scope) warp() bool { return s.mask == allLanes }

const allLanes = 0xffffffff

// Generate makes the kernel of a seed. The same seed and options give the same kernel.
func Generate(seed uint64, o Options) *Kernel {
	k := generate(seed, o)
	k.inputs()
	return k
}

// generate is Generate without the inputs.
func generate(seed uint64, o Options) *Kernel {
	if o.Size == 0 {
		o.Size = 24
	}
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 0xd1ff)), Options: o, next: map[byte]int{}}
	k := &Kernel{Seed: seed, Version: o.Version, Target: o.Target, Grid: device.D(1 + g.IntN(3)), Inputs: map[string][]Word{}}
	k.Block = blocks[g.IntN(len(blocks))]
	k.Fill = 3 + g.Uint64N(1<<40)
	g.threads = k.Threads()
	switch g.IntN(3) {
	case 0:
		g.plainMul = true
	case 1:
		g.plainAdd = true
	}
	for _, c := range classes {
		g.next[c.letter] = g.IntN(c.count)
	}
	k.Body = g.nodes(g.Size/2+g.IntN(g.Size), scope{allLanes, true})
	return k
}

// blocks are the shapes of thread blocks: whole warps, up to a warpgroup.
var blocks = []device.Dim{
	device.D(32), device.D(32), device.D(64), device.D(64), device.D(96), device.D(128), device.D(128), device.D(128),
	device.D(16, 2), device.D(8, 4, 2), device.D(4, 8, 4),
}

// maxBlocks is the largest number of blocks of a launch. Inputs exist for that many blocks.
const maxBlocks = 4

// inputs chooses the initial values of the registers that the body uses.
func (k *Kernel) inputs() {
	used, _ := k.registers()
	for i, reg := range poolRegisters {
		if !slices.Contains(used, reg) {
			continue
		}
		r := rand.New(rand.NewPCG(k.Seed, uint64(i)))
		ws := make([]Word, maxBlocks*k.Threads())
		for i := range ws {
			switch reg[1] {
			case 'p':
				ws[i] = Word{r.Uint64N(2)}
			case 'q':
				ws[i] = Word{edgeWord(r), edgeWord(r)}
			default:
				ws[i] = Word{edgeWord(r)}
			}
		}
		k.Inputs[reg] = ws
	}
}

// oneIn returns true with probability 1/n.
func (g *gen) oneIn(n int) bool { return g.IntN(n) == 0 }

// pick returns one of the words at random.
func (g *gen) pick(words ...string) string { return words[g.IntN(len(words))] }

// has reports whether the module allows an instruction that needs architecture sm and PTX
// version isa.
func (g *gen) has(sm, isa int) bool {
	return g.Target.SM >= sm && !g.Version.Less(ptx.Version{Major: isa / 10, Minor: isa % 10})
}

func (g *gen) nodes(n int, s scope) (list []*Node) {
	for range n {
		list = append(list, g.node(s))
	}
	return list
}

// producer makes nodes of one kind in scopes that allow them.
type producer struct {
	weight int
	fits   func(g *gen, s scope) bool
	make   func(g *gen, s scope) *Node // may return nil: then another producer is tried
}

func anywhere(*gen, scope) bool        { return true }
func knownLanes(_ *gen, s scope) bool  { return s.mask != 0 }
func wholeWarp(_ *gen, s scope) bool   { return s.warp() }
func wholeBlock(_ *gen, s scope) bool  { return s.block }
func shallow(g *gen, _ scope) bool     { return g.depth < 3 }
func shallowWarp(g *gen, s scope) bool { return g.depth < 3 && s.warp() }
func hopper(g *gen, s scope) bool      { return s.block && g.has(90, 80) }
func warpgroup(g *gen, s scope) bool {
	return s.block && g.threads == 128 && g.Target == ptx.SM90a && g.has(90, 80)
}

var producers []producer

// The list is filled in init because producers of branches refer to it.
func init() {
	producers = []producer{
		{70, anywhere, (*gen).registerInst},
		{4, anywhere, (*gen).carry},
		{4, anywhere, (*gen).pack},
		{2, anywhere, (*gen).special},
		{7, anywhere, (*gen).load},
		{6, anywhere, (*gen).store},
		{6, anywhere, (*gen).atomic},
		{3, anywhere, (*gen).reduction},
		{2, anywhere, (*gen).generic},
		{2, anywhere, (*gen).cache},
		{2, anywhere, (*gen).fence},
		{1, anywhere, (*gen).stack},
		{3, anywhere, (*gen).call},
		{1, anywhere, (*gen).jumpTable},
		{3, anywhere, (*gen).asyncCopy},
		{3, anywhere, (*gen).ownBarrier},
		{4, knownLanes, (*gen).shuffle},
		{6, knownLanes, (*gen).vote},
		{2, wholeWarp, (*gen).moveMatrix},
		{7, wholeWarp, (*gen).mma},
		{4, wholeWarp, (*gen).wmma},
		{3, wholeBlock, (*gen).exchange},
		{3, wholeBlock, (*gen).barrier},
		{2, wholeBlock, (*gen).blockBarrier},
		{3, hopper, (*gen).bulk},
		{1, hopper, (*gen).cluster},
		{14, warpgroup, (*gen).wgmma},
		{4, shallow, (*gen).branch},
		{3, shallowWarp, (*gen).lanes},
		{4, shallow, (*gen).loop},
	}
}

// node makes one node for the scope.
func (g *gen) node(s scope) *Node {
	for {
		total := 0
		for i := range producers {
			if producers[i].fits(g, s) {
				total += producers[i].weight
			}
		}
		at := g.IntN(total)
		for i := range producers {
			p := &producers[i]
			if !p.fits(g, s) {
				continue
			}
			if at -= p.weight; at < 0 {
				if n := p.make(g, s); n != nil {
					return n
				}
				break
			}
		}
	}
}

// branch makes an If with a predicate, which may differ between threads.
func (g *gen) branch(s scope) *Node {
	g.depth++
	defer func() { g.depth-- }()
	n := &Node{Kind: If, Cond: g.pred(), Reconverge: s.warp()}
	n.Body = g.nodes(1+g.IntN(3), scope{})
	if g.oneIn(2) {
		n.Else = g.nodes(1+g.IntN(3), scope{})
	}
	return n
}

// lanes makes an If with a bit of the lane's number, so the lanes on each side are known.
func (g *gen) lanes(scope) *Node {
	g.depth++
	defer func() { g.depth-- }()
	n := &Node{Kind: If, Lane: g.IntN(5), Reconverge: true}
	mask := laneMasks[n.Lane]
	n.Body = g.nodes(1+g.IntN(3), scope{mask: mask})
	if g.oneIn(2) {
		n.Else = g.nodes(1+g.IntN(3), scope{mask: ^mask})
	}
	return n
}

// laneMasks[i] holds the lanes whose number has bit i set.
var laneMasks = [5]uint32{0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000}

// loop makes a Loop of a few nodes. The number of rounds is a constant, or a register's
// value in each thread.
func (g *gen) loop(s scope) *Node {
	g.depth++
	defer func() { g.depth-- }()
	n := &Node{Kind: Loop, Count: 1 + g.IntN(4)}
	if g.oneIn(3) {
		n.Count, n.From, n.Reconverge = 3, g.reg('r'), s.warp()
		s = scope{}
	}
	n.Body = g.nodes(1+g.IntN(3), s)
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }
