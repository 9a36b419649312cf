package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// joules is a sensor whose counter grows by 10 J and 1 s with each reading.
type joules struct{ readings int }

func (m *joules) State() (device.State, error) {
	m.readings++
	return device.State{Time: time.Unix(int64(m.readings), 0), Energy: 10 * float64(m.readings), SMClock: 1000, Performance: "P0"}, nil
}

// TestEnergy wants the energy of the kernel and of its baseline in the record, and a note instead of it
// if there is no sensor.
func TestEnergy(t *testing.T) {
	p := timingPlan(newCard())
	p.Baseline, p.Times.Energy = preset(t, "stage2"), time.Nanosecond
	r, _ := measure(t, preset(t, "stage3b"), p)
	if notes := strings.Join(r.Performance.Notes, "\n"); len(r.Performance.Shapes[0].Energy) != 0 || !strings.Contains(notes, "the energy was not measured: NVML is not there") {
		t.Errorf("without a sensor: %v, notes %q", r.Performance.Shapes[0].Energy, notes)
	}
	p.Sensor = &joules{}
	r, v := measure(t, preset(t, "stage3b"), p)
	list := r.Performance.Shapes[0].Energy
	if len(list) != 2 || len(r.Performance.Notes) != 0 {
		t.Fatalf("%v, notes %q, %s", list, r.Performance.Notes, v.Outcome)
	}
	for _, e := range list {
		if e.Joules != 10 || e.Watts() != 10 || e.Launches != 20 { // one round of five replays of four launches
			t.Errorf("%+v", e)
		}
	}
}
