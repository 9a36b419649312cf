package record

import "github.com/GOATnote-Inc/attest/problem"

// Profile is what a profiler measured about one launch of a kernel. A profiler slows a kernel
// down, so its time is no result.
type Profile struct {
	Shape   problem.Shape      `json:"shape"`
	Name    string             `json:"name,omitempty"`  // the name of the shape
	Tool    string             `json:"tool"`            // "ncu" with its version
	Flags   []string           `json:"flags"`           // the flags of the tool
	Asked   []string           `json:"asked,omitempty"` // metrics that the user named
	Micros  float64            `json:"us"`
	Metrics map[string]float64 `json:"metrics"` // by the names of the tool
	Units   map[string]string  `json:"units"`   // of the metrics: "%", "ns", "byte/s"
	Raw     string             `json:"raw"`     // what the tool wrote
}
