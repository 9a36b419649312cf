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

// compare compares the current access with an earlier access of lanes to the same cell. It
// reports a race or a missing proxy fence.
func (c *orderWatch) compare(e *event, lanes uint32, wrote bool) {
	cur := &c.cur
	if mayOverlap(e, cur.e) {
		return
	}
	if !c.before(e, lanes, wrote) {
		c.reportRace(e, lanes, wrote, cur.write && wrote && e.work == nil && c.silent())
		return
	}
	if wrote && cur.e.class.nc || cur.write && e.class.nc {
		c.reportReadOnly(e, lanes, wrote)
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
		c.reportUnfenced(e, lanes, wrote)
	}
}

// mayOverlap reports whether two accesses may overlap without order. PTX calls such accesses
// morally strong: both are strong, and both access the same bytes.
func mayOverlap(e, f *event) bool { return strongBoth(e, f) && sameElements(e.class, f.class) }

// sameElements reports whether strong accesses that overlap access the same bytes. Accesses are
// aligned to their size, so the sizes of their elements tell.
func sameElements(c, d *class) bool {
	return c.element == d.element || c.element == 0 || d.element == 0
}

// strongBoth reports whether two accesses are strong with respect to each other: they use the same
// proxy, and the scope of each includes the thread of the other.
func strongBoth(e, f *event) bool {
	if !e.class.strong || !f.class.strong || e.class.proxy != f.class.proxy {
		return false
	}
	return min(e.class.scope, f.class.scope) >= distance(e.w, f.w)
}

// distance returns the smallest scope that includes two warps.
func distance(a, b *warp) scope {
	switch {
	case a.cl != b.cl:
		return scopeGPU
	case a.rank != b.rank:
		return scopeCluster
	}
	return scopeBlock
}

// silent reports whether the current access stores the value that the memory already has.
func (c *orderWatch) silent() bool {
	a := c.cur.a
	if !a.Write || bits.OnesCount32(c.cur.lanes) != 1 || a.Offsets == nil {
		return false
	}
	lane := bits.TrailingZeros32(c.cur.lanes)
	data, ok := a.Stored(&c.l.Program[a.ID], lane)
	return ok && bytes.Equal(data, c.bytes(int(a.Offsets[lane]), len(data)))
}

// bytes returns n bytes at an offset of the memory of the current access.
func (c *orderWatch) bytes(off, n int) []byte {
	a := c.cur.a
	if a.Space == ptx.Shared {
		return c.Blocks[a.Block].Memory[off:][:n]
	}
	return a.Alloc.Data[off:][:n]
}

// sameStore reports lanes that store to the same bytes with one instruction. It is a warning if
// all of them store the same value.
func (c *orderWatch) sameStore(lanes uint32) {
	a, in := c.cur.a, &c.l.Program[c.cur.a.ID]
	if a.Offsets == nil {
		return
	}
	me := bits.TrailingZeros32(c.cur.lanes)
	mine, ok := a.Stored(in, me)
	same := ok
	for m := lanes &^ c.cur.lanes; m != 0 && same; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		// stmatrix announces the eight rows of a matrix one by one before it writes them.
		together := a.Mask>>l&1 != 0 || in.Op.Name == "stmatrix" && l/8 == me/8 && l < me
		if together && a.Offsets[l] == a.Offsets[me] {
			theirs, ok := a.Stored(in, l)
			same = ok && bytes.Equal(mine, theirs)
		} else {
			same = bytes.Equal(mine, c.bytes(int(a.Offsets[me]), len(mine)))
		}
	}
	c.reportRace(c.cur.e, lanes&^c.cur.lanes, true, same)
}

// here returns the place of the current access.
func (c *orderWatch) here() finding.Place {
	cur := &c.cur
	a := c.at(cur.a.ID, cur.a.Rank, cur.a.Warp, cur.lanes)
	if cur.a.Offsets == nil && cur.e.site != nil { // the access has no state to ask: see mergeCell
		from(&a, cur.e.site)
	} else {
		at := c.l.siteOf(cur.a)
		from(&a, &at)
	}
	a.Action = action(cur.e, cur.write)
	c.setAccess(&a, cur.e)
	return a
}

// there returns the place of an earlier access to the same cell.
func (c *orderWatch) there(e *event, lanes uint32, wrote bool) finding.Place {
	a := e.w.cl.at(e.id, e.w.rank, e.w.index, lanes)
	from(&a, e.site)
	if e.work != nil && e.work.lane >= 0 {
		a.Lanes = 1 << e.work.lane
	}
	a.Action = action(e, wrote)
	c.setAccess(&a, e)
	return a
}

// setAccess sets the memory of a place: the bytes that a lane accessed by the event e, and that
// the current access overlaps.
func (c *orderWatch) setAccess(a *finding.Place, e *event) {
	off, size := c.extent(e)
	c.setAddress(a, off, size)
}

// extent returns the offset and the size of the access of a lane by the event e that overlaps
// the current access. An access of up to 16 bytes is aligned to its size, so extent finds all of
// it. For a larger access, a bulk copy or a matrix product, it returns the overlap.
func (c *orderWatch) extent(e *event) (off, size int) {
	cur := &c.cur
	if size = int(e.size); size > cellBytes || e.class.role == roleProduct {
		return cur.off, min(size, cur.unit)
	}
	return cur.off &^ (size - 1), size
}

