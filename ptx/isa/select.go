package isa

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// selector describes the selectors of the video instructions, such as .b0 and .h10.
type selector struct {
	letter string // b for bytes, h for halves
	parts  int    // the number of parts that a selector may name: the bytes or halves of one or two registers
	least  int    // the number of digits of a selector
	most   int
	// mask says that the digits name different parts, the highest first.
	mask bool
}

// selectors holds the kinds of selectors. A part is a byte or a half of one register; the digits of
// .b are in the entry "byte".
var selectors = map[string]selector{
	"part":  {"h", 2, 1, 1, false}, // h0, h1, and b0 to b3 of "byte"
	"byte":  {"b", 4, 1, 1, false},
	"mask2": {"h", 2, 1, 2, true},
	"mask4": {"b", 4, 1, 4, true},
	"pick2": {"h", 4, 2, 2, false},
	"pick4": {"b", 8, 4, 4, false},
}

// allows reports whether the word is a selector of the kind.
func (s selector) allows(word string) bool {
	digits, ok := strings.CutPrefix(word, s.letter)
	if !ok || len(digits) < s.least || len(digits) > s.most {
		return false
	}
	for i := range len(digits) {
		d := int(digits[i]) - '0'
		if d < 0 || d >= s.parts || s.mask && i > 0 && digits[i] >= digits[i-1] {
			return false
		}
	}
	return true
}

// selectFits reports whether the selector and the sign of a register fit the parameter.
func (p *Param) selectFits(o *ptx.Operand) bool {
	if o.Flags&ptx.Minus != 0 && !p.Minus {
		return false
	}
	if o.Flags&ptx.Selector == 0 {
		return !p.SelectMust
	}
	word := o.Elems[0].Sym.Name
	return selectors[p.Select].allows(word) || p.Select == "part" && selectors["byte"].allows(word)
}

// Selectors returns examples of the selectors that may follow the operand, or nil.
func (p *Param) Selectors() []string {
	return slices.Clone(map[string][]string{
		"part": {"b0", "h1", "b3", "h0"}, "mask2": {"h0", "h1", "h10"}, "mask4": {"b0", "b31", "b3210"},
		"pick2": {"h10", "h32", "h13"}, "pick4": {"b3210", "b7654", "b4721"},
	}[p.Select])
}
