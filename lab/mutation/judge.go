package mutation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/mutate"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// candidate is a mutant of the sample, and what is known about it.
type candidate struct {
	mutant *mutate.Mutant
	place  int            // the place in the sample
	same   lab.Comparison // the comparison of its bits with those of the original
	found  record.Mutant
	stack  string // the stack of a failure of the emulator
}

// judge decides the fate of a mutant, or reports that a group can decide it. A mutant that has
// passed the cheap cases and has the bits of the original on all cases of the jury is nearly
// always equivalent. Groups save the time to run all other steps for each of them.
func (r *run) judge(ctx context.Context, c *candidate) (decided bool, err error) {
	v := r.trials.Variant(r.program.Text(c.mutant))
	if c.mutant.Sync() {
		return true, r.decide(ctx, c, func() (*lab.Killed, error) { return r.judgeSync(ctx, c, v) })
	}
	err = r.decide(ctx, c, func() (*lab.Killed, error) {
		killed, err := r.trials.Kill(ctx, v, lab.FewCases)
		if killed != nil || err != nil {
			return killed, err
		}
		if c.same, err = r.trials.CompareBits(ctx, v); err != nil {
			return nil, err
		}
		switch c.same.Likeness {
		case lab.Wrong:
			return r.trials.Kill(ctx, v, lab.MoreCases|lab.Checkers)
		case lab.AsAccurate:
			return r.trials.Kill(ctx, v, lab.MoreCases)
		}
		return nil, nil
	})
	return c.found.Fate != record.Equivalent && c.found.Fate != record.Accurate, err
}

// judgeSync judges a mutant of the synchronisation alone, by the checkers first. The expensive
// half of the cases runs only if something is wrong: it cannot reject a mutant that has the bits
// of the original on the cases of the jury and no race.
func (r *run) judgeSync(ctx context.Context, c *candidate, v *lab.Subject) (*lab.Killed, error) {
	for _, steps := range []lab.Steps{lab.Checkers, lab.FewCases} {
		if killed, err := r.trials.Kill(ctx, v, steps); killed != nil || err != nil {
			return killed, err
		}
	}
	races, err := r.trials.CompareRaces(ctx, v)
	if err != nil {
		return nil, err
	}
	if c.same = races; races.Likeness != lab.Wrong {
		if c.same, err = r.trials.CompareBits(ctx, v); err != nil {
			return nil, err
		}
	}
	if c.same.Likeness == lab.SameBits {
		if c.same, err = r.compareHeld(ctx, c, v); err != nil {
			return nil, err
		}
	}
	if c.same.Likeness != lab.SameBits {
		return r.trials.Kill(ctx, v, lab.MoreCases)
	}
	if c.same.Why, c.same.At = races.Why, races.At; races.Why == "" {
		c.same.Why, err = r.trials.WhyRedundant(ctx, c.mutant.Line, r.sync)
	}
	return nil, err
}

// compareHeld runs a mutant of the synchronisation with warps that wait at each operation that is
// left, and where an operation is missing.
func (r *run) compareHeld(ctx context.Context, c *candidate, v *lab.Subject) (lab.Comparison, error) {
	p, err := mutate.Parse(v.Name, v.PTX)
	if err != nil {
		return lab.Comparison{}, err
	}
	lines := []int{p.LineOf(c.mutant)}
	for _, in := range p.SyncOps() {
		lines = append(lines, int(in.Pos.Line))
	}
	sort.Ints(lines)
	return r.trials.CompareHeld(ctx, v, slices.Compact(lines))
}

// decide sets the fate of a mutant by what a function finds.
func (r *run) decide(ctx context.Context, c *candidate, find func() (*lab.Killed, error)) error {
	m := c.mutant
	c.found = record.Mutant{
		Operator: m.Operator, Region: string(m.Region), Part: string(m.Part), Func: m.Func, Line: m.Line, Source: m.Source, Before: m.Before, After: m.After,
	}
	killed, err := find()
	var invalid *lab.Invalid
	var bug *device.Bug
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &bug):
		c.found.Fate, c.found.Why, c.stack = record.Failed, bug.Error(), bug.Stack
	case errors.As(err, &invalid):
		c.found.Fate, c.found.Why = record.Refused, err.Error()
	case err != nil:
		return fmt.Errorf("%s, %s: %w", m.Place(), m.Change(), err)
	case killed != nil:
		c.found.Fate, c.found.By, c.found.Why, c.found.At = record.Killed, killed.By, killed.Why, killed.At
	default:
		c.found.Fate, c.found.Why, c.found.At = fates[c.same.Likeness], c.same.Why, c.same.At
	}
	return nil
}

var fates = map[lab.Likeness]record.Fate{lab.SameBits: record.Equivalent, lab.AsAccurate: record.Accurate, lab.Wrong: record.Survived}

// mostInGroup is the number of mutants that are tried as one program.
const mostInGroup = 16

// grouped returns the candidates in groups of the same fate so far that change different
// instructions. A mutant with another branch is alone in its group, since it could skip the
// changes of others. The groups do not depend on which job ended first.
func grouped(waiting []candidate) (groups [][]candidate) {
	waiting = slices.Clone(waiting)
	sorted.By(waiting, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.found.Fate, b.found.Fate), cmp.Compare(a.place, b.place))
	})
	for _, c := range waiting {
		i := slices.IndexFunc(groups, func(g []candidate) bool { return len(g) < mostInGroup && fits(g, c) })
		if i < 0 {
			groups = append(groups, []candidate{c})
		} else {
			groups[i] = append(groups[i], c)
		}
	}
	return groups
}

// fits reports whether a candidate can join a group.
func fits(g []candidate, c candidate) bool {
	alone := func(c candidate) bool { return c.mutant.Part == mutate.Control && c.mutant.After != "" }
	return g[0].found.Fate == c.found.Fate && !alone(g[0]) && !alone(c) &&
		!slices.ContainsFunc(g, func(o candidate) bool { return o.mutant.SameInst(c.mutant) })
}

// group judges candidates as one program with all their changes. If it passes, each of them does:
// each has passed alone what compares outputs, and is unlikely to hide what the checkers find in
// another. If it does not pass, both halves are judged.
func (r *run) group(ctx context.Context, g []candidate) error {
	var list []*mutate.Mutant
	for _, c := range g {
		list = append(list, c.mutant)
	}
	v := r.trials.Variant(r.program.Text(list...))
	steps := lab.Checkers
	if g[0].found.Fate == record.Equivalent {
		steps |= lab.MoreCases
	}
	one := g[0]
	err := r.decide(ctx, &one, func() (*lab.Killed, error) {
		killed, err := r.trials.Kill(ctx, v, steps)
		if killed != nil || err != nil {
			return killed, err
		}
		races, err := r.trials.CompareRaces(ctx, v)
		if races.Likeness == lab.Wrong || races.Why != "" && one.same.Why == "" {
			one.same.Why, one.same.At = races.Why, races.At
		}
		if races.Likeness == lab.Wrong {
			one.same.Likeness = lab.Wrong
		}
		return nil, err
	})
	switch {
	case err != nil:
		return err
	case len(g) == 1:
		return r.count(one)
	case one.found.Fate == g[0].found.Fate:
		for _, c := range g {
			if err := r.count(c); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(r.group(ctx, g[:len(g)/2]), r.group(ctx, g[len(g)/2:]))
}
