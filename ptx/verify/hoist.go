package verify

import (
	"slices"

	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// hoistDistance is how many instructions earlier ptxas issues a load than the text does, to
// hide its latency. It is fitted to the register counts of the attention kernels.
const hoistDistance = 6

// hoister orders the instructions of a block as ptxas would: loads, and the integer
// instructions that compute their addresses, move up. Their results then live longer, and
// the kernel needs more registers than its text suggests.
type hoister struct {
	c       *code
	address []int32 // by register: the last block in which a load's address depends on it
	list    []int   // scratch for order
	moves   []bool  // by statement: it computes an address
}

func newHoister(c *code) *hoister {
	return &hoister{c: c, address: stamps(len(c.fn.Regs)), moves: make([]bool, len(c.at))}
}

// order returns the statements of block b that are instructions. The next call reuses the
// slice.
func (h *hoister) order(b int) []int {
	blk := &h.c.cfg.Blocks[b]
	h.findAddresses(b)
	h.list = h.list[:0]
	for i := blk.Start; i < blk.End; i++ {
		if h.c.at[i].in == nil {
			continue
		}
		h.list = append(h.list, i)
		if h.isLoad(i) || h.moves[i] {
			h.hoist(i)
		}
	}
	return h.list
}

// findAddresses marks the integer instructions of a block that compute addresses of loads.
func (h *hoister) findAddresses(b int) {
	blk := &h.c.cfg.Blocks[b]
	for i := blk.End - 1; i >= blk.Start; i-- {
		d := &h.c.at[i]
		switch {
		case d.in == nil:
			continue
		case !h.isLoad(i):
			integer := d.match.Form != nil && d.match.Class().Unit == isa.UnitInteger && d.in.Guard.Sym == nil
			h.moves[i] = integer && slices.ContainsFunc(h.c.writes(i), func(r int32) bool { return h.address[r] == int32(b) })
			if !h.moves[i] {
				continue
			}
		}
		for _, r := range h.c.reads(i) {
			h.address[r] = int32(b)
		}
	}
}

// hoist moves the last statement of the list up. It stops before an instruction that the
// statement depends on, and before one that orders memory. Loads stay in their order.
func (h *hoister) hoist(stmt int) {
	at := len(h.list) - 1
	for n := 0; n < hoistDistance && at > 0; n++ {
		before := h.list[at-1]
		if h.orders(before) || h.isLoad(stmt) && h.isLoad(before) || h.depends(stmt, before) {
			break
		}
		h.list[at-1], h.list[at] = stmt, before
		at--
	}
}

// isLoad reports whether the statement is a load that takes time. A guarded load stays
// where its guard is known.
func (h *hoister) isLoad(stmt int) bool {
	d := &h.c.at[stmt]
	if d.match.Form == nil || d.in.Guard.Sym != nil {
		return false
	}
	class := d.match.Class()
	return class.Role == isa.RoleLoad && class.Unit != isa.UnitNone
}

// orders reports whether no load may move across the statement. A load may pass a store:
// ptxas knows their addresses better than this analysis does.
func (h *hoister) orders(stmt int) bool {
	d := &h.c.at[stmt]
	if d.match.Form == nil {
		return true
	}
	class := d.match.Class()
	switch class.Role {
	case isa.RoleNone:
		return class.Unit == isa.UnitBranch
	case isa.RoleLoad, isa.RoleStore, isa.RolePrefetch:
		return false
	}
	return true
}

// depends reports whether two statements must stay in their order because of a register.
func (h *hoister) depends(later, earlier int) bool {
	writes := h.c.writes(later)
	for _, r := range h.c.writes(earlier) {
		if slices.Contains(writes, r) || slices.Contains(h.c.reads(later), r) {
			return true
		}
	}
	return slices.ContainsFunc(h.c.reads(earlier), func(r int32) bool { return slices.Contains(writes, r) })
}
