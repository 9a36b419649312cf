package tune

import (
	"context"
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/profile"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
)

// try judges a configuration and, if it is green, finds its time.
func (x *search) try(ctx context.Context, c attn.Config, progress *campaign.Steps) (Trial, error) {
	name := x.space.Family.Describe(c)
	s, err := x.kernel(name, c)
	if err != nil {
		return Trial{}, err
	}
	k := s.Describe()
	t := Trial{Config: c, Name: name, SHA256: k.SHA256}
	p := x.plan
	if k.SHA256 == x.subject.Describe().SHA256 {
		p.Baseline = nil
	}
	rec, err := lab.Measure(ctx, s, p, progress.Of(s.Name))
	if err != nil {
		return t, err
	}
	for _, g := range gate.Judge(rec).Gates {
		if g.Status == record.Red || g.Status == record.Void {
			t.Why = fmt.Sprintf("the %s gate is %s: %s", g.Name, g.Status, g.Summary)
			return t, nil
		}
	}
	t.Green = true
	if x.GPU() {
		return t, measured(&t, rec)
	}
	progress.Say("%s: simulating", s.Name)
	r, err := profile.Of(ctx, s, x.Shape, x.chip, profile.Options{})
	if err != nil {
		return t, err
	}
	t.Micros = r.Predicted.Micros
	if x.startMicros == 0 {
		x.startMicros = t.Micros
	}
	t.Ratio = t.Micros / x.startMicros
	return t, nil
}

// measured takes the time of a trial from its record.
func measured(t *Trial, rec *record.Record) error {
	p := rec.Performance
	if p == nil || len(p.Shapes) != 1 {
		return fmt.Errorf("%s was not timed", t.Name)
	}
	t.Micros, t.Ratio = p.Shapes[0].Summaries[0].P50, 1
	if c := p.Shapes[0].Baseline; c != nil {
		t.Ratio = c.Ratio
	}
	return nil
}
