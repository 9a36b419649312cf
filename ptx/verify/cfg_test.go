package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

const header = ".version 8.4\n.target sm_90a\n.address_size 64\n"

// kernelOf parses a kernel from its body. The registers %r, %p, %f and %rd are declared.
func kernelOf(t testing.TB, body string) (*ptx.Module, *ptx.Func) {
	t.Helper()
	m := mustParse(t, "test.ptx", header+".visible .entry k(.param .u32 n, .param .u64 out) {\n"+
		".reg .b32 %r<64>;\n.reg .pred %p<64>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<64>;\n"+body+"\n}\n")
	return m, m.Func("k")
}

// names returns the letters of blocks: A for the entry, X for the exit.
func names(g *CFG, bs ...int) string {
	var s []string
	for _, b := range bs {
		switch b {
		case -1:
			s = append(s, "-")
		case g.Exit():
			s = append(s, "X")
		default:
			s = append(s, string(rune('A'+b)))
		}
	}
	return strings.Join(s, "")
}

func TestCFG(t *testing.T) {
	tests := []struct {
		name, body string
		edges      string // successors of each block
		idom       string // immediate dominator of each block, then of the exit
		ipdom      string
		loops      string // header, back edges, depth
	}{
		{"straight", "add.s32 %r1, %r1, 1; ret;", "A>X", "-A", "X-", ""},
		{"if", "@%p1 bra over; add.s32 %r1, %r1, 1; over: ret;", "A>CB B>C C>X", "-AAC", "CCX-", ""},
		{"if else", "@%p1 bra other; add.s32 %r1, %r1, 1; bra.uni done; other: add.s32 %r1, %r1, 2; done: ret;",
			"A>CB B>D C>D D>X", "-AAAD", "DDDX-", ""},
		{"loop", "add.s32 %r1, %r1, 1; head: add.s32 %r1, %r1, 1; @%p1 bra head; ret;",
			"A>B B>BC C>X", "-ABC", "BCX-", "B<B 1"},
		{"two loops", "o: add.s32 %r1, %r1, 1; i: add.s32 %r1, %r1, 1; @%p1 bra i; @%p2 bra o; ret;",
			"A>B B>BC C>AD D>X", "-ABCD", "BCDX-", "B<B 2 A<C 1"},
		{"guarded exit", "@%p1 exit; add.s32 %r1, %r1, 1; ret;", "A>XB B>X", "-AA", "XX-", ""},
		{"trap", "@%p1 bra bad; ret; bad: trap;", "A>CB B>X C>X", "-AAA", "XXX-", ""},
		{"unreachable", "bra end; add.s32 %r1, %r1, 1; end: ret;", "A>C B>C C>X", "--AC", "CCX-", ""},
		{"forever", "add.s32 %r1, %r1, 1; w: @%p1 bra w; spin: bra spin;", "A>B B>BC C>C", "-AB-", "BCX-", "C<C 1 B<B 1"},
		{"switch", "ts: .branchtargets a, b, a; brx.idx %r1, ts; a: add.s32 %r1, %r1, 1; b: ret;",
			"A>BC B>C C>X", "-AAC", "CCX-", ""},
		{"falls off", "add.s32 %r1, %r1, 1; @%p1 bra end; add.s32 %r1, %r1, 1; end:", "A>CB B>C C>X", "-AAC", "CCX-", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, f := kernelOf(t, tt.body)
			g := NewCFG(f)
			var edges, loops []string
			for b := range g.Exit() {
				edges = append(edges, names(g, b)+">"+names(g, g.Blocks[b].Succs...))
			}
			for _, l := range g.Loops {
				loops = append(loops, fmt.Sprintf("%s<%s %d", names(g, l.Header), names(g, l.Back...), l.Depth))
			}
			same(t, "edges", strings.Join(edges, " "), tt.edges)
			same(t, "idom", names(g, g.Idom...), tt.idom)
			same(t, "ipdom", names(g, g.Ipdom...), tt.ipdom)
			same(t, "loops", strings.Join(loops, " "), tt.loops)
		})
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %s, want %s", what, got, want)
	}
}

