package record

import (
	"slices"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/cover"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/problem"
)

// Schema is the version of the JSON form that is written.
const Schema = 2

// Record holds everything that was measured about one kernel in one campaign.
type Record struct {
	Schema int    `json:"schema"`
	Plan   string `json:"plan,omitempty"` // the plan that was measured: "smoke", "quick" or "full"
	// Seed made the inputs of fresh cases, the timed inputs and the bytes around buffers
	// unpredictable. A measurement with the same seed has the same. It is 0 in old records.
	Seed        uint64       `json:"seed,omitempty"`
	Kernel      Kernel       `json:"kernel"`
	Baseline    *Kernel      `json:"baseline,omitempty"` // the kernel that performance is compared with
	Build       Build        `json:"build"`
	Criteria    *Criteria    `json:"criteria,omitempty"`
	Resources   *Resources   `json:"resources,omitempty"`
	Defects     *Defects     `json:"defects,omitempty"`
	Correctness *Correctness `json:"correctness,omitempty"`
	Performance *Performance `json:"performance,omitempty"`
	Counters    *Counters    `json:"counters,omitempty"`
	Prediction  *Prediction  `json:"prediction,omitempty"`
	// Profile is only in records of attest profile, which judge nothing.
	Profile *Profile `json:"profile,omitempty"`
	// Accuracy is only in records of attest bench --distribution, which judge nothing.
	Accuracy *Accuracy `json:"accuracy,omitempty"`
	// Ended says why the record holds no measurements: the process that took them ended
	// early.
	Ended *Ended `json:"ended,omitempty"`
}

// Ended is the early end of the process that measured a kernel: a crash, a fault of the GPU
// or a limit.
type Ended struct {
	Gate GateName `json:"gate"` // what it measured then
	Why  string   `json:"why"`
	// Internal says that attest itself failed, so that nothing is known about the kernel.
	Internal bool `json:"internal,omitempty"`
}

// Counters are the counts of the kernel and of its baseline on the emulator. They explain
// why one of the two is faster.
type Counters struct {
	Shape    problem.Shape      `json:"shape"`
	Kernel   map[string]float64 `json:"kernel"`
	Baseline map[string]float64 `json:"baseline,omitempty"`
}

// Prediction is what the timing model says of the kernel and of its baseline where nothing was
// timed. Times are in microseconds. It never earns an outcome.
type Prediction struct {
	Chip     string        `json:"chip"`
	Shape    problem.Shape `json:"shape"`
	Kernel   float64       `json:"kernel_us"`
	Baseline float64       `json:"baseline_us"`
	// Free is the shortest of: the time of the kernel, its time if the instructions that the
	// baseline does not have took no time, and the time of the baseline without the instructions
	// that the kernel does not have. It is 0 if nothing bounds the gain.
	Free float64 `json:"free_us"`
}

// Build is the machine, the tools and the sources of a campaign.
type Build struct {
	Time    time.Time   `json:"time"`
	Attest  string      `json:"attest"` // version of this tool
	Git     Git         `json:"git"`
	Go      string      `json:"go"`
	OS      string      `json:"os"` // "linux/amd64"
	Device  device.Info `json:"device"`
	Driver  string      `json:"driver,omitempty"` // version of the GPU's driver
	Ptxas   string      `json:"ptxas,omitempty"`  // version, if ptxas was used
	Command []string    `json:"command,omitempty"`
	// Host is the machine that attest --on named, and empty if the campaign ran where it was
	// started.
	Host string `json:"host,omitempty"`
}

// Emulated reports whether the kernel ran on the emulator, which does not measure time.
func (b *Build) Emulated() bool { return b.Device.Driver == "emu" }

// Git is the state of the sources.
type Git struct {
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
	Dirty  bool   `json:"dirty"`
}

// Resources is what the kernel uses on each target, and its budget.
type Resources struct {
	Usage     []resources.Usage  `json:"usage"` // one per target
	Advice    []resources.Advice `json:"advice,omitempty"`
	Notes     []string           `json:"notes,omitempty"`
	Ptxas     []Assembly         `json:"ptxas,omitempty"`   // one per target, if ptxas was used
	Dynamic   int                `json:"dynamic_shared"`    // bytes, of the launch that uses the most
	Threads   int                `json:"threads,omitempty"` // per block, of the largest launch
	Occupancy *device.Occupancy  `json:"occupancy,omitempty"`
	Budget    Budget             `json:"budget"`
}

// Assembly is what ptxas -v wrote about the kernel for a target.
type Assembly struct {
	Target string `json:"target"`
	Output string `json:"output"`
}

// Budget is what a kernel may use.
type Budget struct {
	Registers int `json:"registers"`
	Shared    int `json:"shared"` // bytes, static and dynamic
	Spills    int `json:"spills"` // bytes
}

// Refusal is a shape that the kernel does not support, and the reason.
type Refusal struct {
	Shape problem.Shape `json:"shape"`
	Why   string        `json:"why"`
}

// Found is a finding with the shape on which it was seen first. The schedule of the finding
// belongs to this shape.
type Found struct {
	finding.Finding
	Shape problem.Shape `json:"shape,omitzero"`
}

// Findings returns the findings without their shapes.
func (d *Defects) Findings() []finding.Finding {
	all := make([]finding.Finding, len(d.Found))
	for i := range d.Found {
		all[i] = d.Found[i].Finding
	}
	return all
}

// Add adds the findings of a run on a shape. A finding that is known is merged.
func (d *Defects) Add(s problem.Shape, found ...finding.Finding) {
	for _, f := range found {
		f.Count = max(f.Count, 1)
		at := slices.IndexFunc(d.Found, func(old Found) bool { return finding.Same(&old.Finding, &f) })
		if at < 0 {
			d.Found = append(d.Found, Found{f, s})
		} else {
			d.Found[at].Merge(&f)
		}
	}
	d.Errors, d.Warnings = finding.Count(d.Findings())
}

// Defects holds the findings of the checkers.
type Defects struct {
	Schedules []uint64        `json:"schedules"` // the seeds of the warp orders that were tried
	Shapes    []problem.Shape `json:"shapes"`
	Inputs    []string        `json:"inputs,omitempty"` // the distribution of the inputs of each shape
	Refused   []Refusal       `json:"refused,omitempty"`
	Errors    int             `json:"errors"`
	Warnings  int             `json:"warnings"`
	Found     []Found         `json:"found"`
	// Depends reports whether the output differed between schedules.
	Depends bool `json:"depends_on_schedule"`
	// Wrong is why an output in some schedule is wrong, for a kernel that declares that its bits
	// vary. Outputs of other kernels are only compared with each other.
	Wrong string `json:"wrong,omitempty"`
	// Coverage is what ran under the checkers. It is nil if the checkers stopped at an error,
	// and in old records.
	Coverage *cover.Report `json:"coverage,omitempty"`
	// Beyond lists the conditions on sizes that changed in no run because the emulator would take
	// too long.
	Beyond []Beyond `json:"beyond,omitempty"`
}

// Beyond is a comparison of a size that had the same outcome in all runs.
type Beyond struct {
	Line  int           `json:"line"`  // the line of the PTX
	Shape problem.Shape `json:"shape"` // at which the outcome is expected to change
}
