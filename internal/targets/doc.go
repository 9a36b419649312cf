// Package targets reads a file of targets: what a project wants to reach, on which chip and by
// when, its milestones, and its ideas that were not measured yet. internal/report compares
// them with the evidence.
//
// The file is JSON:
//
//	{
//	  "chip": "H200",
//	  "targets": [
//	    {"name": "mission", "metric": "time", "shape": "mission", "target": 3.0, "by": "2026-12-31"},
//	    {"name": "lean stage2", "metric": "registers", "kernel": "stage2", "target": 128, "chip": "L4"}
//	  ],
//	  "milestones": [{"name": "first release", "targets": ["mission", "lean stage2"], "by": "2027-01-31"}],
//	  "ideas": [{"idea": "a branch less in the softmax", "expect": "2%,3%,4%", "why": "TUNING.md"}]
//	}
//
// [Metrics] lists the metrics, their units, and whether more or less is better. A target of a
// metric with a shape may name a kernel, or else the fastest kernel counts. "chip" in a target
// replaces the chip of the file. "format", "causal" and, for rival-speedup, "rival" narrow the
// choice. "by" is the last day on which a target can be met in time.
package targets
