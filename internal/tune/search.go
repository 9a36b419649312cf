package tune

import (
	"context"

	"github.com/GOATnote-Inc/attest/kernels/attn"
)

// Keep is how many of the best are kept.
const Keep = 3

// Search is a search.
type Search struct {
	// Neighbours are the configurations to go on to from one.
	Neighbours func(attn.Config) []attn.Config
	Start      attn.Config
	// Budget is how many configurations are tried at most, those of the state among
	// them.
	Budget int
	// Try says what a configuration is worth. The first that it is asked for is Start.
	Try func(context.Context, attn.Config) (Trial, error)
	// Each is told of the state after each trial, to save it.
	Each func(*State) error
}

// Run goes on from a state until the best have no untried neighbours, or the budget is
// spent, which it reports. It takes the way that it would have taken without an
// interruption: what was tried before is looked up when its turn comes.
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

// next is the best of those to keep that was not expanded yet.
func (s *State) next(expanded map[attn.Config]bool) (c attn.Config, ok bool) {
	for _, t := range s.Best(Keep) {
		if !expanded[t.Config] {
			return t.Config, true
		}
	}
	return c, false
}

// try tries a configuration, unless the state has it.
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
