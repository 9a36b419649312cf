package parse

import (
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
)

// name is a spelling that occurs in the text, with all its meanings at the place that the
// parser has reached. The parser looks a spelling up once per occurrence and then follows
// pointers to its meaning in each scope.
type name struct {
	text string
	// op is the opcode of that spelling, global the module's symbol, label the one
	// in a DWARF section.
	op     *ptx.Opcode
	global *ptx.Symbol
	label  *ptx.Symbol
	// special is the predefined register.
	special *ptx.Symbol
	// local is the innermost declaration in the function being read, and set the
	// innermost register range with this prefix.
	local *binding
	set   *regRange
	// prefix and num split a name that ends in digits: %r12 is number 12 of the
	// range %r<…>, if there is one.
	prefix *name
	num    uint32
}

// binding is what a name means in one scope.
type binding struct {
	name  *name
	sym   *ptx.Symbol
	depth int
	// pending marks a name that was used and is not declared so far. It may still become
	// a label of this scope or of a scope around it.
	pending bool
	outer   *binding
}

// regRange is a declaration such as %r<100>.
type regRange struct {
	prefix *name
	count  uint32
	typ    ptx.Type
	vec    uint8
	pos    ptx.Pos
	depth  int
	outer  *regRange
}

// intern returns the one name of that spelling.
func (p *parser) intern(text string) *name {
	if n, ok := p.names[text]; ok {
		return n
	}
	n := p.nameSlab.one()
	p.names[text] = n
	n.text = text
	n.special = ptx.Special(text)
	p.split(n)
	return n
}

// split finds the register range that a name can belong to. Like ptxas, it takes all digits
// at the end as the number.
func (p *parser) split(n *name) {
	const mostDigits = 10 // the most digits of a uint32
	i := len(n.text)
	for i > 0 && isDigit(n.text[i-1]) {
		i--
	}
	digits := n.text[i:]
	if i == 0 || digits == "" {
		return
	}
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:] // %r01 is %r1
	}
	if len(digits) > mostDigits {
		return
	}
	if v, err := strconv.ParseUint(digits, 10, 32); err == nil {
		n.prefix, n.num = p.intern(n.text[:i]), uint32(v)
	}
}

// member returns the range that the name belongs to at the current place, or nil.
func (n *name) member() *regRange {
	if n.prefix == nil {
		return nil
	}
	r := n.prefix.set
	for r != nil && n.num >= r.count {
		r = r.outer
	}
	return r
}
