package difffuzz

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"attest/ptx"
)

// TestLeftOut looks for what assemblers are known to get wrong in many kernels.
func TestLeftOut(t *testing.T) {
	onPool := regexp.MustCompile(`@!?%p\d+ bra`)
	for seed := range uint64(400) {
		k := generate(seed, Options{Target: ptx.SM90a, Version: ptx.Version{Major: 8, Minor: 4}})
		if s := onPool.FindString(Text([]*Kernel{k}, []string{"k"})); s != "" {
			t.Errorf("seed %d: %q is a branch on a predicate that the kernel goes on with (D33)", seed, s)
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

// loops are the operations that are a loop in shared memory.
var loops = regexp.MustCompile(`^(atom|red)\..*(\.(add|min|max|and|or|xor|inc|dec)\..*(64|f16x?2?|bf16x?2?|f32)|\.cas\.b16|b128)$`)

func spinsInShared(i Inst) bool {
	where := strings.Join(i.Args, " ")
	shared := strings.Contains(where, "[%own") || strings.Contains(where, "[%com") || strings.Contains(where, "[%ga")
	return shared && loops.MatchString(i.Op) && !strings.Contains(i.Op, ".v")
}
