package lab

import "time"

// Progress is how far a measurement is.
type Progress struct {
	Section string // "resources", "defects", "correctness", "performance", "counters"
	What    string // what is done now: "1,2,100,64 one-hot"
	Done    int    // steps of the whole measurement
	Total   int
	// Share is how much of the work is done, from 0 to 1, and Left an estimate of what
	// the rest takes.
	Share float64
	Left  time.Duration
}

// meter tells how far the work is. Steps have weights, since some take a thousand
// times as long as others.
type meter struct {
	tell           func(Progress)
	start          time.Time
	done, total    int
	weight, weighs float64 // done and all
}

// plan announces steps that are still to come.
func (m *meter) plan(steps int, weight float64) {
	m.total += steps
	m.weighs += weight
}

// at says what is done next.
func (m *meter) at(section, what string) { m.part(section, what, 0) }

// part says that so much of a step is done.
func (m *meter) part(section, what string, weight float64) {
	if m.tell == nil {
		return
	}
	p := Progress{Section: section, What: what, Done: m.done, Total: m.total}
	if m.weighs > 0 {
		p.Share = min((m.weight+weight)/m.weighs, 1)
	}
	if spent := time.Since(m.start); p.Share > 0 {
		p.Left = time.Duration(float64(spent) * (1 - p.Share) / p.Share).Round(time.Second)
	}
	m.tell(p)
}

// step ends a step.
func (m *meter) step(weight float64) {
	m.done++
	m.weight += weight
}
