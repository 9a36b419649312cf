package isa

import (
	"sync"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Newest is the newest version of PTX of which the table has every instruction.
var Newest = ptx.Version{Major: 9, Minor: 0}

// Families is the table, in the order in which its documentation presents it.
var Families = linked(
	integer, video, logic, compare, float, half, approx, convert,
	memory, caches, priorityHints, atomic, multimem,
	control, synchronization, fence, warp,
	cpasync, mbarrier, bulk, bulkTensor, cluster,
	matrix, wmma, wgmma, sparse,
	texture, surface, packed, narrow, scaled, blackwellCopies, tensorMemory,
)

// linked sets the family of each form.
func linked(families ...*Family) []*Family {
	for _, fam := range families {
		for _, f := range fam.Forms {
			f.Family = fam
		}
	}
	return families
}

// byOp indexes the table by opcode name.
var byOp = sync.OnceValue(func() map[string][]*Form {
	m := map[string][]*Form{}
	for _, fam := range Families {
		for _, f := range fam.Forms {
			m[f.Op] = append(m[f.Op], f)
		}
	}
	return m
})

// Forms returns the forms of an opcode name such as "mbarrier", in table order.
func Forms(name string) []*Form { return byOp()[name] }

// Lookup returns the forms that the modifiers of the opcode fit. There are several if the forms
// differ only in their operands. Assemblers accept modifiers in another order than that of the
// table; Lookup tries other orders only if no form fits in the order of the opcode.
func Lookup(op *ptx.Opcode) []Match {
	forms := byOp()[op.Name]
	ms := match(forms, op.Mods, func(m Match) bool { return m.Form.inOrder(m.bind, 0, op.Mods) })
	if len(ms) == 0 {
		ms = match(forms, op.Mods, func(m Match) bool { return m.Form.anyOrder(m.bind, op.Mods) })
	}
	return ms
}

// InOrder returns the opcode with its modifiers in the order of the table. It returns op itself if
// that has this order, or if it is not in the table.
func InOrder(op *ptx.Opcode) *ptx.Opcode {
	forms := byOp()[op.Name]
	ms := match(forms, op.Mods, func(m Match) bool { return m.Form.inOrder(m.bind, 0, op.Mods) })
	if len(ms) > 0 {
		return op
	}
	ms = match(forms, op.Mods, func(m Match) bool { return m.Form.anyOrder(m.bind, op.Mods) })
	if len(ms) == 0 {
		return op
	}
	return ms[0].Opcode()
}

// match returns the forms for which bind finds a modifier for each slot and whose rules hold.
func match(forms []*Form, mods []string, bind func(Match) bool) (ms []Match) {
	var slots []int8 // the slots of the last form that did not fit, used again because most forms do not fit
	for _, f := range forms {
		if len(mods) > len(f.Slots) {
			continue
		}
		if cap(slots) < len(f.Slots) {
			slots = make([]int8, len(f.Slots), max(len(f.Slots), 16))
		}
		m := Match{f, slots[:len(f.Slots)]}
		if bind(m) && f.allows(m) {
			ms = append(ms, m)
			slots = nil
		}
	}
	return ms
}

func (f *Form) inOrder(bind []int8, slot int, mods []string) bool {
	if slot == len(f.Slots) {
		return len(mods) == 0
	}
	s := &f.Slots[slot]
	if len(mods) > 0 {
		if i := index(s.Alts, mods[0]); i >= 0 {
			bind[slot] = int8(i)
			if f.inOrder(bind, slot+1, mods[1:]) {
				return true
			}
		}
	}
	bind[slot] = -1
	return s.Opt && f.inOrder(bind, slot+1, mods)
}

// anyOrder assigns each modifier to the first free slot that it fits. Types keep their order,
// because the order decides which operand has which type.
func (f *Form) anyOrder(bind []int8, mods []string) bool {
	for i := range bind {
		bind[i] = -1
	}
	lastType := -1
next:
	for _, mod := range mods {
		isType := ptx.ParseType(mod) != ptx.NoType
		for s := range f.Slots {
			i := index(f.Slots[s].Alts, mod)
			if i < 0 || bind[s] >= 0 || isType && s < lastType {
				continue
			}
			if isType {
				lastType = s
			}
			bind[s] = int8(i)
			continue next
		}
		return false
	}
	for s := range f.Slots {
		if bind[s] < 0 && !f.Slots[s].Opt {
			return false
		}
	}
	return true
}

func index(alts []string, mod string) int {
	for i, a := range alts {
		if a == mod {
			return i
		}
	}
	return -1
}
