package campaign

import (
	"math"
	"time"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
)

// Steps shows several consecutive measurements as one progress.
type Steps struct {
	*term.Progress
	start time.Time
	total int
	done  int
}

// StartSteps starts the progress of total measurements.
func StartSteps(p *term.Progress, total int) *Steps {
	return &Steps{Progress: p, start: time.Now(), total: max(total, 1)}
}

// Of returns a function that shows the progress of the measurement of a kernel.
func (s *Steps) Of(name string) func(lab.Progress) {
	return func(p lab.Progress) {
		s.show(p.Share)
		s.Say("%s: %s %s", name, p.Section, p.What)
	}
}

// Next counts a measurement as finished.
func (s *Steps) Next() {
	s.done++
	s.show(0)
}

func (s *Steps) show(share float64) {
	all := (float64(s.done) + share) / float64(s.total)
	var left time.Duration
	if spent := time.Since(s.start); all > 0.02 && spent > time.Second {
		left = time.Duration(math.Round(float64(spent) * (1 - all) / all))
	}
	s.Share(all, left)
}
