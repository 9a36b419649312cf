package execrun

import (
	"math"

	emucount "github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
)

// Report is the JSON of attest exec.
type Report struct {
	Device    string    `json:"device"`
	Schedules int       `json:"schedules"`
	Launches  []*Launch `json:"launches"`
	skipped   int       // launches after one that failed
}

// Launch is one launch of a report.
type Launch struct {
	Entry      string               `json:"entry"`
	Module     string               `json:"module,omitempty"` // the PTX file, if it is not the command's
	OK         bool                 `json:"ok"`
	Compared   int64                `json:"compared"`
	Mismatches int64                `json:"mismatches"`
	Buffers    []Buffer             `json:"buffers"`
	Defects    []findingtext.Record `json:"defects"`
	Output     string               `json:"output"`
	Stats      Stats                `json:"stats"`
	Counters   *emucount.Counts     `json:"counters,omitempty"`
	// OtherFMA is the mode of --fma under which there is no mismatch, if the mode of this run has
	// mismatches.
	OtherFMA string `json:"other_fma,omitempty"`
	result   *launchfile.Result
	found    finding.List
}

// Buffer is a buffer that was compared. The largest differences are null when infinite.
type Buffer struct {
	What       string     `json:"what"`
	Expect     string     `json:"expect"`
	Type       string     `json:"type"`
	Compared   int64      `json:"compared"`
	Mismatches int64      `json:"mismatches"`
	MaxAbs     *float64   `json:"max_abs"`
	MaxRel     *float64   `json:"max_rel"`
	MaxULP     *uint64    `json:"max_ulp"`
	First      []Mismatch `json:"first"`
}

// Mismatch is an element that differs.
type Mismatch struct {
	Index int64  `json:"index"`
	Got   string `json:"got"`
	Want  string `json:"want"`
}

// Stats says how much was executed and how long it took.
type Stats struct {
	ThreadInstructions uint64  `json:"thread_instructions"`
	WarpInstructions   uint64  `json:"warp_instructions"`
	Seconds            float64 `json:"seconds"`
}

func newLaunch(r *launchfile.Result, printed string) *Launch {
	l := &Launch{Entry: r.Entry, Module: r.Module, Buffers: []Buffer{}, Output: printed, result: r}
	l.Compared, l.Mismatches = r.Count()
	for _, c := range r.Comparisons {
		l.Buffers = append(l.Buffers, newBuffer(c))
	}
	l.Stats.Seconds = r.Elapsed.Seconds()
	if r.Stats != nil {
		l.Stats.ThreadInstructions, l.Stats.WarpInstructions = r.Stats.ThreadInstructions, r.Stats.WarpInstructions
	}
	return l
}

// add adds what a schedule showed.
func (l *Launch) add(schedule uint64, found ...finding.Finding) {
	for _, f := range found {
		f.Schedule = schedule
		l.found.Add(f)
	}
}

// finish sums up what all schedules showed.
func (l *Launch) finish() {
	l.Defects = []findingtext.Record{}
	for _, f := range l.found.All() {
		l.Defects = append(l.Defects, findingtext.RecordOf(&f))
	}
	errs, _ := l.found.Count()
	l.OK = l.result.OK() && errs == 0
}

func newBuffer(c *launchfile.Comparison) Buffer {
	b := Buffer{
		What: c.What, Expect: c.Expect, Type: c.Type, Compared: c.Compared, Mismatches: c.Mismatches,
		MaxAbs: finite(c.MaxAbs), MaxRel: finite(c.MaxRel), MaxULP: &c.MaxULP, First: []Mismatch{},
	}
	if b.MaxAbs == nil {
		b.MaxULP = nil
	}
	for _, m := range c.First {
		b.First = append(b.First, Mismatch(m))
	}
	return b
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (r *Report) ok() bool {
	for _, l := range r.Launches {
		if !l.OK {
			return false
		}
	}
	return true
}

// count returns the number of errors and the number of warnings.
func (r *Report) count() (errs, warnings int) {
	for _, l := range r.Launches {
		e, w := l.found.Count()
		errs, warnings = errs+e, warnings+w
	}
	return errs, warnings
}
