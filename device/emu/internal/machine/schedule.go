package machine

import "slices"

// schedule chooses the order in which the warps of a block run, by a number: 0 is the natural
// order, a number below patterns permutes the warps, and the rest are the patterns below.
type schedule struct{ seed uint64 }

// The patterns. Each is the number of its kind times a million, plus the warp that it concerns.
// Warps are counted from the first, or from fromEnd on from the last.
const (
	patterns = 1_000_000

	Reversed = 1 * patterns // the last warp runs first
	Ahead    = 2 * patterns // one warp runs as far as it can before each short turn of another
	Starved  = 3 * patterns // one warp runs only when no other can continue, or after a long wait
	Fine     = 4 * patterns // the turns are short, so that the warps alternate often
	// Producers lets the warps that start bulk copies run as far as they can before each short
	// turn of another warp. Consumers lets the others run as far as they can.
	Producers = 5 * patterns
	Consumers = 6 * patterns

	fromEnd = patterns / 2
)

// Numbered returns the number of a warp in a schedule. A negative number counts from the last
// warp: -1 is the last.
func Numbered(warp int) uint64 {
	if warp < 0 {
		return uint64(fromEnd - 1 - warp)
	}
	return uint64(warp)
}

// quantum is the number of instructions that a warp runs before the next warp's turn. It
// is small enough for a producer and its consumers to alternate, and large enough for
// switching to cost little. A short turn is long enough for a few accesses to memory.
const (
	quantum = 4096
	short   = 24
)

// patience is the number of rounds after which a starved warp runs although others can continue:
// they may wait for it in a loop that is not recognised as a wait.
const patience = 64

// turn is the turn of a warp.
type turn struct {
	warp, quantum int
	starved       bool
}

// fine reports whether the turns are short.
func (s schedule) fine() bool { return s.seed/patterns*patterns == Fine }

// seedOf returns the seed for the choices of cluster i, or 0 in the natural order.
func (s schedule) seedOf(i int) uint64 {
	if s.seed == 0 {
		return 0
	}
	return max(1, (s.seed+uint64(i)+1)*0x9e3779b97f4a7c15)
}

// turns returns the turns of the n warps of a block in one round. block is its index.
func (s schedule) turns(block, n int) []turn {
	kind, warp := s.seed/patterns, int(s.seed%patterns)
	if warp >= fromEnd {
		warp = n - 1 - (warp-fromEnd)%n
	}
	warp %= n
	order := make([]turn, n)
	for i := range order {
		order[i] = turn{warp: i, quantum: quantum}
	}
	switch kind * patterns {
	case 0:
		if s.seed > 0 {
			s.permute(block, order)
		}
	case Reversed:
		slices.Reverse(order)
	case Ahead:
		return ahead(order, func(w int) bool { return w == warp })
	case Producers, Consumers: // see byRole
	case Starved:
		last := order[warp]
		last.starved = true
		return append(slices.Delete(order, warp, warp+1), last)
	case Fine:
		for i := range order {
			order[i].quantum = short
		}
	default:
		s.permute(block, order)
	}
	return order
}

// ahead returns turns in which the first warps run as far as they can before each short turn of
// another warp.
func ahead(order []turn, first func(warp int) bool) (mixed []turn) {
	var greedy, others []turn
	for _, t := range order {
		if first(t.warp) {
			greedy = append(greedy, t)
		} else {
			others = append(others, turn{warp: t.warp, quantum: short})
		}
	}
	for _, t := range others {
		mixed = append(append(mixed, greedy...), t)
	}
	return append(mixed, greedy...)
}

// byRole returns the turns of a block in a schedule that depends on what its warps have done so far.
// In other schedules, and while all warps have the same role, it returns the usual turns.
func (s schedule) byRole(b *Block) []turn {
	kind := s.seed / patterns * patterns
	if kind != Producers && kind != Consumers {
		return b.turns
	}
	n := 0
	for _, w := range b.Warps {
		if w.produces {
			n++
		}
	}
	if n == 0 || n == len(b.Warps) {
		return b.turns
	}
	return ahead(b.turns, func(warp int) bool { return b.Warps[warp].produces == (kind == Producers) })
}

// permute brings the turns of a block into a random order.
func (s schedule) permute(block int, p []turn) {
	x := s.seed*0x9e3779b97f4a7c15 + uint64(block)*0xbf58476d1ce4e5b9
	for i := len(p) - 1; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		j := int(x % uint64(i+1))
		p[i], p[j] = p[j], p[i]
	}
}
