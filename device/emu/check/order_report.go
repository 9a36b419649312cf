package check

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
)

// against holds the current access against an earlier one of lanes to the same
// cell, a write or a read.
func (c *ordered) against(e *event, lanes uint32, wrote bool) {
	cur := &c.cur
	if strongBoth(e, cur.e) {
		return
	}
	if !c.before(e, lanes, wrote) {
		c.race(e, lanes, wrote, cur.write && wrote && e.work == nil && c.silent())
		return
	}
	if !cur.e.class.proxy || e.class.proxy {
		return
	}
	fenced := cur.v.shared
	if cur.a.Space == ptx.Global {
		fenced = cur.v.global
	}
	if !c.known(e, lanes, wrote, false, fenced) {
		c.unfenced(e, lanes, wrote)
	}
}

// strongBoth reports whether two accesses may meet without being ordered: both are
// atomic or volatile, in the same proxy, and each for the other's scope.
func strongBoth(e, f *event) bool {
	if !e.class.strong || !f.class.strong || e.class.proxy != f.class.proxy {
		return false
	}
	sameBlock := e.w.cl == f.w.cl && e.w.rank == f.w.rank
	return sameBlock || e.class.wide && f.class.wide
}

// silent reports whether the current access is a store of what is there already.
func (c *ordered) silent() bool {
	a := c.cur.a
	if !a.Write || bits.OnesCount32(c.cur.lanes) != 1 || a.Offsets == nil {
		return false
	}
	lane := bits.TrailingZeros32(c.cur.lanes)
	data, ok := a.Stored(&c.l.Program[a.ID], lane)
	return ok && bytes.Equal(data, c.bytes(int(a.Offsets[lane]), len(data)))
}

// bytes are those at an offset of the memory of the current access.
func (c *ordered) bytes(off, n int) []byte {
	a := c.cur.a
	if a.Space == ptx.Shared {
		return c.Blocks[a.Block].Memory[off:][:n]
	}
	return a.Alloc.Data[off:][:n]
}

// sameStore judges lanes that store to one place with one instruction: which value
// stays is open, unless it is the same.
func (c *ordered) sameStore(lanes uint32) {
	a, in := c.cur.a, &c.l.Program[c.cur.a.ID]
	if a.Offsets == nil {
		return
	}
	me := bits.TrailingZeros32(c.cur.lanes)
	mine, ok := a.Stored(in, me)
	same := ok
	for m := lanes &^ c.cur.lanes; m != 0 && same; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if a.Mask>>l&1 != 0 && a.Offsets[l] == a.Offsets[me] {
			theirs, ok := a.Stored(in, l)
			same = ok && bytes.Equal(mine, theirs)
		} else {
			same = bytes.Equal(mine, c.bytes(int(a.Offsets[me]), len(mine)))
		}
	}
	c.race(c.cur.e, lanes&^c.cur.lanes, true, same)
}

// here describes the current access.
func (c *ordered) here() finding.Place {
	cur := &c.cur
	a := c.at(cur.a.ID, cur.a.Rank, cur.a.Warp, cur.lanes)
	if cur.a.Offsets == nil && cur.e.site != nil { // it was told of before
		from(&a, cur.e.site)
	} else {
		at := c.l.siteOf(cur.a)
		from(&a, &at)
	}
	a.Action = action(cur.e, cur.write)
	c.placed(&a, cur.e)
	return a
}

// there describes an earlier access to the same cell.
func (c *ordered) there(e *event, lanes uint32, wrote bool) finding.Place {
	a := e.w.cl.at(e.id, e.w.rank, e.w.index, lanes)
	from(&a, e.site)
	if e.work != nil && e.work.lane >= 0 {
		a.Lanes = 1 << e.work.lane
	}
	a.Action = action(e, wrote)
	c.placed(&a, e)
	return a
}

// placed sets the memory of a place: what a lane of the event e accessed, and what the
// current access meets.
func (c *ordered) placed(a *finding.Place, e *event) {
	off, size := c.extent(e)
	c.located(a, off, size)
}

