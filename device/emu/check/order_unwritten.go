package check

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// early is a read of unwritten memory. It is a defect of its own unless a later write races
// with it: then the race is the defect, and in another run the write comes first.
type early struct {
	e      *event
	lanes  uint32
	a      finding.Place
	where  string // the address of the unwritten bytes
	serial int
	rows   *bool // the flag of missingRow
	// certain says of global memory that the launch declares it as undefined.
	certain bool
}

// noteUnwritten records a read of unwritten memory.
func (c *orderWatch) noteUnwritten(at *cell) {
	if a := c.cur.a; a.Space != ptx.Shared && !a.Alloc.Undefined.Has(c.cur.off, min(c.cur.size, c.cur.unit)) {
		return
	}
	if at.ext == nil {
		at.ext = &ext{}
	}
	for i := range at.ext.early {
		if r := &at.ext.early[i]; r.e.id == c.cur.e.id && r.e.time == c.cur.e.time {
			r.lanes |= c.cur.lanes
			return
		}
	}
	c.serial++
	certain := c.cur.a.Alloc != nil && c.cur.a.Alloc.Certain
	at.ext.early = append(at.ext.early, early{c.cur.e, c.cur.lanes, c.here(), c.part().Address, c.serial, c.missingRow(), certain})
}

// reportOrderedReads reports the early reads of a cell that are ordered before the current access, a write. A strong
// read and a strong write in no order are no race, so such a read is reported too.
func (c *orderWatch) reportOrderedReads(at *cell) {
	for i := range at.ext.early {
		if r := &at.ext.early[i]; r.e.class.strong && c.cur.strong() || c.before(r.e, r.lanes, false) {
			c.reportUnwritten(r)
		}
	}
	at.ext.early = nil
}

// checkNeverWritten reports the early reads of memory that was never written.
func (c *orderWatch) checkNeverWritten() {
	for _, cells := range c.shared {
		cells.each(func(at *cell, _, _ int) { at.eachEarly(c.reportUnwritten) })
	}
}

// endLoads reports the early reads of global memory that was never written. It is called before a second
// run of the launch, which follows the values of these reads.
func (o *order) endLoads() {
	if o.loadsEnded {
		return
	}
	o.loadsEnded = true
	o.eachUndefined(func(_ *observe.Alloc, at *cell, _, _ int) {
		at.eachEarly(func(r *early) {
			if !at.wasWritten() || r.e.class.atomic || r.e.class.strong { // an atomic is itself the write, and a strong read races with none
				r.e.w.cl.reportUnwritten(r)
			}
		})
	})
}

// recordWritten records what the launch has written.
func (o *order) recordWritten() {
	o.eachUndefined(func(a *observe.Alloc, at *cell, off, size int) {
		if at.wasWritten() {
			a.Undefined.Remove(off, size)
		}
	})
}

// eachUndefined calls do for each cell of allocations that have undefined bytes.
func (o *order) eachUndefined(do func(a *observe.Alloc, at *cell, off, size int)) {
	all := o.everything
	if all == nil {
		all = &o.merge.all
	}
	for a, cells := range all.allocs {
		if len(a.Undefined) == 0 {
			continue
		}
		cells.each(func(at *cell, off, size int) {
			if at.flags&isSplit == 0 {
				do(a, at, off, size)
			}
		})
	}
}

func (c *cell) wasWritten() bool { return c.w != nil || c.flags&isWritten != 0 }

// eachEarly calls do for each early read of a cell.
func (c *cell) eachEarly(do func(r *early)) {
	if c.ext == nil {
		return
	}
	for i := range c.ext.early {
		do(&c.ext.early[i])
	}
}

func (c *orderWatch) reportUnwritten(r *early) {
	d := finding.Finding{
		Kind: UninitShared, Severity: finding.Error, Place: r.a,
		Message: fmt.Sprintf("%s of %s, which no thread has written", r.a.Action, r.where),
		Why:     "the contents of shared memory are undefined when a block starts",
		Fix:     "write it first: fill the rest of a partial tile with zeros, or do not read it",
	}
	if r.a.Space == "global" {
		d.Kind, d.Why = UninitGlobal, "the launch declares the contents of this buffer as undefined"
		d.Fix = "write it first, or set it before the launch"
		if !r.certain {
			d.Severity = finding.Warning
			d.Why = "the launch poisons this buffer: what it holds is a mark of memory that nobody has set, not data"
		}
	}
	if r.rows != nil && *r.rows {
		d.Severity = finding.Warning
		d.Message += "; other rows of the matrix are written"
		d.Why += "; this does no harm if the results of these rows are masked or never used"
	}
	c.reportLoad(r.serial, d, r.e, r.lanes)
}
