package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// guesses marks the loads that give a compare-and-swap loop its first guess: plain reads of memory
// that other threads change by atomics. Such a read is formally a race, but textbooks and CUDA's
// own headers use it: a wrong guess only costs another round.
func guesses(program []observe.Inst, classes []class) {
	compared := map[*ptx.Symbol]bool{}
	for id := range program {
		if in := &program[id]; in.Op.Name == "atom" && in.Op.Has("cas") {
			addRegister(compared, in.Arg("b"))
		}
	}
	for grown := len(compared) > 0; grown; {
		grown = false
		for id := range program {
			in := &program[id]
			if in.Op.Name != "mov" || len(in.Args) != 2 || !compared[in.Args[0].Sym] {
				continue
			}
			n := len(compared)
			addRegister(compared, &in.Args[1])
			grown = grown || len(compared) > n
		}
	}
	for id := range program {
		in := &program[id]
		classes[id].guess = in.Op.Name == "ld" && !classes[id].strong && len(in.Args) > 0 && compared[in.Args[0].Sym]
	}
}

func addRegister(set map[*ptx.Symbol]bool, o *ptx.Operand) {
	if o != nil && o.Kind == ptx.RegOperand && o.Sym != nil {
		set[o.Sym] = true
	}
}

// guessed reports whether one of two accesses is the guess of a compare-and-swap loop
// and the other an atomic.
func guessed(e, f *event) bool {
	return e.class.guess && f.class.atomic && f.work == nil || f.class.guess && e.class.atomic && e.work == nil
}
