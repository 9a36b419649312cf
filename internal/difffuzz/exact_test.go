package difffuzz

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestLeftOut checks that many kernels contain no code that ptxas is known to compile
// incorrectly.
func TestLeftOut(t *testing.T) {
	onPool := regexp.MustCompile(`@!?%p\d+ bra`)
	for seed := range uint64(400) {
		k := generate(seed, Options{Target: ptx.SM90a, Version: ptx.Version{Major: 8, Minor: 4}})
		if s := onPool.FindString(Text([]*Kernel{k}, []string{"k"})); s != "" {
			t.Errorf("seed %d: %q branches on a predicate that the kernel uses later (D33)", seed, s)
		}
		for _, n := range k.Body {
			walk(append(slices.Clone(n.Body), n.Else...), func(n *Node) {
				for _, i := range n.Insts {
					if spinsInShared(i) {
						t.Errorf("seed %d: %s in a branch or loop (D26)", seed, i)
					}
				}
			})
		}
	}
}

// TestProductsDiffer checks that no node has two products that are the same as far as ptxas
// can see (D38): the second descriptor is the first combined with a value that ptxas cannot
// know.
func TestProductsDiffer(t *testing.T) {
	seconds := 0
	for seed := range uint64(400) {
		k := generate(seed, Options{Target: ptx.SM90a, Version: ptx.Version{Major: 8, Minor: 4}})
		walk(k.Body, func(n *Node) {
			seen, hidden := map[string]bool{}, false
			for _, i := range n.Insts {
				hidden = hidden || i.String() == "xor.b64 %bd2, %bd, %nild;"
				if !strings.HasPrefix(i.Op, "wgmma.mma_async") {
					continue
				}
				if seen[i.String()] {
					t.Errorf("seed %d: %s occurs twice", seed, i)
				}
				if slices.Contains(i.Args, "%bd2") {
					seconds++
					if !hidden {
						t.Errorf("seed %d: %s has a descriptor that no instruction computes", seed, i)
					}
				}
				seen[i.String()] = true
			}
		})
	}
	if seconds == 0 {
		t.Error("no node has two products")
	}
}

// TestSelectors checks that no slct has a constant that is a float with the other sign, or a
// NaN, because ptxas compares it as a float (D40).
func TestSelectors(t *testing.T) {
	constants := 0
	for seed := range uint64(3000) {
		k := generate(seed, Options{Target: ptx.SM80, Version: ptx.Version{Major: 8, Minor: 4}})
		walk(k.Body, func(n *Node) {
			for _, i := range n.Insts {
				c := i.Args[max(len(i.Args)-1, 0):]
				if !strings.HasPrefix(i.Op, "slct.") || !strings.HasSuffix(i.Op, ".s32") || strings.HasPrefix(c[0], "%") {
					continue
				}
				constants++
				if x, err := strconv.Atoi(c[0]); err != nil || x < -1000 || x > 1000 {
					t.Errorf("seed %d: %s", seed, i)
				}
			}
		})
	}
	if constants == 0 {
		t.Error("no slct has a constant")
	}
}

// loops are the atomics that ptxas compiles to a loop in shared memory.
var loops = regexp.MustCompile(`^(atom|red)\..*(\.(add|min|max|and|or|xor|inc|dec)\..*(64|f16x?2?|bf16x?2?|f32)|\.cas\.b16|b128)$`)

func spinsInShared(i Inst) bool {
	where := strings.Join(i.Args, " ")
	shared := strings.Contains(where, "[%own") || strings.Contains(where, "[%com") || strings.Contains(where, "[%ga")
	return shared && loops.MatchString(i.Op) && !strings.Contains(i.Op, ".v")
}

// TestPredicatesAreShort checks that no predicate of the pool is live between nodes. A node
// declares the predicates that it reads and sets them from their words (D33, D35, D36). The
// value that it stores in a word differs, as far as ptxas can tell, from the result of the
// instruction (D37).
func TestPredicatesAreShort(t *testing.T) {
	for seed := range uint64(200) {
		k := generate(seed, Options{Target: ptx.SM90a, Version: ptx.Version{Major: 8, Minor: 4}})
		declared, fresh, hidden := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for line := range strings.Lines(Text([]*Kernel{k}, []string{"k"})) {
			f := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("\t ,;\n", r) })
			switch {
			case len(f) > 1 && f[0] == ".reg" && f[1] == ".pred":
				for _, r := range f[2:] {
					declared[r] = true
				}
			case len(f) == 4 && f[0] == "setp.ne.b32" && declared[f[1]] && f[2] == predicateWord(f[1]):
				fresh[f[1]] = true
			case len(f) == 4 && f[0] == "xor.pred" && fresh[f[1]] && f[3] == "%nilp":
				hidden[f[1]] = true
			case len(f) == 4 && f[0] == "add.u32" && strings.HasPrefix(f[1], "%is"):
				for _, m := range []map[string]bool{declared, fresh, hidden} {
					delete(m, "%p"+f[1][3:])
				}
			case len(f) == 5 && f[0] == "selp.b32" && strings.HasPrefix(f[1], "%is"):
				if !hidden[f[4]] {
					t.Errorf("seed %d: %s is declared outside the nodes", seed, strings.TrimSpace(line))
				}
			default:
				for _, r := range pool.FindAllString(line, -1) {
					if r[1] == 'p' && !fresh[r] {
						t.Errorf("seed %d: %s uses %s of another node", seed, strings.TrimSpace(line), r)
					}
				}
			}
		}
	}
}

// TestLeftOutCount counts the opcodes that kernels never contain because of defects of
// ptxas. The help of attest fuzz states these numbers.
func TestLeftOutCount(t *testing.T) {
	got := map[string]int{}
	for _, op := range []string{"set", "ld", "atom", "red"} {
		for _, f := range isa.Forms(op) {
			if hasSlot(f, "async") {
				continue
			}
			each(f, 0, f.Op, func(op string) {
				for _, m := range isa.Lookup(ptx.NewOpcode(op)) {
					if m.Form == f && m.RunsOn(ptx.Version{Major: 9}, ptx.SM90a) {
						got[excludedBy(m)]++
					}
				}
			})
		}
	}
	delete(got, "")
	if want := map[string]int{"D15": 200, "D21": 1320, "D32": 7488}; !maps.Equal(got, want) {
		t.Errorf("%v are excluded, want %v", got, want)
	}
}

// each visits the opcodes that start with op and continue with all choices for the form's
// slots from the i-th on.
func each(f *isa.Form, i int, op string, visit func(op string)) {
	if i == len(f.Slots) {
		visit(op)
		return
	}
	if f.Slots[i].Opt {
		each(f, i+1, op, visit)
	}
	for _, mod := range f.Slots[i].Alts {
		each(f, i+1, op+"."+mod, visit)
	}
}