// extent returns the offset and the size of the access of a lane by the event e that
// meets the current access. Accesses of up to 16 bytes are aligned to their size. Of a
// larger one, a bulk copy or a product of matrices, it returns the bytes that meet.
func (c *ordered) extent(e *event) (off, size int) {
	cur := &c.cur
	if size = int(e.size); size > cellBytes || e.class.role == roleProduct {
		return cur.off, min(size, cur.unit)
	}
	return cur.off &^ (size - 1), size
}

// part returns the address of the part of the current access that is at hand.
func (c *ordered) part() (p finding.Place) {
	c.located(&p, c.cur.off, min(c.cur.size, c.cur.unit))
	return p
}

// located sets the address of a place in the memory of the current access.
func (c *ordered) located(a *finding.Place, off, size int) {
	if c.cur.a.Space != ptx.Shared {
		c.l.touchGlobal(a, c.cur.a.Alloc, off, size)
		return
	}
	owner := ""
	if len(c.Blocks) > 1 {
		owner = fmt.Sprintf("block %d of the cluster", c.cur.a.Block)
	}
	c.l.touchShared(a, off, size, owner)
}

func action(e *event, wrote bool) string {
	s := "read"
	switch {
	case e.class.atomic:
		s = "atomic update"
	case wrote:
		s = "write"
	}
	if e.work != nil {
		s = "asynchronous " + s
	}
	return s
}

// race reports two accesses that nothing orders.
func (c *ordered) race(e *event, lanes uint32, wrote, silent bool) {
	cur := &c.cur
	here, there := c.here(), c.there(e, lanes, wrote)
	d := finding.Finding{Severity: finding.Error, Place: here, Other: &there}
	async := e.work != nil || cur.e.work != nil
	switch {
	case async:
		d.Kind = AsyncRace
	case cur.a.Space == ptx.Shared:
		d.Kind = SharedRace
	default:
		d.Kind = GlobalRace
	}
	d.Message = fmt.Sprintf("%s of %s is not ordered after the %s at line %d", here.Action, here.Address, there.Action, there.Pos.Line)
	if e == cur.e {
		d.Message = fmt.Sprintf("several lanes write %s with this instruction: which value stays is open", here.Address)
	}
	if silent {
		d.Severity = finding.Warning
		d.Message += "; it stores the value that is there already"
	}
	d.Why, d.Fix = c.raceRule(e, &there)
	if cur.v.loose != nil && c.known(e, lanes, wrote, true, cur.v.loose) {
		d.Why = "the thread has seen a flag that was set after the other access, but by a read that is no acquire"
		if !c.relaxed {
			d.Severity = finding.Warning
			d.Why += "; it is widely done, and nothing promises it"
		}
		d.Fix = "fence.acq_rel (__threadfence) after the read of the flag, or ld.acquire"
	}
	if guessed(e, cur.e) {
		d.Severity = finding.Warning
		d.Why = "a plain read beside atomics is a race by the rules; as the first guess of a compare-and-swap it is widely done, since a wrong guess is found out"
		d.Fix = "read it with ld.relaxed (a volatile access), if at all"
	}
	if wrote && cur.write && cur.e.work != nil && e.lanesOf(cur.e) {
		c.building.twin(d, e)
		return
	}
	c.report(d)
}

// lanesOf reports whether other lanes of the warp started two copies by one instruction.
func (e *event) lanesOf(f *event) bool {
	return e.work != nil && e.work != f.work && e.w == f.w && e.id == f.id && e.time == f.time
}

// twin is a race of a copy with that of another lane, by the same instruction.
type twin struct {
	d     finding.Finding
	other *event
}

// twin keeps a race until it is known what the copy reads, once for each other copy.
func (k *work) twin(d finding.Finding, other *event) {
	for i := range k.twins {
		if t := &k.twins[i]; t.other == other {
			t.d.Count++
			return
		}
	}
	d.Count = 1
	k.twins = append(k.twins, twin{d, other})
}

