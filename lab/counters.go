package lab

import (
	"context"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// counters counts what the kernel and the baseline do, on the emulator.
func (m *measurement) counters(ctx context.Context) error {
	if m.p.Counters == (problem.Shape{}) {
		return nil
	}
	s, _, ok := m.served(m.p.Counters)
	if !ok {
		return nil
	}
	m.meter.at("counters", s.String())
	c := &record.Counters{Shape: s}
	var err error
	if c.Kernel, err = counted(ctx, m.s, s); err != nil {
		return err
	}
	if b := m.p.Baseline; b != nil && b.ServesShape(s) == nil {
		if c.Baseline, err = counted(ctx, b, s); err != nil {
			return fmt.Errorf("baseline %s: %w", b.Name, err)
		}
	}
	m.r.Counters = c
	m.meter.step(m.weight(s))
	return nil
}

func counted(ctx context.Context, s *Subject, shape problem.Shape) (map[string]float64, error) {
	c, err := Count(ctx, s, shape, fewSMs)
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	var threads float64
	for _, l := range c.Launches {
		flatten(l.Counts, all)
		threads += float64(l.ThreadInstructions)
	}
	all["active lanes"] = threads / max(all["warp instructions"], 1)
	return all, nil
}

// flatten adds the counters of a launch that explain times to out.
func flatten(c *count.Counts, out map[string]float64) {
	for name, n := range map[string]uint64{
		"warp instructions": c.WarpInstructions, "shared requests": c.Shared.Requests, "shared wavefronts": c.Shared.Wavefronts,
		"bank conflicts": c.Shared.Conflicts, "global requests": c.Global.Requests, "global sectors": c.Global.Sectors,
	} {
		out[name] += float64(n)
	}
	for _, f := range c.Families {
		out["family "+f.Name] += float64(f.Warps)
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
}
