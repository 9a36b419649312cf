package difffuzz

import (
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// classes are the registers of the pool. They are untyped: a register holds any type of
// its size.
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

// poolRegisters are the names of all registers of the pool.
var poolRegisters = func() (list []string) {
	for _, c := range classes {
		for i := range c.count {
			list = append(list, "%"+string(c.letter)+strconv.Itoa(i))
		}
	}
	return list
}()

// slot returns the size in bytes of a register of the pool in memory.
func slot(reg string) int {
	if reg[1] == 'q' {
		return 16
	}
	return 8
}

// class returns the letter of the registers that hold a type.
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
	return 'r' // also for bytes, because PTX has no 8-bit registers
}

func count(letter byte) int {
	for _, c := range classes {
		if c.letter == letter {
			return c.count
		}
	}
	return 0
}

// reg returns a random register of a class, to be read.
func (g *gen) reg(letter byte) string {
	return "%" + string(letter) + strconv.Itoa(g.IntN(count(letter)))
}

// out returns the register of a class that was written longest ago. Results then live long
// enough to be read by other instructions and to be stored.
func (g *gen) out(letter byte) string {
	n := g.next[letter]
	g.next[letter]++
	return "%" + string(letter) + strconv.Itoa(n%count(letter))
}

// vector returns n registers in braces. They are all different if written is set.
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

// pred returns a predicate to read, sometimes negated.
func (g *gen) pred() string {
	if g.oneIn(3) {
		return "!" + g.reg('p')
	}
	return g.reg('p')
}
