package timing

import (
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/stats"
)

// Run holds everything that was measured, in the order in which it was measured.
type Run struct {
	Candidates []Subject `json:"candidates"`
	Order      Order     `json:"order"`
	Seed       uint64    `json:"seed"`
	Batches    []Batch   `json:"batches"`
	Ended      Reason    `json:"ended"` // "" if an error ended the run
	// SensorError is the reason why some states are incomplete, or "".
	SensorError string `json:"sensor_error,omitempty"`
}

// Subject is the name of a candidate and how it was timed.
type Subject struct {
	Name   string `json:"name"`
	Method Method `json:"method"`
}

// Batch holds the samples of one turn.
type Batch struct {
	Candidate int       `json:"candidate"` // index of the candidate
	Micros    []float64 `json:"micros"`    // times of one launch in microseconds, in the order taken
	// Controls are the times of the spoiling, measured beside each sample and subtracted from
	// it, in microseconds per launch. They are nil if nothing was subtracted.
	Controls []float64     `json:"controls,omitempty"`
	Start    time.Time     `json:"start"`
	End      time.Time     `json:"end"`
	Before   *device.State `json:"before,omitempty"`
	After    *device.State `json:"after,omitempty"`
}

// Times returns the samples of a candidate in microseconds, in the order taken.
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

// Replicate returns the samples of two candidates as one replicate of a comparison over
// several processes.
func (r *Run) Replicate(old, new int) stats.Replicate {
	return stats.Replicate{Old: r.Times(old), New: r.Times(new)}
}

// Throttle returns all reasons that slowed the GPU down during the run, as far as the sensor
// saw them.
func (r *Run) Throttle() (t device.Throttle) {
	for s := range r.states {
		t |= s.Throttle.Slowed()
	}
	return t
}

// Clocks returns the lowest and the highest clock of the SMs after a batch, in MHz. It
// ignores the clocks before a batch, because the GPU may be idle then.
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

// states yields the states that the sensor read, in order.
func (r *Run) states(yield func(*device.State) bool) {
	for _, b := range r.Batches {
		for _, s := range []*device.State{b.Before, b.After} {
			if s != nil && !yield(s) {
				return
			}
		}
	}
}
