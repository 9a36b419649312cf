package verify

// liveness holds the registers that are live where a block starts.
type liveness struct {
	in [][]int32 // by block; in no particular order
	// complete is false when the function needs more than liveBudget entries.
	complete bool
}

// liveBudget limits the entries of all live-in sets together. The largest kernels of
// compilers need a few million; a hostile text could need billions.
const liveBudget = 1 << 24

// live computes liveness one register at a time, backwards from its uses. Its time is
// proportional to the size of the result.
func (c *code) live() *liveness {
	n := len(c.cfg.Blocks)
	w := &liveWalk{c: c, out: &liveness{in: make([][]int32, n), complete: true}, seen: stamps(n), killed: stamps(n)}
	exposed, kills := c.blockUses()
	for r := range c.fn.Regs {
		if !w.register(int32(r), exposed.of(r), kills.of(r)) {
			w.out.complete = false
			break
		}
	}
	return w.out
}

// liveWalk is the state of the walk. It marks blocks with the number of the register, so
// that it need not be cleared for the next register.
type liveWalk struct {
	c            *code
	out          *liveness
	seen, killed []int32
	stack        []int32
	entries      int
}

func stamps(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

func (w *liveWalk) register(r int32, exposed, kills []int32) bool {
	for _, b := range kills {
		w.killed[b] = r
	}
	w.stack = append(w.stack[:0], exposed...)
	for len(w.stack) > 0 {
		b := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if w.seen[b] == r {
			continue
		}
		w.seen[b] = r
		w.out.in[b] = append(w.out.in[b], r)
		if w.entries++; w.entries > liveBudget {
			return false
		}
		for _, p := range w.c.cfg.Blocks[b].Preds {
			if w.killed[p] != r && w.seen[p] != r {
				w.stack = append(w.stack, int32(p))
			}
		}
	}
	return true
}

// table is a list of values for each key, in one allocation.
type table struct{ start, values []int32 }

func (t table) of(key int) []int32 { return t.values[t.start[key]:t.start[key+1]] }

type entry struct{ key, value int32 }

func newTable(keys int, es []entry) table {
	t := table{make([]int32, keys+2), make([]int32, len(es))}
	for _, e := range es {
		t.start[e.key+2]++
	}
	for k := range keys {
		t.start[k+2] += t.start[k+1]
	}
	for _, e := range es {
		t.values[t.start[e.key+1]] = e.value
		t.start[e.key+1]++
	}
	return t
}

// blockUses returns for each register the blocks that read it before writing it,
// and those that replace its value.
func (c *code) blockUses() (exposed, kills table) {
	var ex, ki []entry
	regs := len(c.fn.Regs)
	exposedIn, killedIn := stamps(regs), stamps(regs)
	for b := range c.cfg.Blocks {
		blk := &c.cfg.Blocks[b]
		for i := blk.Start; i < blk.End; i++ {
			for _, r := range c.reads(i) {
				if killedIn[r] != int32(b) && exposedIn[r] != int32(b) {
					exposedIn[r] = int32(b)
					ex = append(ex, entry{r, int32(b)})
				}
			}
			for _, r := range c.writes(i) {
				if killedIn[r] != int32(b) && c.kills(i, r) {
					killedIn[r] = int32(b)
					ki = append(ki, entry{r, int32(b)})
				}
			}
		}
	}
	return newTable(regs, ex), newTable(regs, ki)
}
