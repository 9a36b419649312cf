package campaign

import (
	"context"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// otherChips says on which chips a verdict of this run may not hold, or returns "".
func (g *Gate) otherChips(ctx context.Context, r *GateResult, baseline *lab.Subject, results []*GateResult) (string, error) {
	if baseline == nil || r.record.Resources == nil || r.record.Performance == nil || len(r.record.Performance.Shapes) == 0 {
		return "", nil
	}
	used, err := g.baselineResources(ctx, r.record, baseline, results)
	if err != nil {
		return "", err
	}
	return report.OtherChips(r.record, r.Verdict.Outcome, used), nil
}

// baselineResources returns what the baseline of a record uses: as measured in this run or
// earlier, or as its PTX says.
func (g *Gate) baselineResources(ctx context.Context, r *record.Record, baseline *lab.Subject, results []*GateResult) (*record.Resources, error) {
	for _, other := range slices.Backward(results) {
		if other.record.Resources != nil && other.Kernel.Same(r.Baseline) {
			return other.record.Resources, nil
		}
	}
	for _, item := range slices.Backward(g.before()) {
		if item.Resources != nil && item.Kernel.Same(r.Baseline) {
			return item.Resources, nil
		}
	}
	targets := []ptx.Target{r.Build.Device.Target}
	for i := range r.Resources.Usage {
		if t, err := ptx.ParseTarget(r.Resources.Usage[i].Target); err == nil && !slices.ContainsFunc(targets, func(o ptx.Target) bool { return o.SM == t.SM }) {
			targets = append(targets, t)
		}
	}
	return lab.ResourcesOf(ctx, baseline, r.Performance.Shapes[0].Shape, targets, resources.OnPath())
}
