package mutate

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Operator is a kind of mistake.
type Operator struct {
	Name string
	Doc  string // the mistake, in a few words
	// apply returns the instructions that can stand in the place of an instruction; nil among
	// them removes it. The caller drops those that the instruction table does not have.
	apply func(*site) []*ptx.Inst
}

// The names of the operators of the synchronisation.
const (
	removeSync = "sync-remove"
	weakenSync = "sync-weaken"
)

// Operators are all operators.
var Operators = []Operator{
	{removeSync, "a barrier, wait, fence, arrival or commit is missing", (*site).removed},
	{weakenSync, "a wait leaves one more group unfinished", (*site).weakened},
	{"operand-swap", "two operands of the same type change places", (*site).swapped},
	{"operand-other", "an operand is another register of its type, one that was used shortly before", (*site).otherRegister},
	{"const-plus", "a constant or an offset is larger by 1", constants(func(v, _ int64) int64 { return v + 1 })},
	{"const-minus", "a constant or an offset is smaller by 1", constants(func(v, _ int64) int64 { return v - 1 })},
	{"const-double", "a constant or an offset is twice as large", constants(func(v, _ int64) int64 { return 2 * v })},
	{"const-bit", "one bit of a constant or an offset is flipped", constants(func(v, bit int64) int64 { return v ^ 1<<bit })},
	{"float-double", "a float constant is twice as large", floats(double)},
	{"float-negate", "a float constant has the other sign", floats(negate)},
	{"guard-negate", "a guard holds where it must not", (*site).guardNegated},
	{"guard-drop", "a guard is missing", (*site).guardDropped},
	{"branch-remove", "a branch is missing", (*site).branchRemoved},
	{"pred-negate", "a predicate operand is negated", (*site).predicateNegated},
	{"opcode", "another operation of the same form: add for sub, min for max", (*site).otherOpcode},
	{"compare", "another comparison: lt for le, eq for ne", slot(otherComparison, "cmp")},
	{"mode", "another mode: and for or, lo for hi, bfly for down", slot(otherMode, "op", "bool", "mode")},
	{"rounding", "another rounding: rz for rn", slot(otherRounding, "rnd", "irnd")},
	{"ftz", "denormals are flushed where they were not, or the other way round", toggle("ftz")},
	{"saturate", "a result is clamped where it was not, or the other way round", toggle("sat", "satfinite", "relu")},
	{"approx", "an exact function for an approximate one, or the other way round", (*site).approximated},
}

// site is an instruction of the program, with what operators need to know about its place.
type site struct {
	isa.Bound
	body   []ptx.Stmt
	stmt   int
	recent *recent // the registers that the instructions before it use
}

// copyOf returns a copy of the instruction whose operands can be changed.
func (s *site) copyOf() *ptx.Inst {
	in := *s.Inst
	in.Args = cloned(in.Args)
	return &in
}

func cloned(ops []ptx.Operand) []ptx.Operand {
	ops = slices.Clone(ops)
	for i := range ops {
		ops[i].Elems = cloned(ops[i].Elems)
	}
	return ops
}

// spelt returns a copy of the instruction with another opcode.
func (s *site) spelt(opcode string) *ptx.Inst {
	in := s.copyOf()
	in.Op = ptx.NewOpcode(opcode)
	return in
}

// with returns a copy of the instruction with another modifier in a slot; "" leaves the slot
// empty.
func (s *site) with(slot int, mod string) *ptx.Inst {
	words := []string{s.Match.Form.Op}
	for i := range s.Match.Form.Slots {
		word := s.Match.At(i)
		if i == slot {
			word = mod
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return s.spelt(strings.Join(words, "."))
}

// slot returns an operator that replaces the modifier in the slots of some names. The empty
// modifier stands for a slot that is left out.
func slot(other map[string]string, names ...string) func(*site) []*ptx.Inst {
	return func(s *site) (all []*ptx.Inst) {
		for i := range s.Match.Form.Slots {
			f := &s.Match.Form.Slots[i]
			to, ok := other[s.Match.At(i)]
			if ok && slices.Contains(names, f.Name) && slices.Contains(f.Alts, to) {
				all = append(all, s.with(i, to))
			}
		}
		return all
	}
}

// toggle returns an operator that adds a modifier to an optional slot, or takes it away.
func toggle(mods ...string) func(*site) []*ptx.Inst {
	return func(s *site) (all []*ptx.Inst) {
		for i := range s.Match.Form.Slots {
			f := &s.Match.Form.Slots[i]
			if !f.Opt {
				continue
			}
			for _, mod := range mods {
				switch {
				case !slices.Contains(f.Alts, mod):
				case s.Match.At(i) == mod:
					all = append(all, s.with(i, ""))
				case s.Match.At(i) == "":
					all = append(all, s.with(i, mod))
				}
			}
		}
		return all
	}
}
