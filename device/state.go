package device

import (
	"strings"
	"time"
)

// State is the state of a GPU at one moment. Values that could not be read are zero.
type State struct {
	Time        time.Time `json:"time"`
	SMClock     int       `json:"sm_mhz"`
	MemoryClock int       `json:"memory_mhz"`
	Power       float64   `json:"watts"`
	Energy      float64   `json:"joules"` // since the driver was loaded
	Temperature int       `json:"celsius"`
	Performance string    `json:"performance"` // "P0" is the fastest
	Throttle    Throttle  `json:"throttle"`
	Processes   int       `json:"processes"` // number of processes with a context on the GPU
}

// Sensor reads the state of a GPU without changing it.
type Sensor interface {
	State() (State, error)
}

// Throttle is a set of reasons why a GPU runs slower than it could.
type Throttle uint64

// The reasons, with the numbers of NVML.
const (
	ThrottleIdle         Throttle = 1 << iota // the GPU has no work
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

// Slowed returns the reasons without ThrottleIdle, because a GPU without work always runs
// slower.
func (t Throttle) Slowed() Throttle { return t &^ ThrottleIdle }

// String returns the names of the reasons, or "none".
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

// MarshalText returns the names of the reasons.
func (t Throttle) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses the names that MarshalText returns.
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
