package lab

import (
	"context"

	"attest/record"
)

// performance times the kernel, where there is something to time on.
func (m *measurement) performance(ctx context.Context) error {
	if m.p.Times == nil && timed(m.dev) {
		m.r.Performance = &record.Performance{Skipped: "the plan times nothing"}
		return nil
	}
	if !timed(m.dev) {
		m.r.Performance = &record.Performance{Skipped: "no GPU: times of an emulator say nothing"}
		return nil
	}
	return m.time(ctx)
}
