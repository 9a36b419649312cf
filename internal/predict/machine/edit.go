package machine

import (
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
)

// IDs is a set of instructions of a program, by their index in warptrace.Launch.Program.
type IDs map[int32]bool

// Edit changes what a replay sees, to find out what a change of the kernel would give. The zero
// value changes nothing.
type Edit struct {
	NoConflicts IDs // accesses of shared memory without bank conflicts
	Coalesced   IDs // accesses of global memory that touch only as many sectors as their bytes fill
	Early       IDs // loads whose latency is hidden; their bytes still use the ports
	NoWait      IDs // barriers at which no warp waits
	Free        IDs // operations that take no time; other kinds than arithmetic, loads, stores and fences are ignored
	Chains      IDs // operations whose chain is split into Accumulators independent ones
	Polynomial  IDs // exponentials that are computed with multiplications and additions
	Cheap       IDs // integer divisions by a variable that become multiplications
	Groups      int // further groups of cp.async that may be unfinished
	Fetched     bool
	Native      bool // mma.sync has the rate of wgmma, and FP8 needs no conversions
}

// Accumulators is the number of independent chains into which Edit.Chains splits one.
const Accumulators = 4

// polynomialSlots is the number of multiplications and additions that replace an exponential: a
// polynomial of degree 3, the rounding of the exponent and its insertion.
const polynomialSlots = 6

// apply changes the cost of an operation.
func (e *Edit) apply(o *Op, r *rates) {
	id := o.ID
	if e.Native && o.cost.unit == Tensor {
		o.cost.slots, o.cost.latency = 1, r.latency[Tensor]
		o.cost.hold = o.flops / max(r.tensorF16/subCores, 1)
	}
	switch {
	case e.Free[id]:
		switch o.cost.kind {
		case plain, loads, stores, atomics, fences, stops:
			o.cost = cost{pure: true}
		}
	case e.Polynomial[id] && o.cost.unit == Exp:
		o.cost = cost{unit: Float, slots: polynomialSlots, latency: polynomialSlots * r.latency[Float], pure: true}
	case e.Cheap[id]:
		o.cost.slots, o.cost.latency = 3, 3*r.latency[IMad]
	case e.Chains[id]:
		l := o.cost.latency
		if l == 0 {
			l = r.latency[o.cost.unit]
		}
		o.cost.latency = max(l/Accumulators, 1)
	}
	if o.cost.kind == copyWait {
		o.groups += e.Groups
	}
}

// fact returns what an access did to memory, as edited.
func (e *Edit) fact(id int32, f *warptrace.Fact) *warptrace.Fact {
	conflicts, sectors := e.NoConflicts[id] && f.Conflicts > 0, e.Coalesced[id] && f.Needed < f.Sectors
	if !conflicts && !sectors {
		return f
	}
	edited := *f
	if conflicts {
		edited.Wavefronts -= f.Conflicts
	}
	if sectors {
		edited.Sectors = f.Needed
		edited.Lines = f.Lines[:min(len(f.Lines), (f.Needed*sectorBytes+warptrace.LineBytes-1)/warptrace.LineBytes)]
	}
	return &edited
}

// Divides reports whether an instruction is an integer division by a variable.
func (m *Machine) Divides(id int32) bool {
	in := &m.run.Program[id]
	if name := in.Op.Name; name != "div" && name != "rem" || isFloat(in) {
		return false
	}
	n := len(in.Args)
	return n > 0 && in.Args[n-1].Kind != ptx.ImmOperand && !m.code.ops[id].free()
}

// WaitsForCopies reports whether an instruction waits for groups of cp.async.
func (m *Machine) WaitsForCopies(id int32) bool { return m.code.ops[id].cost.kind == copyWait }

// UnitOf returns the unit of an instruction, None if it costs nothing.
func (m *Machine) UnitOf(id int32) Unit { return m.code.ops[id].cost.unit }

// BlockOf returns the basic block of an instruction. Blocks of all functions have numbers of their own.
func (m *Machine) BlockOf(id int32) int32 { return m.code.block[id] }

// Chained returns the instructions of a set that wait for a result of the set itself, directly or
// through moves: the links of a serial chain.
func (m *Machine) Chained(set IDs) IDs {
	writers := m.writers()
	found := IDs{}
	for id := range set {
		if m.reaches(id, set, writers, 4) {
			found[id] = true
		}
	}
	return found
}

// Recurs reports whether an operand of a set depends on a result of the set itself.
func (m *Machine) Recurs(set IDs) bool {
	writers := m.writers()
	seen := IDs{}
	var visit func(id int32) bool
	visit = func(id int32) bool {
		for _, r := range m.code.ops[id].reads {
			for _, w := range m.reaching(id, writers[r]) {
				if set[w] {
					return true
				}
				if !seen[w] {
					seen[w] = true
					if visit(w) {
						return true
					}
				}
			}
		}
		return false
	}
	for id := range set {
		if visit(id) {
			return true
		}
	}
	return false
}

// writers returns the instructions that write each register, in order.
func (m *Machine) writers() map[int32][]int32 {
	writers := map[int32][]int32{}
	for i := range m.code.ops {
		for _, r := range m.code.ops[i].writes {
			writers[r] = append(writers[r], int32(i))
		}
	}
	return writers
}

// reaches reports whether an operand of an instruction comes from the set, through at most depth
// instructions that cost nothing.
func (m *Machine) reaches(id int32, set IDs, writers map[int32][]int32, depth int) bool {
	for _, r := range m.code.ops[id].reads {
		for _, w := range m.reaching(id, writers[r]) {
			if set[w] || depth > 0 && m.code.ops[w].free() && m.reaches(w, set, writers, depth-1) {
				return true
			}
		}
	}
	return false
}

// reaching returns the writers of a register that an instruction can read from: the last one before it in
// its basic block, or else all of them. A writer with a guard may leave the register as it was.
func (m *Machine) reaching(id int32, writers []int32) []int32 {
	for i := len(writers) - 1; i >= 0; i-- {
		w := writers[i]
		if w < id && m.code.block[w] == m.code.block[id] && m.run.Program[w].Guard.Sym == nil {
			return writers[i : i+1]
		}
	}
	return writers
}
