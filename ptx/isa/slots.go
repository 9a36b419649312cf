package isa

// Deps are the slots an operand depends on, each -1 when none does.
type Deps struct {
	Type   int // names its type
	Count  int // gives its length
	Space  int // names its state space
	Coords int // gives the number of its coordinates
}

// Deps says which slots the operand depends on.
func (p *Param) Deps() Deps {
	return Deps{p.typ.slot, p.count.slot, p.spaceSlot, p.coords}
}

// CountDiv is what N of the shape in slot Deps.Count is divided by to give the
// operand's length, or 0 when the slot's own number is the length.
func (p *Param) CountDiv() int { return p.count.div }