// part returns a place with the address of the present unit of the current access.
func (c *orderWatch) part() (p finding.Place) {
	c.setAddress(&p, c.cur.off, min(c.cur.size, c.cur.unit))
	return p
}

// setAddress sets the address of a place in the memory of the current access.
func (c *orderWatch) setAddress(a *finding.Place, off, size int) {
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

// reportRace reports two accesses that nothing orders.
func (c *orderWatch) reportRace(e *event, lanes uint32, wrote, silent bool) {
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
		d.Message = fmt.Sprintf("several lanes write %s with this instruction: any of the values may remain", here.Address)
	}
	if silent {
		d.Severity = finding.Warning
		d.Message += "; it stores the value that the memory already has"
	}
	d.Why, d.Fix = c.raceRule(e, &there)
	c.blameWait(&d, e)
	c.blameFlag(&d, e, lanes, wrote)
	if strongBoth(e, cur.e) && !sameElements(e.class, cur.e.class) {
		d.Why = fmt.Sprintf("both accesses are strong, but one accesses %s and the other %s: accesses that overlap only in part may tear",
			english.Count(e.class.element, "byte"), english.Count(cur.e.class.element, "byte"))
		d.Fix = "access the memory with the same size everywhere, or order the two accesses"
		if c.emulates(e, cur.e) || c.emulates(cur.e, e) {
			d.Severity = finding.Warning
			d.Why += "; libraries build atomics of bytes and halfwords from a compare-and-swap of the whole word"
		}
	}
	if guessed(e, cur.e) {
		d.Severity = finding.Warning
		d.Why = "by the rules, a plain read beside atomics is a race; many kernels use it as the first guess of a compare-and-swap loop, which notices a wrong guess"
		d.Fix = "read the guess with ld.relaxed (a volatile access)"
	}
	if wrote && cur.write && c.building != nil && e.lanesOf(cur.e) {
		c.building.twin(d, e)
		return
	}
	c.serial++
	switch {
	case !cur.write:
		c.reportLoad(c.serial, d, cur.e, cur.lanes)
	case !wrote:
		c.reportLoad(c.serial, d, e, lanes)
	default:
		c.reportAs(c.serial, d)
	}
}

// blameFlag names the read of a flag that would order two accesses if it were an acquire. The
// read may be by a third thread that passed the flag on.
func (c *orderWatch) blameFlag(d *finding.Finding, e *event, lanes uint32, wrote bool) {
	v := c.cur.v
	loose := v.loose.within(scopeGPU, nil)
	customary := loose != nil && c.known(e, lanes, wrote, true, loose)
	if all := v.relaxed.within(scopeGPU, loose); !customary && (all == loose || !c.known(e, lanes, wrote, true, all)) {
		return
	}
	d.Why = "a flag that was set after the other access has been read before this access, but the read of the flag is not an acquire"
	if customary {
		d.Severity = finding.Warning
		d.Why += "; many kernels rely on it, but PTX does not promise it"
	}
	d.Fix = "fence.acq_rel (__threadfence) after the read of the flag, or ld.acquire, with a scope that includes both threads"
}

// lanesOf reports whether two lanes of a warp started the copies e and f by one instruction.
func (e *event) lanesOf(f *event) bool {
	return e.work != nil && e.work != f.work && e.w == f.w && e.id == f.id && e.time == f.time
}

// twin is a race between the copies that two lanes start by the same instruction.
type twin struct {
	d     finding.Finding
	other *event
}

// twin keeps a race until the source of the copy is known: see judgeTwins. It keeps one race
// per other copy.
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

// judgeTwins reports the races that twin has kept. Lanes that copy the same bytes to the same
// place do no harm: some libraries let all lanes of a warp store a tile.
func (c *orderWatch) judgeTwins(k *work) {
	for _, t := range k.twins {
		if t.other.work.source == k.source && k.source >= 0 {
			t.d.Severity = finding.Warning
			t.d.Message += "; several lanes start the same copy"
			t.d.Why = "each lane starts a copy of its own; all of them bring the same bytes, so the result is right, but the work is done several times"
			t.d.Fix = "let one lane start the copy: elect.sync"
		}
		c.report(t.d)
	}
	k.twins = nil
}

