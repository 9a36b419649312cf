package timing

import (
	"context"
	"time"
)

// Mode is what a sample is.
type Mode string

// The modes.
const (
	Event Mode = "event" // one launch between two events
	Graph Mode = "graph" // many launches in a graph, their time divided by their number
)

// Cache is what is in the L2 cache when a launch starts.
type Cache string

// The states of the cache.
const (
	Warm Cache = "warm" // what the launch before left: the same buffers
	Cold Cache = "cold" // other things
)

// Method is how samples were taken.
type Method struct {
	Mode     Mode   `json:"mode"`
	Cache    Cache  `json:"cache"`
	Launches int    `json:"launches"` // in a sample
	Sets     int    `json:"sets"`     // of buffers, taken in turn
	Clock    string `json:"clock"`    // "events", or "host" where a rival has no events
}

// Candidate is what is timed: work of ours by one method, or a rival.
type Candidate interface {
	Name() string
	Method() Method
	// WarmUp runs for at least a time, so that nothing happens for the first time
	// while it is measured.
	WarmUp(ctx context.Context, atLeast time.Duration) error
	// Sample takes n times of one launch, in microseconds.
	Sample(ctx context.Context, n int) ([]float64, error)
}
