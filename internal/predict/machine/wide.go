package machine

import (
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// widest is the number of bytes that one load of a lane reads at most.
const widest = 16

// wordBytes is the size of the loads that are joined.
const wordBytes = 4

// joinLoads joins loads of neighbouring words of shared memory to wider ones, as ptxas does if it can
// prove that the address is aligned. The first load stays and moves the bytes of all; the results of
// the others are there when its own is.
func (u *unitFunc) joinLoads(program []observe.Inst) {
	def := u.definitions(program)
	for b := range u.insts {
		words := map[word]int32{} // loads that nothing has ordered since
		join := func() {
			u.joinWords(&def, words)
			clear(words)
		}
		for _, id := range u.insts[b] {
			o := &u.c.ops[id]
			if at, ok := u.sharedWord(&program[id], o); ok {
				if _, repeated := words[at]; !repeated {
					words[at] = id
				}
			} else if o.cost.kind != plain && o.cost.kind != loads || changes(words, o) {
				join()
			}
		}
		join()
	}
}

// changes reports whether an operation writes a register that an address depends on.
func changes(words map[word]int32, o *Op) bool {
	for at := range words {
		if slices.Contains(o.writes, at.base) {
			return true
		}
	}
	return false
}

// word is a word of shared memory: an offset from a register.
type word struct {
	base   int32
	offset int64
}

// sharedWord returns the word that an instruction loads.
func (u *unitFunc) sharedWord(in *observe.Inst, o *Op) (word, bool) {
	if o.cost.kind != loads || in.Op.Name != "ld" || !in.Op.Has("shared") || in.Guard.Sym != nil || len(o.writes) != 1 || len(in.Args) != 2 {
		return word{}, false
	}
	if in.Op.Has("volatile") || in.Op.Has("relaxed") || in.Op.Has("acquire") || !(in.Op.Has("f32") || in.Op.Has("b32") || in.Op.Has("u32") || in.Op.Has("s32")) {
		return word{}, false
	}
	a := &in.Args[1]
	if a.Kind != ptx.AddrOperand || a.Sym == nil || a.Sym.Kind != ptx.RegSymbol || !u.single(o.writes[0]) {
		return word{}, false
	}
	return word{u.reg(a.Sym), a.Val}, true
}

// joinWords joins the loads of whole groups of neighbours, four words if possible, else two.
func (u *unitFunc) joinWords(def *aligner, words map[word]int32) {
	for bytes := int64(widest); bytes > wordBytes; bytes /= 2 {
		for at := range words {
			if at.offset%bytes != 0 || def.register(at.base) < bytes {
				continue
			}
			ids := u.neighbours(words, at, bytes)
			if ids == nil {
				continue
			}
			first := ids[0]
			for _, id := range ids {
				first = min(first, id)
			}
			for i, id := range ids {
				delete(words, word{at.base, at.offset + int64(i)*wordBytes})
				if id != first {
					u.replaceReads(&u.c.ops[id], u.c.ops[first].writes)
					u.remove(id)
				}
			}
			u.c.ops[first].joined = len(ids)
		}
	}
}

// neighbours returns the loads of all words of a group, or nil if one is missing.
func (u *unitFunc) neighbours(words map[word]int32, at word, bytes int64) (ids []int32) {
	for i := int64(0); i < bytes; i += wordBytes {
		id, ok := words[word{at.base, at.offset + i}]
		if !ok {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// definitions returns the instructions that define each register.
func (u *unitFunc) definitions(program []observe.Inst) aligner {
	def := aligner{u: u, def: map[int32][]*observe.Inst{}, known: map[int32]int64{}}
	for b := range u.insts {
		for _, id := range u.insts[b] {
			for _, r := range u.c.ops[id].writes {
				def.def[r] = append(def.def[r], &program[id])
			}
		}
	}
	return def
}

// aligner finds out which powers of two divide the values of registers.
type aligner struct {
	u     *unitFunc
	def   map[int32][]*observe.Inst
	known map[int32]int64
}

// register returns a power of two up to widest that divides the value of a register, as far as the
// instructions show that compute it. A register that is computed from itself, as the counter of a loop
// is, has the alignment of its other operands.
func (a *aligner) register(r int32) int64 {
	if n, ok := a.known[r]; ok {
		return n
	}
	n := int64(widest)
	a.known[r] = n
	for _, in := range a.def[r] {
		n = min(n, a.result(in))
	}
	if len(a.def[r]) == 0 {
		n = 1
	}
	a.known[r] = n
	return n
}

// result returns a power of two that divides the result of an instruction.
func (a *aligner) result(in *observe.Inst) int64 {
	of := func(i int) int64 { return a.operand(&in.Args[i]) }
	switch in.Op.Name {
	case "mov", "cvta":
		return of(1)
	case "add", "sub", "or", "xor":
		return min(of(1), of(2))
	case "and":
		return max(of(1), of(2))
	case "shl":
		if n := in.Args[2]; n.Kind == ptx.ImmOperand && n.Val >= 0 {
			return min(widest, of(1)<<min(n.Val, 8))
		}
	case "mul":
		return min(widest, of(1)*of(2))
	case "mad":
		return min(widest, of(1)*of(2), of(3))
	}
	return 1
}

// operand returns a power of two up to widest that divides an operand.
func (a *aligner) operand(x *ptx.Operand) int64 {
	switch x.Kind {
	case ptx.ImmOperand:
		if x.Val == 0 {
			return widest
		}
		return min(widest, int64(1)<<bits.TrailingZeros64(uint64(x.Val)))
	case ptx.RegOperand:
		if x.Sym.Kind == ptx.RegSymbol {
			return a.register(a.u.reg(x.Sym))
		}
	case ptx.SymOperand:
		if x.Val%widest == 0 {
			return widest // ptxas places variables
		}
	}
	return 1
}
