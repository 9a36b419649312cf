package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// evidenceFilter says which records are wanted; empty fields take all.
type evidenceFilter struct{ kernel, outcome, shape string }

func outcomeNames() []string {
	var names []string
	for _, o := range []record.Outcome{record.Merge, record.Reject, record.Defer, record.ValidNegative, record.NoChange} {
		names = append(names, string(o))
	}
	return names
}

// check refuses what could never be found, and writes names as records do.
func (f *evidenceFilter) check() error {
	f.outcome = strings.ToUpper(f.outcome)
	if f.outcome != "" && !slices.Contains(outcomeNames(), f.outcome) {
		return fmt.Errorf("--outcome: use one of %s", strings.Join(outcomeNames(), ", "))
	}
	if f.shape != "" {
		s, err := problem.ParseShape(f.shape)
		if err != nil {
			return fmt.Errorf("--shape: %w", err)
		}
		f.shape = s.String()
	}
	return nil
}

func (f *evidenceFilter) takes(l *evidenceLine) bool {
	return strings.Contains(l.Kernel, f.kernel) && (f.outcome == "" || string(l.Outcome) == f.outcome) &&
		(f.shape == "" || slices.Contains(l.Shapes, f.shape))
}

// shapesOf are the shapes that a record has errors or times of.
func shapesOf(r *record.Record) []string {
	shapes := []string{}
	add := func(s string) {
		if !slices.Contains(shapes, s) {
			shapes = append(shapes, s)
		}
	}
	if r.Correctness != nil {
		for i := range r.Correctness.Cases {
			add(r.Correctness.Cases[i].Shape)
		}
	}
	if r.Performance != nil {
		for i := range r.Performance.Shapes {
			add(r.Performance.Shapes[i].Shape)
		}
	}
	return shapes
}