// judgeTwins reports the races that wait for the current copy to be known. Lanes that
// all bring the same bytes to the same place do no harm; libraries let a warp store a
// tile in this way.
func (c *ordered) judgeTwins(k *work) {
	for _, t := range k.twins {
		if t.other.work.source == k.source && k.source >= 0 {
			t.d.Severity = finding.Warning
			t.d.Message += "; it is the same copy, started by several lanes"
			t.d.Why = "each lane starts a copy of its own; as all bring the same bytes it does no harm"
			t.d.Fix = "let one lane start it: elect.sync"
		}
		c.report(t.d)
	}
	k.twins = nil
}

// raceRule says why two accesses race and what would order them.
func (c *ordered) raceRule(e *event, there *finding.Place) (why, fix string) {
	cur := &c.cur
	switch {
	case e.work != nil && len(e.work.done) == 0 && !c.knowsStart(e.work, uint32(there.Lanes)):
		return "nothing orders this access and the start of the asynchronous work, which takes effect at any time until a wait covers it",
			"if the access is to come first: a barrier before the start, or an arrival that the starting thread waits for; if it needs what the work brings: " + asyncFix(e.class)
	case e.work != nil && len(e.work.done) == 0:
		return "asynchronous work takes effect at any time until a wait covers it, and nothing has waited for this one",
			asyncFix(e.class)
	case e.work != nil:
		return "somebody has waited for the asynchronous work, but nothing orders that wait before this access",
			"have this thread wait as well, or put a barrier after the wait"
	case e.w.cl != c || e.w.rank != cur.e.w.rank && cur.a.Space == ptx.Global:
		return "blocks run in any order, at the same time or one after the other",
			"let each block write its own part, use atomics, or pass a flag: write, fence.acq_rel.gpu (__threadfence), then an atomic or volatile flag"
	case cur.e.work != nil:
		return "asynchronous work may take effect as soon as it is started, and this was not ordered before",
			"order the access before the start: a barrier, or an arrival that the starting thread waits for"
	case e == cur.e:
		return "of several stores to one address by one instruction an unspecified one wins",
			"let one lane store, or give each lane an address of its own"
	case e.w == cur.e.w:
		return "lanes of a warp run independently; that they usually run in step orders nothing",
			"put bar.warp.sync (__syncwarp) between the two"
	case e.w.rank != cur.e.w.rank:
		return "blocks of a cluster run independently",
			"put barrier.cluster.arrive and wait (cluster.sync()) between the two"
	}
	return "warps of a block run in any order unless a barrier stands between",
		"put bar.sync (__syncthreads) between the two, or an mbarrier that one arrives at and the other waits for"
}

// knowsStart reports whether the start of asynchronous work by lanes is ordered before
// the current access.
func (c *ordered) knowsStart(k *work, lanes uint32) bool {
	if k.start.w == c.cur.e.w {
		lanes &^= c.cur.lanes
	}
	return lanes == 0 || c.entry(k.start.w.cl, k.start.w.agent, c.cur.v.c).covers(lanes, k.start.time)
}

func asyncFix(c *class) string {
	switch c.role {
	case roleCopy:
		return "cp.async.wait_group (with a count that covers this copy's group: without newer groups it is 0), then a barrier for other threads"
	case roleProduct:
		return "wgmma.wait_group before the memory is used again"
	}
	return "wait for the mbarrier that counts its bytes (loads), or for the bulk group (stores)"
}

