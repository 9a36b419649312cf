package machine

// Barrier is one of the sixteen named barriers of a block. A warp arrives when
// all its threads that have not ended are at it, whichever instruction brought
// them, and then counts as 32 threads.
type Barrier struct {
	Count  int // threads that have arrived
	Need   int // threads it waits for; 0 for all of the block
	Active bool
	Warps  []Arrival
	Trues  int // bar.red: threads that came with a true predicate,
	Falses int // and with a false one
}

// Arrival is what a barrier knows of one warp.
type Arrival struct {
	Came     int    // times the warp has arrived
	Waiting  uint32 // lanes that wait
	counted  uint32 // those of them that came with an arrival of the warp
	Passed   uint32 // lanes that went on without waiting and are not counted yet
	Released uint32 // lanes that may go on
	Trues    int    // what bar.red found, for the released ones
	Falses   int
}

// Settle counts the warp if it has arrived, and opens the barrier if that
// completes it.
func (b *Block) Settle(bar *Barrier, w *Warp) {
	a := &bar.Warps[w.ID]
	live := w.Lanes &^ w.Exited
	here := a.Waiting&^a.counted | a.Passed&live
	came := a.Waiting&^a.counted | a.Passed
	if came != 0 && live&^(here|a.counted) == 0 {
		bar.Count += 32
		a.Came++
		a.counted = a.Waiting
		a.Passed = 0
	}
	if bar.Active && bar.Count > 0 && bar.Count >= bar.Needed(b) {
		bar.open(b)
	}
}

// Needed is how many threads complete the barrier. Warps that have ended are not
// waited for.
func (bar *Barrier) Needed(b *Block) int {
	if bar.Need != 0 {
		return bar.Need
	}
	n := 0
	for i, w := range b.Warps {
		if w.Lanes&^w.Exited != 0 || bar.Warps[i].Came > 0 {
			n += 32
		}
	}
	return n
}

// open lets all waiting threads go and makes the barrier ready for its next use.
func (bar *Barrier) open(b *Block) {
	bar.opened(b)
	for i := range bar.Warps {
		a := &bar.Warps[i]
		a.Released |= a.counted
		a.Waiting &^= a.counted
		a.Trues, a.Falses = bar.Trues, bar.Falses
		a.counted, a.Came = 0, 0
	}
	bar.Count, bar.Need, bar.Active = 0, 0, false
	bar.Trues, bar.Falses = 0, 0
	for i := range bar.Warps { // lanes whose warp had not come yet
		if a := &bar.Warps[i]; a.Waiting|a.Passed != 0 {
			bar.Active = true
		}
	}
	b.changed()
}
