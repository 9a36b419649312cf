package lab

import (
	"context"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// resources finds what the kernel uses on each target of the plan that can run it.
func (m *measurement) resources(ctx context.Context) error {
	r := &record.Resources{Budget: m.s.Budget()}
	if m.p.Budget != nil {
		r.Budget = *m.p.Budget
	}
	ask := m.p.Ask
	if ask.Device == nil && timed(m.dev) {
		ask.Device = m.dev
	}
	for _, target := range m.targets() {
		m.meter.at("resources", target.String())
		report, err := resources.Of(ctx, m.s.Name, m.s.PTX, target, ask)
		if err != nil {
			return err
		}
		if u := report.Usage(m.s.Entries()[0]); u != nil {
			r.Usage = append(r.Usage, *u)
			if u.Registers.Source == resources.Ptxas && m.r.Build.Ptxas == "" {
				m.r.Build.Ptxas = resources.Version(ctx, ask.Ptxas)
			}
		}
		if report.Output != "" {
			r.Ptxas = append(r.Ptxas, record.Assembly{Target: target.String(), Output: report.Output})
		}
		r.Advice = append(r.Advice, report.Advice...)
		for _, n := range report.Notes {
			if !slices.Contains(r.Notes, n) {
				r.Notes = append(r.Notes, n)
			}
		}
		m.meter.step(weightFixed)
	}
	if err := m.launchResources(r); err != nil {
		return err
	}
	m.r.Resources = r
	return nil
}

// Budget returns the budget of the resources gate: the default of the target, with more shared memory
// or registers if the kernel states that it needs more.
func (s *Subject) Budget() record.Budget {
	b := gate.BudgetFor(s.Target.String())
	b.Shared = max(b.Shared, s.Structure["shared_budget"])
	b.Registers = max(b.Registers, s.Structure["register_budget"])
	return b
}

// targets returns the target of the PTX and then the other targets of the plan that run it.
func (m *measurement) targets() []ptx.Target {
	list := []ptx.Target{m.s.Target}
	for _, t := range m.p.Targets {
		if t.SM != m.s.Target.SM && t.Runs(m.s.Target) {
			list = append(list, t)
		}
	}
	return list
}

// launchResources finds the dynamic shared memory of the largest launch of the plan, and its
// occupancy if the device knows it.
func (m *measurement) launchResources(r *record.Resources) error {
	var largest problem.Shape
	for _, c := range m.p.Cases {
		s, _, ok := m.served(c.Shape)
		if !ok {
			continue
		}
		if err := launchesOf(r, m.s, s); err != nil {
			return err
		}
		if largest == (problem.Shape{}) || s.FLOP() > largest.FLOP() {
			largest = s
		}
	}
	info := m.dev.Info()
	if largest == (problem.Shape{}) || !info.Target.Runs(m.s.Target) {
		return nil
	}
	return m.occupy(r, largest, info)
}

// anyScales stand for scales that are passed by value, where only sizes matter.
var anyScales = expr.Env{"qs": expr.Float(1), "ks": expr.Float(1), "vs": expr.Float(1)}

func (m *measurement) occupy(r *record.Resources, s problem.Shape, info device.Info) error {
	l, err := load(m.dev, m.s, info.SMs, m.p.Seed)
	if err != nil {
		r.Notes = append(r.Notes, err.Error()) // the correctness section fails with this error
		return nil
	}
	r.Occupancy = l.occupancy(s)
	return l.close()
}
