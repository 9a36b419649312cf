package machine

// QueuedProduct is a wgmma that has not taken effect.
type QueuedProduct struct {
	Group uint32
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
	rest := copy(q.Items, q.Items[n:])
	clear(q.Items[rest:])
	q.Items = q.Items[:rest]
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
