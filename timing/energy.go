package timing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Energy is what the whole GPU consumed while one candidate ran and nothing else did.
type Energy struct {
	Joules   float64 `json:"joules"`
	Seconds  float64 `json:"seconds"`
	Launches int     `json:"launches"`
}

// PerLaunch returns the joules of one launch.
func (e Energy) PerLaunch() float64 { return e.Joules / float64(e.Launches) }

// Watts returns the mean power.
func (e Energy) Watts() float64 { return e.Joules / e.Seconds }

// energyWarmUp lets clocks and power settle under the load of the candidate.
const energyWarmUp = 300 * time.Millisecond

// Consume runs a candidate for at least the given time and reads the energy counter of the GPU before and
// after. The counter of NVML is updated some ten times per second, so a run of several seconds is
// needed.
func Consume(ctx context.Context, c Candidate, s device.Sensor, atLeast time.Duration) (Energy, error) {
	if err := c.WarmUp(ctx, energyWarmUp); err != nil {
		return Energy{}, err
	}
	before, err := s.State()
	if err != nil {
		return Energy{}, err
	}
	if before.Energy == 0 {
		return Energy{}, errors.New("the GPU has no energy counter")
	}
	var e Energy
	const samples = 5
	for start := time.Now(); e.Launches == 0 || time.Since(start) < atLeast; {
		if _, err := c.Sample(ctx, samples); err != nil {
			return Energy{}, err
		}
		e.Launches += samples * max(c.Method().Launches, 1)
	}
	after, err := s.State()
	if err != nil {
		return Energy{}, err
	}
	e.Joules, e.Seconds = after.Energy-before.Energy, after.Time.Sub(before.Time).Seconds()
	if !(e.Joules > 0 && e.Seconds > 0) {
		return Energy{}, fmt.Errorf("the energy counter of the GPU went from %g J to %g J in %g s: measure for longer", before.Energy, after.Energy, e.Seconds)
	}
	return e, nil
}
