package report

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// predictionsSection compares the gains that were predicted before a measurement with those
// that were measured.
var predictionsSection = section{
	id: "predictions", title: "Predictions and results",
	show: func(p *Page) bool { return len(p.All.Predictions().Rows) > 0 },
	body: `{{template "table" .All.Predictions}}
<p class="note">A prediction was registered with gate --expect before the measurement. It held if the measured interval meets the predicted range.</p>`,
}

// Predictions is the table of all records with a prediction and a measured gain, oldest
// first.
func (v *View) Predictions() *Table {
	t := &Table{Head: []string{"kernel", "against", "shape", "predicted", "measured", "result", "record"}}
	for _, item := range v.Items {
		r := item.Record
		if r.Criteria == nil || r.Criteria.Expected == nil || r.Baseline == nil {
			continue
		}
		shape, measured, result := outcomeOf(r)
		t.Rows = append(t.Rows, []Cell{text(r.Kernel.Name), text(r.Baseline.Name), text(shape), text(rangeOf(r.Criteria.Expected)), text(measured), text(result), source(item)})
	}
	return t
}

// Prediction says in one line what was predicted and what became of it, "" without a
// prediction.
func Prediction(r *record.Record) string {
	if r.Criteria == nil || r.Criteria.Expected == nil {
		return ""
	}
	_, measured, result := outcomeOf(r)
	return fmt.Sprintf("%s predicted, %s measured: %s", rangeOf(r.Criteria.Expected), measured, result)
}

// outcomeOf returns the shape that decides, the gain that was measured there with its
// interval, and what became of the prediction.
func outcomeOf(r *record.Record) (shape, measured, result string) {
	shape, c, ok := decidingGain(r)
	if !ok {
		return none, "nothing", "open"
	}
	low, high := 1/c.Interval.High-1, 1/c.Interval.Low-1
	return shape, fmt.Sprintf("%s [%s, %s]", gain(1/c.Ratio-1), gain(low), gain(high)), held(r.Criteria.Expected, low, high)
}

// rangeOf writes a prediction: +10 %, or +5 % to +20 %, most likely +10 %.
func rangeOf(e *record.Expected) string {
	if e.Conservative == e.Optimistic {
		return gain(e.Realistic)
	}
	return fmt.Sprintf("%s to %s, most likely %s", gain(e.Conservative), gain(e.Optimistic), gain(e.Realistic))
}

// gain writes a speedup: +10 %.
func gain(x float64) string { return fmt.Sprintf("%+.1f %%", 100*x) }

// held says what became of a prediction, given the interval of the measured gain.
func held(e *record.Expected, low, high float64) string {
	switch {
	case high < e.Conservative:
		return "below the prediction"
	case low > e.Optimistic:
		return "above the prediction"
	}
	return "held"
}

// decidingGain returns the first comparison with the baseline that decides: a replayed graph
// with a warm cache.
func decidingGain(r *record.Record) (shape string, c stats.Comparison, ok bool) {
	if r.Performance == nil {
		return "", c, false
	}
	for i := range r.Performance.Shapes {
		t := &r.Performance.Shapes[i]
		if t.Baseline != nil && t.Method.Mode == timing.Graph && t.Method.Cache == timing.Warm {
			return t.Shape.String(), *t.Baseline, true
		}
	}
	return "", c, false
}
