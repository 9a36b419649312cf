package timing

import (
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/stats"
)

// Run is what was measured: everything, in the order in which it happened.
type Run struct {
	Candidates []Subject `json:"candidates"`
	Order      Order     `json:"order"`
	Seed       uint64    `json:"seed"`
	Batches    []Batch   `json:"batches"`
	Ended      Reason    `json:"ended"` // "" when an error ended it
	// SensorError is why some states have gaps, or "".
	SensorError string `json:"sensor_error,omitempty"`
}

// Subject is what a candidate was called and how it was timed.
type Subject struct {
	Name   string `json:"name"`
	Method Method `json:"method"`
}

// Batch is the samples of one turn.
type Batch struct {
	Candidate int           `json:"candidate"` // its index
	Micros    []float64     `json:"micros"`    // the time of one launch, in the order taken
	Start     time.Time     `json:"start"`
	End       time.Time     `json:"end"`
	Before    *device.State `json:"before,omitempty"`
	After     *device.State `json:"after,omitempty"`
}

// Times are the samples of a candidate, in the order taken.
func (r *Run) Times(candidate int) []float64 {
	var all []float64
	for _, b := range r.Batches {
		if b.Candidate == candidate {
			all = append(all, b.Micros...)
		}
	}
	return all
}

// Summary describes the samples of a candidate.
func (r *Run) Summary(candidate int) stats.Summary { return stats.Summarise(r.Times(candidate)) }

// Replicate is two candidates as one process saw them, to compare with others.
func (r *Run) Replicate(old, new int) stats.Replicate {
	return stats.Replicate{Old: r.Times(old), New: r.Times(new)}
}

// Throttle is all that slowed the card during the run, as far as the sensor saw.
func (r *Run) Throttle() (t device.Throttle) {
	for s := range r.states {
		t |= s.Throttle.Slowed()
	}
	return t
}

// Clocks is the lowest and the highest clock of the SMs that was seen after a
// batch, in MHz; before one the card may idle.
func (r *Run) Clocks() (low, high int) {
	for _, b := range r.Batches {
		if b.After == nil || b.After.SMClock == 0 {
			continue
		}
		if low == 0 {
			low = b.After.SMClock
		}
		low, high = min(low, b.After.SMClock), max(high, b.After.SMClock)
	}
	return low, high
}

// states yields what the sensor read, in order.
func (r *Run) states(yield func(*device.State) bool) {
	for _, b := range r.Batches {
		for _, s := range []*device.State{b.Before, b.After} {
			if s != nil && !yield(s) {
				return
			}
		}
	}
}
