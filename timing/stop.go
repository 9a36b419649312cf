package timing

import (
	"time"

	"github.com/GOATnote-Inc/attest/stats"
)

// Stop says when enough samples were taken. The zero value is 30 to 500 samples,
// at most 20 seconds, and a median known to half a per cent.
type Stop struct {
	// Relative is how well the median must be known: half the width of its 95 %
	// interval, over the median.
	Relative float64 `json:"relative"`
	// Least samples are taken in any case, and never more than Most.
	Least int `json:"least"`
	Most  int `json:"most"`
	// Time ends a run after the round in which it is over.
	Time time.Duration `json:"time"`
}

// Longest is Time, or what it is when it is zero.
func (s Stop) Longest() time.Duration { return s.orDefaults().Time }

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
	Precise Reason = "precise" // the medians are known well enough
	Samples Reason = "samples" // there are as many as were allowed
	Time    Reason = "time"    // it took as long as it might
)

// now is the reason to end, or "" to go on. times are those of each candidate.
func (s Stop) now(times [][]float64, spent time.Duration) Reason {
	switch n := len(times[0]); {
	case n < s.Least && n < s.Most && spent < s.Time:
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
