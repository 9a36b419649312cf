package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// energy measures the energy of each candidate, if the plan asks for it. A failure is a note: the times
// stay valid.
func (m *measurement) energy(ctx context.Context, timer *timing.Timer, t *record.Times, own []*contestant, candidates []timing.Candidate) {
	if m.p.Times.Energy <= 0 || t.Method.Mode != timing.Graph {
		return
	}
	list, err := m.consumed(ctx, timer, t.Method, own, candidates)
	if err != nil {
		m.r.Performance.Notes = append(m.r.Performance.Notes, fmt.Sprintf("%v: the energy was not measured: %v", t.Shape, err))
		return
	}
	t.Energy = list
}

func (m *measurement) consumed(ctx context.Context, timer *timing.Timer, method timing.Method, own []*contestant, candidates []timing.Candidate) (list []timing.Energy, err error) {
	if m.p.Sensor == nil {
		return nil, errors.New("NVML is not there")
	}
	for i, c := range candidates {
		if i < len(own) {
			alone, err := own[i].alone(ctx, timer, method)
			if err != nil {
				return nil, err
			}
			defer alone.Close()
			c = alone
		}
		m.meter.at("performance", fmt.Sprintf("energy of %s", c.Name()))
		e, err := timing.Consume(ctx, c, m.p.Sensor, m.p.Times.Energy)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		list = append(list, e)
	}
	return list, nil
}
