package report_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// deviates returns a record of errors beside a rival, which are the rival's times some factor.
func deviates(causal bool, keys int, inputs string, total, added float64) *record.Record {
	r := recordtest.New("hopper")
	recordtest.OnGPU(r)
	r.Kernel.Problem.Causal = causal
	spread := func(x float64) record.Spread { return record.Spread{RMSE: x, Max: 4 * x} }
	r.Accuracy = &record.Accuracy{Notes: []string{"jax: not there"}, Cases: []record.AccuracyCase{{
		Shape: problem.Square(1, 1, keys, 64), Distribution: inputs, Rows: 64,
		Kernel: record.Deviation{Name: "hopper", Total: spread(0.004 * total), Added: spread(0.001 * added)},
		Rivals: []record.Deviation{
			{Name: "fa3 forward e4m3", Note: "num_splits 0", Total: spread(0.004), Added: spread(0.001)},
			{Name: "torch flash f16", Why: "not there today"},
		},
	}}}
	return r
}

// TestAccuracy wants the ratios of errors by inputs and by length, of the newest record of each case, and records that do
// not take the place of campaigns.
func TestAccuracy(t *testing.T) {
	zeros := deviates(false, 512, "zeros", 0, 0)
	zeros.Accuracy.Cases[0].Rivals[0].Total, zeros.Accuracy.Cases[0].Rivals[0].Added = record.Spread{}, record.Spread{}
	v := view(t, one(swept(), ""), one(deviates(false, 512, "normal", 7, 7), ""),
		one(deviates(false, 512, "normal", 1, 0.5), ""), one(deviates(true, 512, "normal", 1, 2), ""), one(deviates(false, 2048, "ties", 1.02, 1.25), ""), one(zeros, ""))
	if len(v.Items) != 1 || len(v.Kernels) != 1 || v.Accuracy.Empty() {
		t.Errorf("%d records and %d kernels", len(v.Items), len(v.Kernels))
	}
	got := v.Accuracy.Markdown()
	for _, want := range []string{
		"Beside fa3 forward e4m3, on 3 cases. The total error is more than 1 % above that of the rival on 1 of them.\n",
		"| normal | 2 | 1.000 | 1.000 | 1.000 | 2.000 | (1,1,512,64) causal |\n| ties | 1 | 1.020 | 1.020 | 1.250 | 1.250 | (1,1,2048,64) |\n",
		"| 512 | 2 | 1.000 | 1.000 | 1.000 | 2.000 | normal (1,1,512,64) causal |\n| 2048 | 1 | 1.020 | 1.020 | 1.250 | 1.250 | ties (1,1,2048,64) |\n",
		"| (1,1,512,64) | 0.004000 | 0.004000 | 0.001000 | 0.000500 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "torch") || strings.Contains(got, "zeros") {
		t.Error(got)
	}
	if empty := view(t, one(swept(), "")); !empty.Accuracy.Empty() || empty.Accuracy.Markdown() != "" {
		t.Error("a sweep compares no errors")
	}
}
