package tune

import (
	"context"

	"github.com/GOATnote-Inc/attest/kernels/attn"
)

// Keep is the number of best configurations that the search reports and expands.
const Keep = 3

// Search is a search over configurations.
type Search struct {
	// Neighbours returns the configurations that differ from the given one in a single
	// decision.
	Neighbours func(attn.Config) []attn.Config
	Start      attn.Config
	// Budget is the largest number of trials, including the trials that the state already
	// holds.
	Budget int
	// Try builds, checks and times a configuration. The first call is for Start.
	Try func(context.Context, attn.Config) (Trial, error)
	// Each is called with the state after each trial, so that the caller can save it.
	Each func(*State) error
}

// Run continues the search from a state. It ends when the best configurations have no untried
// neighbour or when the budget is spent; spent reports the latter. An interrupted search that is
// continued takes the same path as an uninterrupted one, because Run starts again from Start
// and looks up the results of earlier trials in the state.
func (x *Search) Run(ctx context.Context, s *State) (spent bool, err error) {
	seen := &State{}
	if err := x.try(ctx, s, seen, x.Start); err != nil {
		return false, err
	}
	expanded := map[attn.Config]bool{}
	for {
		next, ok := seen.next(expanded)
		if !ok {
			return false, nil
		}
		expanded[next] = true
		for _, n := range x.Neighbours(next) {
			if seen.find(n) != nil {
				continue
			}
			if s.find(n) == nil && len(s.Trials) >= x.Budget {
				return true, nil
			}
			if err := x.try(ctx, s, seen, n); err != nil {
				return false, err
			}
		}
	}
}

// next returns the best configuration that has not been expanded yet, among the Keep best.
func (s *State) next(expanded map[attn.Config]bool) (c attn.Config, ok bool) {
	for _, t := range s.Best(Keep) {
		if !expanded[t.Config] {
			return t.Config, true
		}
	}
	return c, false
}

// try adds the trial of a configuration to seen. It calls Try only if the state s does not
// hold the trial yet.
func (x *Search) try(ctx context.Context, s, seen *State, c attn.Config) error {
	if t := s.find(c); t != nil {
		seen.Trials = append(seen.Trials, *t)
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := x.Try(ctx, c)
	if err != nil {
		return err
	}
	s.Trials, seen.Trials = append(s.Trials, t), append(seen.Trials, t)
	return x.Each(s)
}
