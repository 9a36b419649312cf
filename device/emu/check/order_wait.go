package check

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// blameWait names the wait before a race with the copy e, if its threads have waited since they
// started the copy, but with a count that leaves the copy in flight.
func (c *orderWatch) blameWait(d *finding.Finding, e *event) {
	k := e.work
	if k == nil || k.start.class.role != roleCopy || len(k.done) > 0 || !c.knowsStart(k, uint32(d.Other.Lanes)) {
		return
	}
	w := k.start.w
	i := slices.IndexFunc(w.copies.items, func(it grouped) bool { return it.k == k && it.left.wait })
	if i < 0 {
		return
	}
	it := &w.copies.items[i]
	wait := w.cl.at(it.left.id, w.rank, w.index, it.lanes)
	wait.Note = "the last wait: " + it.left.say()
	d.Wait = &wait
	d.Why = "asynchronous work takes effect at any time until a wait covers it; the last wait does not cover this copy"
	if it.left.newer < 0 {
		d.Fix = "commit the group (cp.async.commit_group, __pipeline_commit) before the wait"
		return
	}
	d.Fix = fmt.Sprintf("where %s newer than this copy, wait with a count of at most %d (cp.async.wait_group, __pipeline_wait_prior), then let other threads pass a barrier; or commit an empty group where no copy is left to start",
		groupsAre(it.left.newer), it.left.newer)
}

// say returns what a wait left in flight.
func (l leftBy) say() string {
	group := "the newest group"
	if l.keep != 1 {
		group = fmt.Sprintf("the newest %d groups", l.keep)
	}
	switch {
	case l.newer < 0:
		return "the copy was in no committed group yet"
	case l.keep == 1:
		return "it leaves " + group + " in flight, and the copy is in that group"
	case l.newer == 0:
		return "it leaves " + group + " in flight, and the copy is in the newest one"
	}
	return fmt.Sprintf("it leaves %s in flight, and the copy is in one of them: %s newer", group, groupsAre(l.newer))
}

// groupsAre returns "no group is", "1 group is" or "2 groups are".
func groupsAre(n int) string {
	if n == 0 {
		return "no group is"
	}
	return english.Are(n, "group")
}
