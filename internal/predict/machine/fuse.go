package machine

import (
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// fusion says that the hardware has one operation for two instructions: the producer disappears if
// only the consumer reads its result.
type fusion struct {
	producer, consumer string
	sm                 int // the least architecture
}

const (
	logic   = "and or xor not lop3"
	adds    = "add sub"
	extrema = "min max"
)

var fusions = []fusion{
	{adds, adds, 0},           // IADD3
	{"shl", adds, 0},          // LEA
	{"mul", adds, 0},          // IMAD
	{logic, logic, 0},         // LOP3
	{extrema, extrema, 90},    // VIMNMX3
	{"setp", "setp", 0},       // a comparison folds its third operand
	{"setp", "and or xor", 0}, // PLOP3 takes three predicates
}

// simplify removes the operations that ptxas removes: results that nobody reads, repeated
// computations, values that do not change in a loop, and producers that fuse with their consumer.
// A removed operation stays as one that takes no slot: its result is ready when its operands are.
func (u *unitFunc) simplify(program []observe.Inst) {
	u.uniformValues(program)
	u.repeated(program)
	u.invariants(program)
	u.unread()
	u.joinLoads(program)
	u.fuse(program)
}

func (u *unitFunc) remove(id int32) {
	c := &u.c.ops[id].cost
	*c = cost{pure: true}
}

// replaceReads changes what an operation reads.
func (u *unitFunc) replaceReads(o *Op, reads []int32) {
	for _, r := range o.reads {
		u.uses[r-int32(u.base)]--
	}
	o.reads = append([]int32(nil), reads...)
	for _, r := range o.reads {
		u.uses[r-int32(u.base)]++
	}
}

// single reports whether a register has one definition.
func (u *unitFunc) single(r int32) bool { return u.defs[r-int32(u.base)] == 1 }

// uniformValues moves integer arithmetic on values that all lanes share to the scalar unit: it
// takes an issue slot but no lane.
func (u *unitFunc) uniformValues(program []observe.Inst) {
	for b := range u.insts {
		for _, id := range u.insts[b] {
			o := &u.c.ops[id]
			if !o.cost.pure || o.free() || o.cost.unit != ALU && o.cost.unit != IMad || len(o.writes) == 0 {
				continue
			}
			same := true
			for _, r := range o.writes {
				same = same && u.uniform.Reg(u.f.Regs[r-int32(u.base)]) == verify.Invariant
			}
			if same && u.c.target.SM >= 75 && program[id].Guard.Sym == nil {
				o.cost.unit = Uniform
				o.cost.latency = max(o.cost.latency, u.c.rates.latency[Uniform]/2)
			}
		}
	}
}

// unread removes operations whose results nobody reads.
func (u *unitFunc) unread() {
	for changed := true; changed; {
		changed = false
		for b := range u.insts {
			for _, id := range u.insts[b] {
				o := &u.c.ops[id]
				if !o.cost.pure || len(o.writes) == 0 || o.reads == nil && o.free() {
					continue
				}
				read := false
				for _, r := range o.writes {
					read = read || u.uses[r-int32(u.base)] > 0
				}
				if read {
					continue
				}
				u.replaceReads(o, nil)
				u.remove(id)
				changed = true
			}
		}
	}
}

// repeated removes a computation if a dominating block or the same block has done it before.
func (u *unitFunc) repeated(program []observe.Inst) {
	seen := map[string][]int32{}
	blockOf := map[int32]int{}
	for _, b := range u.g.RPO {
		if b >= len(u.insts) {
			continue
		}
		for _, id := range u.insts[b] {
			o := &u.c.ops[id]
			in := &program[id]
			if !o.cost.pure || o.free() || in.Guard.Sym != nil || len(o.writes) != 1 || !u.single(o.writes[0]) {
				continue
			}
			key, ok := u.key(in, o)
			if !ok {
				continue
			}
			found := false
			for _, before := range seen[key] {
				if u.g.Dominates(blockOf[before], b) {
					u.replaceReads(o, u.c.ops[before].writes)
					found = true
					break
				}
			}
			if found {
				u.remove(id)
				continue
			}
			seen[key] = append(seen[key], id)
			blockOf[id] = b
		}
	}
}

// key identifies what an operation computes.
func (u *unitFunc) key(in *observe.Inst, o *Op) (string, bool) {
	var s strings.Builder
	s.WriteString(in.Op.Text)
	for i := 1; i < len(in.Args); i++ {
		a := &in.Args[i]
		s.WriteByte(' ')
		switch a.Kind {
		case ptx.RegOperand:
			if a.Sym.Kind == ptx.RegSymbol && !u.single(u.reg(a.Sym)) || a.Comp != 0 {
				return "", false
			}
			s.WriteString(a.Sym.Name)
			if a.Neg {
				s.WriteByte('!')
			}
		case ptx.SpecialOperand, ptx.SymOperand:
			s.WriteString(a.Sym.Name)
		case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
		default:
			return "", false
		}
		s.WriteString(strconv.FormatInt(a.Val, 36))
	}
	return s.String(), true
}

// invariants removes computations in a loop whose operands do not change in it. They run once
// before the loop, which costs little.
func (u *unitFunc) invariants(program []observe.Inst) {
	inside := u.loopBlocks()
	for changed := true; changed; {
		changed = false
		for b := range u.insts {
			l := u.g.LoopOf[b]
			if l < 0 {
				continue
			}
			for _, id := range u.insts[b] {
				o := &u.c.ops[id]
				if !o.cost.pure || o.free() || len(o.writes) == 0 || program[id].Guard.Sym != nil {
					continue
				}
				if u.fixed(o, inside[l]) {
					u.remove(id)
					u.replaceReads(o, nil)
					for _, r := range o.writes {
						u.defBlock[r-int32(u.base)] = -1
					}
					changed = true
				}
			}
		}
	}
}

// fixed reports whether an operation has single results and operands from outside a loop.
func (u *unitFunc) fixed(o *Op, loop map[int32]bool) bool {
	for _, r := range o.writes {
		if !u.single(r) {
			return false
		}
	}
	for _, r := range o.reads {
		if b := u.defBlock[r-int32(u.base)]; !u.single(r) || b >= 0 && loop[b] {
			return false
		}
	}
	return true
}

// loopBlocks returns the blocks of each loop, including those of inner loops.
func (u *unitFunc) loopBlocks() []map[int32]bool {
	all := make([]map[int32]bool, len(u.g.Loops))
	for i := range all {
		all[i] = map[int32]bool{}
	}
	for b := range u.insts {
		for l := u.g.LoopOf[b]; l >= 0; l = u.g.Loops[l].Parent {
			all[l][int32(b)] = true
		}
	}
	return all
}

// fuse removes producers that the hardware does together with their only consumer.
func (u *unitFunc) fuse(program []observe.Inst) {
	for b := range u.insts {
		def := map[int32]int32{} // by register: the operation of this block that wrote it
		used := map[int32]bool{} // operations that are already part of a fusion
		for _, id := range u.insts[b] {
			o := &u.c.ops[id]
			if o.cost.pure && !o.free() && program[id].Guard.Sym == nil {
				u.fuseInto(program, id, def, used)
			}
			for _, r := range o.writes {
				def[r] = id
			}
		}
	}
}

func (u *unitFunc) fuseInto(program []observe.Inst, id int32, def map[int32]int32, used map[int32]bool) {
	for _, r := range u.c.ops[id].reads {
		p, ok := def[r]
		if !ok || used[p] || used[id] || !u.single(r) || u.uses[r-int32(u.base)] != 1 {
			continue
		}
		po := &u.c.ops[p]
		if po.free() || !po.cost.pure || program[p].Guard.Sym != nil || !u.fits(&program[p], &program[id]) {
			continue
		}
		used[p], used[id] = true, true
		u.remove(p)
	}
}

// fits reports whether the hardware has one operation for two instructions.
func (u *unitFunc) fits(p, c *observe.Inst) bool {
	if wide(p) != wide(c) || isFloat(p) || isFloat(c) {
		return false
	}
	for _, f := range fusions {
		if u.c.target.SM >= f.sm && has(f.producer, p.Op.Name) && has(f.consumer, c.Op.Name) && (f.consumer != extrema || p.Op.Text == c.Op.Text) {
			return true
		}
	}
	return false
}

func isFloat(in *observe.Inst) bool {
	for _, m := range in.Op.Mods {
		if strings.HasPrefix(m, "f16") || strings.HasPrefix(m, "bf16") || m == "f32" || m == "f64" {
			return true
		}
	}
	return false
}

func has(list, name string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == name {
			return true
		}
	}
	return false
}
