package lab

import "time"

// Progress is the progress of a measurement.
type Progress struct {
	Section string // "resources", "defects", "correctness", "performance", "counters"
	What    string // the current step: "1,2,100,64 one-hot"
	Done    int    // the number of finished steps
	Total   int
	// Share is the finished part of the work, from 0 to 1. Left estimates the time of the rest.
	Share float64
	Left  time.Duration
}

// meter reports progress. Steps have weights, since some take a thousand times as long as
// others.
type meter struct {
	tell           func(Progress)
	start          time.Time
	done, total    int
	weight, weighs float64 // the weight of the finished steps, and of all steps
	share          float64 // the largest share that was reported: later steps may add work
}

// plan adds future steps.
func (m *meter) plan(steps int, weight float64) {
	m.total += steps
	m.weighs += weight
}

// at reports the start of a step.
func (m *meter) at(section, what string) { m.part(section, what, 0) }

// part reports that a part of a step, given by its weight, is finished.
func (m *meter) part(section, what string, weight float64) {
	if m.tell == nil {
		return
	}
	p := Progress{Section: section, What: what, Done: m.done, Total: m.total}
	if m.weighs > 0 {
		p.Share = max(min((m.weight+weight)/m.weighs, 1), m.share)
		m.share = p.Share
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
