package machine

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// CopyItem is one thread's cp.async, or its arrival at an mbarrier.
type CopyItem struct {
	From  Origin
	Group uint32 // number of the thread's group that it belongs to
	Dst   []byte
	Src   []byte  // may be shorter than Dst: the rest of Dst becomes zero
	Bar   *BarRef // the mbarrier of an arrival, which copies nothing
}

// copyQueue holds the cp.async instructions of a warp's threads that have not taken
// effect.
type copyQueue struct {
	Items    []CopyItem
	Groups   [32]uint32 // how many groups each thread has committed
	Arrivals int
}

// Commit closes the present group of each lane.
func (q *copyQueue) Commit(lanes uint32) {
	for ; lanes != 0; lanes &= lanes - 1 {
		q.Groups[bits.TrailingZeros32(lanes)]++
	}
}

// Finish completes the copies of the lanes, except the copies in the last keep groups and
// in the group that is not committed.
func (q *copyQueue) Finish(lanes, keep uint32) {
	q.sweep(lanes, func(it *CopyItem) bool { return it.Group+keep < q.Groups[it.From.Lane] })
}

// FinishAll completes all copies of the lanes.
func (q *copyQueue) FinishAll(lanes uint32) {
	q.sweep(lanes, func(*CopyItem) bool { return true })
}

// sweep completes the copies of the lanes that are due. An arrival takes effect as soon as
// no earlier copy of its thread is outstanding.
func (q *copyQueue) sweep(lanes uint32, due func(*CopyItem) bool) {
	rest := q.Items[:0]
	var behind uint32 // lanes with outstanding copies
	for i := range q.Items {
		it := &q.Items[i]
		bit := uint32(1) << it.From.Lane
		if lanes&bit == 0 || behind&bit != 0 && it.Bar != nil || it.Bar == nil && !due(it) {
			behind |= bit
			rest = append(rest, *it)
			continue
		}
		q.complete(it)
	}
	clear(q.Items[len(rest):])
	q.Items = rest
}

func (q *copyQueue) complete(it *CopyItem) {
	if it.Bar != nil {
		q.Arrivals--
		it.From.Misuse(it.From.Arrive(*it.Bar, 1, observe.Mbarrier{Op: observe.MbarrierArrive, Late: true}))
		return
	}
	clear(it.Dst[copy(it.Dst, it.Src):])
	it.From.AnnounceCompletion(it.From.Lane, 0, false)
}
