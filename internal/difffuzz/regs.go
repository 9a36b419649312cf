package difffuzz

import (
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// The pool: registers of bits, which any type of their size fits.
var classes = []struct {
	letter byte
	decl   string
	bytes  int
	count  int
}{
	{'h', ".b16", 2, 8},
	{'r', ".b32", 4, 12},
	{'d', ".b64", 8, 8},
	{'q', ".b128", 16, 2},
	{'p', ".pred", 4, 5},
}

// poolRegisters are all of them, by name.
var poolRegisters = func() (list []string) {
	for _, c := range classes {
		for i := range c.count {
			list = append(list, "%"+string(c.letter)+strconv.Itoa(i))
		}
	}
	return list
}()

// slot is the bytes that a register of the pool takes in memory.
func slot(reg string) int {
	if reg[1] == 'q' {
		return 16
	}
	return 8
}

// class is the letter of the registers that hold a type.
func class(t ptx.Type) byte {
	switch bits := t.Bits(); {
	case t == ptx.Pred:
		return 'p'
	case bits == 128:
		return 'q'
	case bits == 64:
		return 'd'
	case bits == 16:
		return 'h'
	}
	return 'r' // bytes, too: PTX has no registers of 8 bits
}

func count(letter byte) int {
	for _, c := range classes {
		if c.letter == letter {
			return c.count
		}
	}
	return 0
}

// reg is a random register of a class to read.
func (g *gen) reg(letter byte) string {
	return "%" + string(letter) + strconv.Itoa(g.IntN(count(letter)))
}

// out is the register of a class that was written longest ago, so that results live
// long enough to be read and to reach memory.
func (g *gen) out(letter byte) string {
	n := g.next[letter]
	g.next[letter]++
	return "%" + string(letter) + strconv.Itoa(n%count(letter))
}

// vector is n registers in braces: all different when they are written.
func (g *gen) vector(letter byte, n int, written bool) string {
	regs := make([]string, n)
	for i := range regs {
		if written {
			regs[i] = g.out(letter)
		} else {
			regs[i] = g.reg(letter)
		}
	}
	return "{" + strings.Join(regs, ", ") + "}"
}

// pred is a predicate to read, at times negated.
func (g *gen) pred() string {
	if g.one(3) {
		return "!" + g.reg('p')
	}
	return g.reg('p')
}