// raceRule returns why two accesses race and what would order them.
func (c *orderWatch) raceRule(e *event, there *finding.Place) (why, fix string) {
	cur := &c.cur
	switch {
	case e.work != nil && len(e.work.done) == 0 && !c.knowsStart(e.work, uint32(there.Lanes)):
		return "nothing orders this access and the start of the asynchronous work, which takes effect at any time until a wait covers it",
			"if the access must come first, put a barrier before the start, or an arrival that the starting thread waits for; if it needs the result of the work: " + asyncFix(e.class)
	case e.work != nil && len(e.work.done) == 0:
		return "asynchronous work takes effect at any time until a wait covers it, and no thread has waited for this work",
			asyncFix(e.class)
	case e.work != nil:
		return "a thread has waited for the asynchronous work, but nothing orders that wait before this access",
			"let this thread wait as well, or put a barrier after the wait"
	case e.w.cl != c || e.w.rank != cur.e.w.rank && cur.a.Space == ptx.Global:
		return "blocks run in any order, at the same time or one after the other",
			"let each block write its own part, use atomics, or pass a flag: write, fence.acq_rel.gpu (__threadfence), then an atomic or volatile flag"
	case cur.e.work != nil:
		return "asynchronous work may take effect as soon as it is started, and the other access is not ordered before the start",
			"order the other access before the start: a barrier, or an arrival that the starting thread waits for"
	case e == cur.e:
		return "if several lanes store to one address by one instruction, it is not specified whose value remains",
			"let one lane store, or give each lane an address of its own"
	case e.w == cur.e.w:
		return "lanes of a warp run independently; that they usually run in step does not order their accesses",
			"put bar.warp.sync (__syncwarp) between the two"
	case e.w.rank != cur.e.w.rank:
		return "blocks of a cluster run independently",
			"put barrier.cluster.arrive and wait (cluster.sync()) between the two"
	}
	return "warps of a block run in any order unless a barrier stands between the accesses",
		"put bar.sync (__syncthreads) between the two, or let one arrive at an mbarrier that the other waits for; if both warps update the same elements, let one warp own them"
}

// knowsStart reports whether the start of asynchronous work by lanes is ordered before
// the current access.
func (c *orderWatch) knowsStart(k *work, lanes uint32) bool {
	if k.start.w == c.cur.e.w {
		lanes &^= c.cur.lanes
	}
	return lanes == 0 || c.entry(k.start.w.cl, k.start.w.agent, c.cur.v.c).covers(lanes, k.start.time)
}

func asyncFix(c *class) string {
	switch c.role {
	case roleCopy:
		return "cp.async.wait_group with a count that covers the group of this copy (0 if there are no newer groups), then a barrier for other threads"
	case roleProduct:
		return "wgmma.wait_group before the memory is used again"
	}
	return "wait for the mbarrier that counts its bytes (loads), or for the bulk group (stores)"
}

// reportUnfenced reports an access through the async proxy that may not see an earlier generic access.
func (c *orderWatch) reportUnfenced(e *event, lanes uint32, wrote bool) {
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
		d.Why += "; copies that arrive at an mbarrier by themselves need the fence too, but many kernels leave it out"
	case !wrote && (c.throughMbarrier(e, lanes) || c.l.library(&c.l.Program[c.cur.a.ID])):
		return // no library has a fence where a ring frees its slots
	case !wrote:
		d.Severity = finding.Note
		d.Why += "; a read that is followed by an asynchronous write needs the fence too, but many kernels leave it out"
	}
	c.report(d)
}

// throughMbarrier reports whether an mbarrier orders a read before the current access.
func (c *orderWatch) throughMbarrier(e *event, lanes uint32) bool {
	for _, b := range c.barList {
		known := c.cur.v.c.at(b.agent).all
		if known == 0 || b.phase-known >= recentPhases {
			continue
		}
		if c.known(e, lanes, false, false, b.recent[known%recentPhases].c) {
			return true
		}
	}
	return false
}

// emulates reports whether e may be an atomic of a byte or halfword that is built from a
// compare-and-swap of its word, as libcu++ does, and f a strong access to the byte or halfword.
func (c *orderWatch) emulates(e, f *event) bool {
	return c.l.Program[e.id].Op.Has("cas") && e.class.element == 4 && f.class.element < 4
}

// reportReadOnly reports a non-coherent load of memory that the kernel writes. It is a warning if
// the load is ordered before the write: then the load cannot find stale data.
func (c *orderWatch) reportReadOnly(e *event, lanes uint32, wrote bool) {
	here, there := c.here(), c.there(e, lanes, wrote)
	load, d := &there, finding.Finding{Kind: NonCoherent, Severity: finding.Warning, Place: here, Other: &there}
	if c.cur.e.class.nc {
		load, d.Severity = &here, finding.Error
	}
	d.Message = fmt.Sprintf("%s of %s, and %s at line %d: the kernel writes memory that %s reads as read-only",
		here.Action, here.Address, there.Action, there.Pos.Line, load.Inst)
	c.report(d)
}

// checkReserved reports an access to a gap between variables or to an mbarrier. It returns true: such an
// access needs no further checks.
func (c *orderWatch) checkReserved(at *cell) bool {
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
			Message: fmt.Sprintf("%s of %s, which holds an mbarrier", a.Action, part.Address),
			Why:     "the bytes of an mbarrier may be used for something else only after mbarrier.inval",
			Fix:     "invalidate the mbarrier first, or use other memory",
		})
	}
	return true
}

// mbarrierAccess returns the place of an operation on an mbarrier.
func (c *orderWatch) mbarrierAccess(e *observe.Mbarrier) finding.Place {
	a := c.at(e.ID, e.Rank, e.Warp, e.Mask)
	c.l.touchShared(&a, e.Offset, mbarrierBytes, "")
	a.Action = "use"
	return a
}
