package timing

import (
	"context"
	"time"
)

// Mode says what one sample measures.
type Mode string

// The modes.
const (
	Event Mode = "event" // one launch between two events
	Graph Mode = "graph" // a replay of a graph, divided by its number of launches
)

// Cache is the state of the L2 cache when a launch starts.
type Cache string

// The states of the cache.
const (
	Warm Cache = "warm" // it holds the buffers of the launch, from an earlier launch
	Cold Cache = "cold" // it holds other data
)

// Method says how samples were taken.
type Method struct {
	Mode     Mode   `json:"mode"`
	Cache    Cache  `json:"cache"`
	Launches int    `json:"launches"` // per sample
	Sets     int    `json:"sets"`     // number of sets of buffers, which are used in turn
	Clock    string `json:"clock"`    // "events", or HostClock for a rival without events
}

// Candidate is something that can be timed: work with a method, or a rival.
type Candidate interface {
	Name() string
	Method() Method
	// WarmUp runs the candidate for at least the given time, so that one-time costs are not
	// measured.
	WarmUp(ctx context.Context, atLeast time.Duration) error
	// Sample takes n samples. Each is the time of one launch in microseconds.
	Sample(ctx context.Context, n int) ([]float64, error)
}

// HostClock is the Clock of times that the host's clock took. They include the launch.
const HostClock = "host"

// ByHost reports whether the host's clock took the times.
func (m Method) ByHost() bool { return m.Clock == HostClock }
