package timing

import (
	"time"

	"github.com/GOATnote-Inc/attest/stats"
)

// Stop says when enough samples were taken. The zero value means 30 to 500 samples, at most
// 20 seconds, and a median that is known to 0.5 %.
type Stop struct {
	// Relative is the required precision of the median: half the width of its 95 % confidence
	// interval, divided by the median.
	Relative float64 `json:"relative"`
	// Least and Most are the smallest and the largest number of samples per candidate.
	Least int `json:"least"`
	Most  int `json:"most"`
	// Time is the time limit. The run ends after the round in which it is exceeded.
	Time time.Duration `json:"time"`
	// Fewest is the number of samples per candidate that a run takes even if its time is over.
	Fewest int `json:"fewest,omitempty"`
}

// MaxTime returns Time, or its default if it is zero.
func (s Stop) MaxTime() time.Duration { return s.orDefaults().Time }

func (s Stop) orDefaults() Stop {
	if s.Relative == 0 {
		s.Relative = 0.005
	}
	if s.Least == 0 {
		s.Least = 30
	}
	if s.Most == 0 {
		s.Most = max(500, s.Least)
	}
	if s.Time == 0 {
		s.Time = 20 * time.Second
	}
	return s
}

// Reason is why a run ended.
type Reason string

// The reasons.
const (
	Precise Reason = "precise" // the medians are known with the required precision
	Samples Reason = "samples" // the largest number of samples was taken
	Time    Reason = "time"    // the time limit was exceeded
)

// reason returns the reason to end, or "" to continue. times holds the samples of each
// candidate.
func (s Stop) reason(times [][]float64, spent time.Duration) Reason {
	switch n := len(times[0]); {
	case n < s.Least && n < s.Most && (spent < s.Time || n < s.Fewest):
		return ""
	case s.precise(times):
		return Precise
	case n >= s.Most:
		return Samples
	case spent >= s.Time:
		return Time
	}
	return ""
}

func (s Stop) precise(times [][]float64) bool {
	for _, xs := range times {
		i := stats.MedianInterval(xs, stats.Confidence)
		if i.Confidence < stats.Confidence || (i.High-i.Low)/2 > s.Relative*stats.Median(xs) {
			return false
		}
	}
	return true
}
