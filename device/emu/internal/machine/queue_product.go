package machine

import "slices"

// QueuedProduct is a wgmma that has not taken effect.
type QueuedProduct struct {
	Group uint32
	Frame *Frame // the frame that holds the accumulators
	Sums  []Slot // the accumulators
	Run   func()
}

// productQueue holds the wgmma instructions of a warp that have not taken effect.
type productQueue struct {
	Items   []QueuedProduct
	Groups  uint32
	Last    uint32 // number of groups up to and including the group of the last product
	Waiting bool   // the warp waits for other warps of the warpgroup
}

// Finish computes the products of the first groups.
func (q *productQueue) Finish(groups uint32) {
	n := 0
	for n < len(q.Items) && q.Items[n].Group < groups {
		q.Items[n].Run()
		n++
	}
	q.drop(n)
}

// drop removes the first n products.
func (q *productQueue) drop(n int) {
	rest := copy(q.Items, q.Items[n:])
	clear(q.Items[rest:])
	q.Items = q.Items[:rest]
}

// FinishWriters computes the products that have any of the slots of a frame as an accumulator, and
// the products before them.
func (q *productQueue) FinishWriters(f *Frame, slots []Slot) {
	n := len(q.Items)
	for n > 0 && !q.Items[n-1].writes(f, slots) {
		n--
	}
	for i := range n {
		q.Items[i].Run()
	}
	q.drop(n)
}

func (p *QueuedProduct) writes(f *Frame, slots []Slot) bool {
	return p.Frame == f && slices.ContainsFunc(slots, func(s Slot) bool { return slices.Contains(p.Sums, s) })
}

// FinishAll computes all products.
func (q *productQueue) FinishAll() {
	for i := range q.Items {
		q.Items[i].Run()
	}
	clear(q.Items)
	q.Items = q.Items[:0]
}

// Warpgroup returns the warps of the warpgroup that the warp belongs to.
func (w *Warp) Warpgroup() []*Warp {
	first := w.ID &^ 3
	return w.b.Warps[first:min(first+4, len(w.b.Warps))]
}

// CommitProducts closes the present group of wgmma instructions.
func (w *Warp) CommitProducts() {
	w.Async.Products.Groups++
	for _, mate := range w.Warpgroup() {
		if mate.Async.Products.Waiting {
			w.b.changed()
			return
		}
	}
}
