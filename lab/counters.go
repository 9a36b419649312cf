package lab

import (
	"context"
	"fmt"

	"attest/device/emu"
	"attest/device/emu/count"
	"attest/record"
	"attest/ref"
)

// counters counts what kernel and baseline do, on the emulator.
func (m *measurement) counters(ctx context.Context) error {
	if m.p.Counters == (ref.Shape{}) {
		return nil
	}
	s, _, ok := m.served(m.p.Counters)
	if !ok {
		return nil
	}
	m.meter.at("counters", s.String())
	c := &record.Counters{Shape: s.String()}
	var err error
	if c.Kernel, err = m.count(ctx, m.s, s); err != nil {
		return err
	}
	if b := m.p.Baseline; b != nil && b.Serves(s) == nil {
		if c.Baseline, err = m.count(ctx, b, s); err != nil {
			return fmt.Errorf("baseline %s: %w", b.Name, err)
		}
	}
	m.r.Counters = c
	m.meter.step(m.weight(s))
	return nil
}

func (m *measurement) count(ctx context.Context, s *Subject, shape ref.Shape) (map[string]float64, error) {
	counter := count.New()
	dev, err := emu.New(emulated(s.Target), emu.Options{Observer: counter})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	l, err := load(dev, s, fewSMs)
	if err != nil {
		return nil, err
	}
	defer l.close()
	in, err := newInputs(s.ABI, Case{Shape: shape, Seed: 1, Distribution: "normal"})
	if err != nil {
		return nil, err
	}
	b, err := l.set(in.vars)
	if err != nil {
		return nil, err
	}
	if err := b.write(in); err != nil {
		return nil, err
	}
	if _, err := b.run(ctx); err != nil {
		return nil, err
	}
	return flatten(counter.Launches()[0]), nil
}

// flatten names the counters that explain times.
func flatten(c *count.Counts) map[string]float64 {
	out := map[string]float64{
		"warp instructions": float64(c.WarpInstructions), "active lanes": c.ActiveLanes,
		"shared requests": float64(c.Shared.Requests), "shared wavefronts": float64(c.Shared.Wavefronts), "bank conflicts": float64(c.Shared.Conflicts),
		"global requests": float64(c.Global.Requests), "global sectors": float64(c.Global.Sectors),
	}
	for _, f := range c.Families {
		out["family "+f.Name] = float64(f.Warps)
	}
	for _, s := range c.Special {
		out["special functions"] += float64(s.Warps)
	}
	for _, b := range c.Barriers {
		out["barriers"] += float64(b.Arrivals)
	}
	for _, t := range c.Tensor {
		out["tensor operations"] += float64(t.Operations)
		out["tensor instructions"] += float64(t.Warps)
	}
	return out
}
