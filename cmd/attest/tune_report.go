package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/tune"
)

func (x *tuning[C]) show(r *tuneReport[C], state *tune.State[C]) {
	if x.env.JSON {
		x.env.Encode(r)
		return
	}
	s := x.env.OutStyle()
	word := s.Yellow(r.Goal.Measure)
	if r.Goal.Measure == tune.Measured {
		word = s.Green(r.Goal.Measure)
	}
	fmt.Fprintf(x.env, "%s  %s\n", s.Bold(r.Goal.Kernel), s.Dim(fmt.Sprintf("%s, %s, %s", r.Goal.Format, r.Goal.Target, profileShape(x.named))))
	fmt.Fprintf(x.env, "%s tried, %d green; times are %s for %s\n\n", term.Count(r.Tried, "configuration"), r.Green, word, r.Goal.Device)
	t := term.Table{Indent: "  ", Right: "rrrl", Style: s}
	t.Head("", "µs", "over start", "configuration")
	for i, b := range r.Best {
		t.Row(i+1, micros(b.Micros), fmt.Sprintf("%.3f", b.Ratio), b.Name)
	}
	if r.Start.Green {
		t.Row("start", micros(r.Start.Micros), "1.000", r.Start.Name)
	} else {
		fmt.Fprintf(x.env, "  the start is not green: %s\n", term.Clean(r.Start.Why))
	}
	t.WriteTo(x.env)
	if n := r.Tried - r.Green; n > 0 {
		fmt.Fprintf(x.env, "\n  %d not green, the first: %s: %s\n", n, firstRed(state).Name, term.Clean(firstRed(state).Why))
	}
	if r.Spent {
		fmt.Fprintf(x.env, "\nthe budget is spent: --budget %d goes on from %s\n", 2*x.budget, x.state)
	}
}

func firstRed[C tune.Config](s *tune.State[C]) tune.Trial[C] {
	for _, t := range s.Trials {
		if !t.Green {
			return t
		}
	}
	return tune.Trial[C]{}
}

// write puts the best where attest gate --ptx finds them.
func (x *tuning[C]) write(r *tuneReport[C]) error {
	if x.out == "" {
		return nil
	}
	if err := os.MkdirAll(x.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for i, b := range r.Best {
		s, err := x.kernel(b.Name, b.Config, x.choice())
		if err != nil {
			return err
		}
		described, err := json.MarshalIndent(s.ABI, "", "\t")
		if err != nil {
			return err
		}
		base := filepath.Join(x.out, fmt.Sprintf("%s-%d", r.Goal.Kernel, i+1))
		if err := errors.Join(atomicfile.Write(base+".ptx", []byte(s.PTX)), atomicfile.Write(base+".json", append(described, '\n'))); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return nil
}
