package report

import (
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

func TestPredictions(t *testing.T) {
	timed := func(low, ratio, high float64) *record.Record {
		return &record.Record{
			Kernel: record.Kernel{Name: "stage3b"}, Baseline: &record.Kernel{Name: "stage2"},
			Criteria: &record.Criteria{Expected: &record.Expected{Conservative: 0.05, Realistic: 0.10, Optimistic: 0.20}},
			Performance: &record.Performance{Shapes: []record.Times{
				{Shape: problem.Square(1, 8, 512, 64), Method: timing.Method{Mode: timing.Event, Cache: timing.Warm}, Baseline: &stats.Comparison{Ratio: 9}},
				{Shape: problem.Square(1, 8, 512, 64), Method: timing.Method{Mode: timing.Graph, Cache: timing.Warm},
					Baseline: &stats.Comparison{Ratio: ratio, Interval: stats.Interval{Low: low, High: high}}},
			}},
		}
	}
	for _, c := range []struct {
		r    *record.Record
		want string
	}{
		{timed(0.89, 0.9, 0.91), "+5.0 % to +20.0 %, most likely +10.0 % predicted, +11.1 % [+9.9 %, +12.4 %] measured: held"},
		{timed(0.95, 0.96, 0.97), "+5.0 % to +20.0 %, most likely +10.0 % predicted, +4.2 % [+3.1 %, +5.3 %] measured: held"},
		{timed(0.98, 0.99, 1), "+5.0 % to +20.0 %, most likely +10.0 % predicted, +1.0 % [+0.0 %, +2.0 %] measured: below the prediction"},
		{timed(0.49, 0.5, 0.51), "+5.0 % to +20.0 %, most likely +10.0 % predicted, +100.0 % [+96.1 %, +104.1 %] measured: above the prediction"},
	} {
		if got := Prediction(c.r); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	r := timed(1, 1, 1)
	r.Performance = nil
	if got, want := Prediction(r), "+5.0 % to +20.0 %, most likely +10.0 % predicted, nothing measured: open"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v := New(&evidence.Contents{Items: []*evidence.Item{{Hash: "0123456789abcdef", Record: r}, {Hash: "f", Record: &record.Record{}}}, Check: &evidence.Check{}})
	if n := len(v.Predictions().Rows); n != 1 {
		t.Errorf("%d rows, want one for the record with a prediction", n)
	}
	if Prediction(&record.Record{}) != "" {
		t.Error("a record without a prediction has one")
	}
}
