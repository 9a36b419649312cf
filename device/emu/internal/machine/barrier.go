package machine

// Barrier is one of the sixteen named barriers of a block. A warp arrives when
// all its threads that have not ended have reached the barrier, by any instruction. It then
// counts as 32 threads.
type Barrier struct {
	Count  int // threads that have arrived
	Need   int // threads that it waits for; 0 for all threads of the block
	Active bool
	Warps  []Arrival
	Trues  int // bar.red: threads that arrived with a true predicate
	Falses int // bar.red: threads that arrived with a false predicate
}

// Arrival is the state of one warp at a barrier.
type Arrival struct {
	Arrivals int    // how often the warp has arrived
	Waiting  uint32 // lanes that wait
	counted  uint32 // waiting lanes that an arrival of the warp has counted
	Passed   uint32 // lanes that arrived without waiting and are not counted yet
	Released uint32 // lanes that may continue
	Trues    int    // result of bar.red for the released lanes
	Falses   int
}

// Settle counts the warp if it has arrived, and opens the barrier if enough threads have
// arrived.
func (b *Block) Settle(bar *Barrier, w *Warp) {
	a := &bar.Warps[w.ID]
	live := w.Lanes &^ w.Exited
	here := a.Waiting&^a.counted | a.Passed&live
	arrived := a.Waiting&^a.counted | a.Passed
	if arrived != 0 && live&^(here|a.counted) == 0 {
		bar.Count += 32
		a.Arrivals++
		a.counted = a.Waiting
		a.Passed = 0
	}
	if bar.Active && bar.Count > 0 && bar.Count >= bar.Needed(b) {
		bar.open(b)
	}
}

// Needed returns how many threads complete the barrier. The barrier does not wait for
// warps that have ended.
func (bar *Barrier) Needed(b *Block) int {
	if bar.Need != 0 {
		return bar.Need
	}
	n := 0
	for i, w := range b.Warps {
		if w.Lanes&^w.Exited != 0 || bar.Warps[i].Arrivals > 0 {
			n += 32
		}
	}
	return n
}

// open releases all waiting threads and resets the barrier for its next use.
func (bar *Barrier) open(b *Block) {
	bar.announceOpen(b)
	for i := range bar.Warps {
		a := &bar.Warps[i]
		a.Released |= a.counted
		a.Waiting &^= a.counted
		a.Trues, a.Falses = bar.Trues, bar.Falses
		a.counted, a.Arrivals = 0, 0
	}
	bar.Count, bar.Need, bar.Active = 0, 0, false
	bar.Trues, bar.Falses = 0, 0
	for i := range bar.Warps { // lanes of warps that have not arrived yet
		if a := &bar.Warps[i]; a.Waiting|a.Passed != 0 {
			bar.Active = true
		}
	}
	b.changed()
}