// randomFunc returns a function of n blocks with random branches between them.
func randomFunc(t testing.TB, rng *rand.Rand, n int) *ptx.Func {
	var b strings.Builder
	reg := func() string { return fmt.Sprintf("%%r%d", rng.IntN(8)) }
	for i := range n {
		fmt.Fprintf(&b, "L%d:\n", i)
		for range rng.IntN(3) + 1 {
			guard := ""
			if rng.IntN(4) == 0 {
				guard = "@%p1 "
			}
			fmt.Fprintf(&b, "%sadd.s32 %s, %s, %s;\n", guard, reg(), reg(), reg())
		}
		switch target := rng.IntN(n); rng.IntN(8) {
		case 0, 1, 2, 3:
			fmt.Fprintf(&b, "@%%p%d bra L%d;\n", rng.IntN(3)+1, target)
		case 4:
			fmt.Fprintf(&b, "bra L%d;\n", target)
		case 5:
			fmt.Fprintf(&b, "@%%p2 exit;\n")
		}
	}
	b.WriteString("ret;\n")
	_, f := kernelOf(t, b.String())
	return f
}

// TestDominanceByDefinition compares the result with the definition: a dominates b if every
// path from the entry to b passes a.
func TestDominanceByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		g := NewCFG(randomFunc(t, rng, 2+rng.IntN(12)))
		preds, succs := g.reversed()
		n := len(g.Blocks)
		for a := range n {
			fwd := reach(n, 0, a, func(b int) []int { return g.Blocks[b].Succs })
			bwd := reach(n, g.Exit(), a, func(b int) []int { return preds[b] })
			for b := range n {
				if !g.Reachable(b) {
					continue
				}
				if want := g.Reachable(a) && !fwd[b]; g.Dominates(a, b) != want {
					t.Fatalf("%s dominates %s: %v, want %v\n%v", names(g, a), names(g, b), !want, want, succs)
				}
				if got, want := climbs(g.Ipdom, b, a), !bwd[b]; got != want {
					t.Fatalf("%s post-dominates %s: %v, want %v\n%v", names(g, a), names(g, b), got, want, succs)
				}
			}
		}
	}
}

// reach reports for each node whether a path from root reaches it without passing avoid.
func reach(n, root, avoid int, succs func(int) []int) []bool {
	seen := make([]bool, n)
	if root == avoid {
		return seen
	}
	for _, b := range postorder(n, root, func(b int) []int {
		return slices.DeleteFunc(slices.Clone(succs(b)), func(s int) bool { return s == avoid })
	}) {
		seen[b] = true
	}
	return seen
}

func climbs(parent []int, b, to int) bool {
	for ; b >= 0; b = parent[b] {
		if b == to {
			return true
		}
	}
	return false
}

// TestLoopsByDefinition compares the result with the definition: a loop consists of the blocks
// that reach a back edge without passing the header.
func TestLoopsByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	loops := 0
	for range 300 {
		g := NewCFG(randomFunc(t, rng, 2+rng.IntN(12)))
		for l, lp := range g.Loops {
			loops++
			in := make([]bool, len(g.Blocks))
			in[lp.Header] = true
			for _, back := range lp.Back {
				for b, ok := range reach(len(g.Blocks), back, lp.Header, func(b int) []int { return g.Blocks[b].Preds }) {
					in[b] = in[b] || ok && g.Reachable(b)
				}
			}
			for b := range g.Blocks {
				if g.InLoop(b, l) != in[b] {
					t.Fatalf("block %s in the loop of %s: %v, want %v", names(g, b), names(g, lp.Header), !in[b], in[b])
				}
			}
		}
	}
	if loops < 100 {
		t.Errorf("only %d loops were tried", loops)
	}
}
