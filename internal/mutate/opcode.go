package mutate

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// otherOperation maps opcodes to operations that often take the same operands.
var otherOperation = map[string]string{
	"add": "sub", "sub": "add", "min": "max", "max": "min", "and": "or", "or": "xor", "xor": "and", "shl": "shr", "shr": "shl",
	"neg": "abs", "abs": "neg", "mul": "add", "div": "rem", "rem": "div", "ex2": "lg2", "lg2": "ex2", "rcp": "sqrt", "sqrt": "rcp", "rsqrt": "rcp",
}

var otherComparison = map[string]string{
	"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq", "lo": "ls", "ls": "lo", "hi": "hs", "hs": "hi",
	"ltu": "leu", "leu": "ltu", "gtu": "geu", "geu": "gtu", "equ": "neu", "neu": "equ", "num": "nan", "nan": "num",
}

var otherMode = map[string]string{
	"and": "or", "or": "and", "xor": "or", "lo": "hi", "hi": "lo", "bfly": "down", "down": "up", "up": "down", "idx": "bfly",
	"all": "any", "any": "all", "min": "max", "max": "min", "add": "max",
}

// otherRounding maps a rounding to one that gives other results. A slot that is left out
// rounds to nearest.
var otherRounding = map[string]string{
	"": "rz", "rn": "rz", "rz": "rn", "rm": "rp", "rp": "rm", "rni": "rzi", "rzi": "rni", "rmi": "rpi", "rpi": "rmi", "rna": "rz",
}

func (s *site) otherOpcode() []*ptx.Inst {
	name, rest, _ := strings.Cut(s.Op.Text, ".")
	to := otherOperation[name]
	if to == "" {
		return nil
	}
	all := []*ptx.Inst{s.spelt(to + "." + rest)}
	if name == "mul" { // mul.lo.u32 has no counterpart with its modifiers
		all = append(all, s.spelt("add."+s.Type("d").String()))
	}
	return all
}

// approximated exchanges the approximate and the rounded form of a function.
func (s *site) approximated() (all []*ptx.Inst) {
	for _, pair := range [][2]string{{".approx", ".rn"}, {".approx", ".full"}, {".rn", ".approx"}, {".full", ".approx"}} {
		if strings.Contains(s.Op.Text+".", pair[0]+".") && s.Match.Class().Unit != isa.UnitConvert {
			all = append(all, s.spelt(strings.Replace(s.Op.Text, pair[0], pair[1], 1)))
		}
	}
	return all
}

// removed removes an instruction of the synchronisation. A wait for an mbarrier is a loop and has
// two mutants. Without the branch, the loop ends after the first try, which may already wait long
// enough. Without the instruction that tests the mbarrier, the branch is missing too.
func (s *site) removed() []*ptx.Inst {
	switch s.Match.Class().Role {
	case isa.RoleFence, isa.RoleCommit, isa.RoleWait:
		return []*ptx.Inst{nil}
	case isa.RoleBarrier:
		if asks(s.Inst) && s.branchOfWait() == 0 {
			return nil // another instruction needs the answer
		}
		return []*ptx.Inst{nil}
	}
	if s.Op.Name == "griddepcontrol" || s.repeatsWait() {
		return []*ptx.Inst{nil}
	}
	return nil
}

// asks reports whether an instruction tests if the phase of an mbarrier is complete.
func asks(in *ptx.Inst) bool {
	return in.Op.Name == "mbarrier" && (in.Op.Has("try_wait") || in.Op.Has("test_wait"))
}

// repeatsWait reports whether the instruction is the branch that repeats the test of an mbarrier.
func (s *site) repeatsWait() bool {
	if s.Op.Name != "bra" || s.Guard.Sym == nil {
		return false
	}
	for i := s.stmt - 1; i >= 0; i-- {
		if in, ok := s.body[i].(*ptx.Inst); ok {
			return asks(in) && in.Args[0].Sym == s.Guard.Sym
		}
	}
	return false
}

// branchOfWait returns the index of the branch that repeats the test of an mbarrier, or 0 if
// another instruction follows the test.
func (s *site) branchOfWait() int {
	for i := s.stmt + 1; i < len(s.body); i++ {
		in, ok := s.body[i].(*ptx.Inst)
		if !ok {
			continue
		}
		if in.Op.Name == "bra" && in.Guard.Sym != nil && in.Guard.Sym == s.Args[0].Sym {
			return i
		}
		break
	}
	return 0
}

// weakened lets a wait for groups of asynchronous work leave one more group unfinished.
func (s *site) weakened() []*ptx.Inst {
	if s.Match.Class().Role != isa.RoleWait || len(s.Args) != 1 || s.Args[0].Kind != ptx.ImmOperand {
		return nil
	}
	in := s.copyOf()
	in.Args[0].Val++
	return []*ptx.Inst{in}
}

func (s *site) guardNegated() []*ptx.Inst {
	if s.Guard.Sym == nil {
		return nil
	}
	in := s.copyOf()
	in.Guard.Neg = !in.Guard.Neg
	return []*ptx.Inst{in}
}

func (s *site) guardDropped() []*ptx.Inst {
	if s.Guard.Sym == nil {
		return nil
	}
	in := s.copyOf()
	in.Guard = ptx.Guard{}
	return []*ptx.Inst{in}
}

// branchRemoved takes a conditional branch away, except for one that belongs to a wait.
func (s *site) branchRemoved() []*ptx.Inst {
	if s.Op.Name != "bra" || s.Guard.Sym == nil || s.repeatsWait() {
		return nil
	}
	return []*ptx.Inst{nil}
}
