package device

import (
	"strings"
	"time"
)

// State is how a GPU is at a moment. What could not be read is zero.
type State struct {
	Time        time.Time `json:"time"`
	SMClock     int       `json:"sm_mhz"`
	MemoryClock int       `json:"memory_mhz"`
	Power       float64   `json:"watts"`
	Energy      float64   `json:"joules"` // since the driver was loaded
	Temperature int       `json:"celsius"`
	Performance string    `json:"performance"` // "P0" is the fastest
	Throttle    Throttle  `json:"throttle"`
	Processes   int       `json:"processes"` // that have a context on the GPU
}

// Sensor reads the state of a GPU and never changes it.
type Sensor interface {
	State() (State, error)
}

// Throttle is the reasons for which a GPU runs slower than it could.
type Throttle uint64

// The reasons, as NVML numbers them.
const (
	ThrottleIdle         Throttle = 1 << iota // nothing to do
	ThrottleApplications                      // clocks set by a user
	ThrottlePowerCap
	ThrottleSlowdown // by the hardware, for heat or power
	ThrottleSyncBoost
	ThrottleThermal         // by the driver
	ThrottleThermalSlowdown // by the hardware
	ThrottlePowerBrake
	ThrottleDisplay
)

var throttleNames = []string{
	"idle", "applications clocks", "power cap", "hardware slowdown", "sync boost",
	"thermal", "hardware thermal slowdown", "power brake", "display clocks",
}

// Slowed is the reasons but for idleness, which says nothing of a GPU that has
// nothing to do.
func (t Throttle) Slowed() Throttle { return t &^ ThrottleIdle }

// String names the reasons, "none" when there are none.
func (t Throttle) String() string {
	var names []string
	for i, n := range throttleNames {
		if t&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if t>>len(throttleNames) != 0 {
		names = append(names, "unknown")
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// MarshalText writes the names.
func (t Throttle) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Throttle) UnmarshalText(text []byte) error {
	*t = 0
	for word := range strings.SplitSeq(string(text), ", ") {
		for i, n := range throttleNames {
			if word == n {
				*t |= 1 << i
			}
		}
		if word == "unknown" {
			*t |= 1 << len(throttleNames)
		}
	}
	return nil
}
