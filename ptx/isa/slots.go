package isa

// Deps holds the slots on which an operand depends. A slot is -1 if the operand does not depend
// on one.
type Deps struct {
	Type   int // the slot that names the type
	Count  int // the slot that gives the length
	Space  int // the slot that names the state space
	Coords int // the slot that gives the number of coordinates
}

// Deps returns the slots on which the operand depends.
func (p *Param) Deps() Deps {
	return Deps{p.typ.slot, p.count.slot, p.spaceSlot, p.coords}
}

// CountDiv returns the divisor of a length that depends on a matrix shape: the length is
// N/CountDiv for the N of the shape in slot Deps.Count. It returns 0 if the number in the slot
// is the length.
func (p *Param) CountDiv() int { return p.count.div }
