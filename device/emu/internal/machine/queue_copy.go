package machine

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// CopyItem is one thread's cp.async, or its arrival at an mbarrier.
type CopyItem struct {
	From  Origin
	Group uint32 // which of the thread's groups it belongs to
	Dst   []byte
	Src   []byte  // the bytes of dst that it does not reach become zero
	Bar   *BarRef // of an arrival: the mbarrier; nothing is copied
}

// copyQueue is the cp.async instructions of a warp's threads that have not taken
// effect.
type copyQueue struct {
	Items    []CopyItem
	Groups   [32]uint32 // how many groups each thread has committed
	Arrivals int
}

// Commit ends the present group of the lanes.
func (q *copyQueue) Commit(lanes uint32) {
	for ; lanes != 0; lanes &= lanes - 1 {
		q.Groups[bits.TrailingZeros32(lanes)]++
	}
}

// Finish completes the copies of the lanes but those of the last keep groups and
// of the one that is not committed.
func (q *copyQueue) Finish(lanes, keep uint32) {
	q.sweep(lanes, func(it *CopyItem) bool { return it.Group+keep < q.Groups[it.From.Lane] })
}

// FinishAll completes all copies of the lanes.
func (q *copyQueue) FinishAll(lanes uint32) {
	q.sweep(lanes, func(*CopyItem) bool { return true })
}

// sweep completes the copies of the lanes that are due. An arrival follows as soon
// as nothing of its thread that came before it is outstanding.
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
	it.From.Completed(it.From.Lane, 0, false)
}
