package machine

// sliceCycles is the number of cycles for which a ledger keeps one sum.
const sliceCycles = 32

// ledger is the use of a unit over time. Unlike a queue it takes reservations for later times first: a product of a
// tensor core is issued long before it reads its factors.
type ledger struct{ used []float64 }

// reserve takes a number of cycles of the unit from time t on, from what earlier reservations have left. It returns when
// the last of them ends.
func (l *ledger) reserve(t, cycles float64) float64 {
	end := t + cycles
	for i := int(t / sliceCycles); cycles > 0; i++ {
		for len(l.used) <= i {
			l.used = append(l.used, 0)
		}
		start := float64(i * sliceCycles)
		take := min(cycles, sliceCycles-l.used[i], start+sliceCycles-max(t, start))
		if take <= 0 {
			continue
		}
		l.used[i] += take
		cycles -= take
		end = max(end, start+l.used[i])
	}
	return end
}