// unfenced reports generic accesses that the async proxy may not see.
func (c *ordered) unfenced(e *event, lanes uint32, wrote bool) {
	here, there := c.here(), c.there(e, lanes, wrote)
	d := finding.Finding{
		Kind: ProxyFence, Severity: finding.Error, Place: here, Other: &there,
		Message: fmt.Sprintf("%s of %s comes after the %s at line %d without fence.proxy.async", here.Action, here.Address, there.Action, there.Pos.Line),
		Why:     "bulk copies and wgmma access memory through the async proxy, which sees what threads did only after a proxy fence",
		Fix:     "fence.proxy.async after the " + there.Action + " and before the barrier that publishes it, or before the " + here.Action,
	}
	switch {
	case e.class.role == roleCopy && e.work.arrives():
		d.Severity = finding.Warning
		d.Why += "; copies that arrive at an mbarrier by themselves need it as well, though for them it is widely left out"
	case !wrote:
		d.Severity = finding.Warning
		d.Why += "; a read that is followed by an asynchronous write needs it too, though it is widely left out"
	}
	c.report(d)
}

// early is a read of what nobody had written. It is a defect of its own unless a
// write comes that races with it: then that is the defect, and in another run the
// write comes first.
type early struct {
	e      *event
	lanes  uint32
	a      finding.Place
	where  string // the address of the bytes that nobody has written
	serial int
	rows   *bool // of a factor of wgmma, where whole rows are missing: see factor
}

// unwritten notes a read of what nobody has written.
func (c *ordered) unwritten(at *cell) {
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
	at.ext.early = append(at.ext.early, early{c.cur.e, c.cur.lanes, c.here(), c.part().Address, c.serial, c.missingRow()})
}

// settle judges early reads of a cell that is written now.
func (c *ordered) settle(at *cell) {
	for i := range at.ext.early {
		if r := &at.ext.early[i]; c.before(r.e, r.lanes, false) {
			c.uninitialised(r)
		}
	}
	at.ext.early = nil
}

// neverWritten reports the early reads that no write has come for.
func (c *ordered) neverWritten() {
	for _, cells := range c.shared {
		cells.each(func(at *cell, _, _ int) { at.eachEarly(c.uninitialised) })
	}
}

// eachEarly calls do for the early reads of a cell.
func (c *cell) eachEarly(do func(r *early)) {
	if c.ext == nil {
		return
	}
	for i := range c.ext.early {
		do(&c.ext.early[i])
	}
}

func (c *ordered) uninitialised(r *early) {
	d := finding.Finding{
		Kind: UninitShared, Severity: finding.Error, Place: r.a,
		Message: fmt.Sprintf("%s of %s, which nobody has written", r.a.Action, r.where),
		Why:     "shared memory holds anything when a block starts",
		Fix:     "write it first: fill the rest of a partial tile with zeros, or do not read it",
	}
	if r.rows != nil && *r.rows {
		d.Severity = finding.Warning
		d.Message += ", though other rows of the matrix are"
		d.Why += "; it does no harm if what comes of these rows is masked or never used"
	}
	c.reportAs(r.serial, d)
}

// odd judges an access to memory that holds no data. It reports whether that is all
// there is to say.
func (c *ordered) odd(at *cell) bool {
	a, part := c.here(), c.part()
	if at.flags&isGap != 0 {
		over := 0
		for _, v := range c.l.Shared {
			if observe.SourceName(v.Name) == part.Var {
				over = int(part.Offset) - v.Size
			}
		}
		c.report(finding.Finding{
			Kind: OOBShared, Severity: finding.Error, Place: a,
			Message: fmt.Sprintf("%s of %s is %s past the end of the variable", a.Action, part.Address, english.Count(over, "byte")),
		})
		return true
	}
	if c.cur.write {
		c.report(finding.Finding{
			Kind: MbarrierMisuse, Severity: finding.Error, Place: a,
			Message: fmt.Sprintf("%s of %s, where an mbarrier lives", a.Action, part.Address),
			Why:     "the bytes of an mbarrier may be used for something else only after mbarrier.inval",
			Fix:     "invalidate it first, or keep it elsewhere",
		})
	}
	return true
}

// mbarrierAccess describes an operation on an mbarrier.
func (c *ordered) mbarrierAccess(e *observe.Mbarrier) finding.Place {
	a := c.at(e.ID, e.Rank, e.Warp, e.Mask)
	c.l.touchShared(&a, e.Offset, mbarrierBytes, "")
	a.Action = "use"
	return a
}
