package targets

import "strings"

// Metric is something that a target can be set for.
type Metric struct {
	Name string
	Unit string // after the number, or ""
	Less bool   // whether less is better
	// Shape and Kernel report whether a target has to name a shape or a kernel.
	Shape, Kernel bool
	What          string
}

// The names of the metrics.
const (
	Time          = "time"
	TFLOPs        = "tflops"
	RivalSpeedup  = "rival-speedup"
	LadderSpeedup = "ladder-speedup"
	OfFloor       = "of-floor"
	MaxError      = "max-error"
	Registers     = "registers"
	Shared        = "shared"
	Spills        = "spills"
	Verdict       = "verdict"
)

// FirstStage is the kernel that ladder-speedup is relative to.
const FirstStage = "stage1"

// Metrics returns all metrics.
func Metrics() []Metric {
	return []Metric{
		{Time, "µs", true, true, false, "median time of one launch in a replayed graph, warm cache"},
		{TFLOPs, "TFLOP/s", false, true, false, "rate by that time"},
		{RivalSpeedup, "x", false, true, false, "speedup over the fastest rival of the same run, or over the named rival"},
		{LadderSpeedup, "x", false, true, false, "speedup over " + FirstStage + " on the same chip and shape"},
		{OfFloor, "x", true, true, false, "time over the least time that bytes, operations and a launch take"},
		{MaxError, "", true, false, true, "largest error against float64 on inputs from N(0,1)"},
		{Registers, "", true, false, true, "registers per thread, by ptxas or the driver"},
		{Shared, "bytes", true, false, true, "shared memory per block"},
		{Spills, "bytes", true, false, true, "spill stores or loads per thread, whichever is larger"},
		{Verdict, "", false, false, true, "outcome of the newest verdict, such as MERGE"},
	}
}

// Find returns the metric with a name, and whether there is one.
func Find(name string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

func metricNames() string {
	var names []string
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}
