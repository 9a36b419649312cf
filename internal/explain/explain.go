package explain

import (
	"cmp"
	"context"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Change is a change of a kernel and what it would give. Times are in microseconds.
type Change struct {
	Kind   string  `json:"kind"`             // "bank conflicts", "stages", …
	What   string  `json:"what"`             // what to do, as a sentence
	Launch string  `json:"launch"`           // the entry that it changes
	Source string  `json:"source,omitempty"` // the source line, if the change is about one
	Line   int     `json:"ptx_line,omitempty"`
	Micros float64 `json:"us"`    // the predicted time of the whole kernel with the change
	Gain   float64 `json:"gain"`  // what the change saves
	Share  float64 `json:"share"` // the share of the present time
	Bound  bool    `json:"bound"` // the most that such a change can give
}

// Result lists the changes of a kernel, the best first.
type Result struct {
	Predicted *predict.Profile `json:"predicted"`
	Tried     int              `json:"tried"` // number of changes that were simulated
	Changes   []Change         `json:"changes"`
}

// candidate is a change that has not been simulated.
type candidate struct {
	Change
	edit  *machine.Edit
	trace *warptrace.Launch // the trace that replaces the recorded one, or nil
	more  int               // clusters per SM
	count int               // clusters of the grid, scaled to the present number; 0 is all
	scale float64           // the share of the time without the launch that remains; 0 replays
}

// Least is the smallest share of the time that a change must save to be listed.
const Least = 0.005

// Of simulates changes of the launches of a kernel, which run one after the other, on a chip. It
// returns at most n changes; n < 0 returns all. progress is called before each simulation.
func Of(ctx context.Context, launches []predict.Work, chip chips.Chip, n int, progress func(what string)) (*Result, error) {
	r := &Result{Changes: []Change{}}
	var parts []*predict.Profile
	var names []string
	for _, w := range launches {
		parts, names = append(parts, predict.Of(w, chip)), append(names, w.Trace.Kernel)
	}
	r.Predicted = predict.Sum(parts, names)
	for i, w := range launches {
		for _, c := range candidates(&launches[i], parts[i], chip) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			progress(c.What)
			r.Tried++
			c.Launch = w.Trace.Kernel
			c.Gain = parts[i].Micros - c.simulate(w, chip)
			r.add(c.Change)
		}
	}
	if len(launches) > 1 {
		r.Tried++
		r.add(merged(len(launches), chip))
	}
	sorted.By(r.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), strings.Compare(a.What, b.What))
	})
	if n >= 0 && len(r.Changes) > n {
		r.Changes = r.Changes[:n]
	}
	return r, nil
}

// simulate returns the time of a launch with the change.
func (c *candidate) simulate(w predict.Work, chip chips.Chip) float64 {
	w.Edit, w.More, w.Watch = c.edit, c.more, nil
	if c.trace != nil {
		w.Trace = c.trace
	}
	fixed := chip.Get("launch_us")
	if c.scale > 0 {
		return fixed + (predict.Of(w, chip).Micros-fixed)*c.scale
	}
	if c.count == 0 {
		return predict.Of(w, chip).Micros
	}
	full := *w.Trace
	full.Count = c.count
	whole := float64(w.Trace.Count) / float64(c.count)
	w.Trace = &full
	return fixed + (predict.Of(w, chip).Micros-fixed)*whole
}

// add lists a change if it saves enough.
func (r *Result) add(c Change) {
	c.Share = c.Gain / r.Predicted.Micros
	c.Micros = r.Predicted.Micros - c.Gain
	if c.Share >= Least {
		r.Changes = append(r.Changes, c)
	}
}

// score orders changes. A bound counts half, because no real change reaches it. A line counts an eighth: it
// says where the time goes, but not what to do.
func (c *Change) score() float64 {
	switch {
	case c.Kind == "line":
		return c.Gain / 8
	case c.Bound:
		return c.Gain / 2
	}
	return c.Gain
}
