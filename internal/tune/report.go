package tune

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
)

// Report is the JSON of attest tune.
type Report struct {
	Goal  Goal    `json:"goal"`
	Tried int     `json:"tried"`
	Green int     `json:"green"`
	Spent bool    `json:"spent"` // whether the budget ended the search
	Start Trial   `json:"start"`
	Best  []Trial `json:"best"`
	State string  `json:"state"`

	trials []Trial
}

func newReport(s *State, spent bool, path string) *Report {
	return &Report{Goal: s.Goal, Tried: len(s.Trials), Green: s.Green(), Spent: spent, Start: s.Trials[0], Best: s.Best(Keep), State: path, trials: s.Trials}
}

func (r *Report) show(env *cli.Env, shape problem.Named, budget int) {
	if env.JSON {
		env.Encode(r)
		return
	}
	s := env.OutStyle()
	word := s.Yellow(r.Goal.Measure)
	if r.Goal.Measure == Measured {
		word = s.Green(r.Goal.Measure)
	}
	fmt.Fprintf(env, "%s  %s\n", s.Bold(r.Goal.Kernel), s.Dim(fmt.Sprintf("%s, %s, %s", r.Goal.Format, r.Goal.Target, shapes.Long(shape))))
	fmt.Fprintf(env, "%s tried, %d green; times are %s for %s\n\n", english.Count(r.Tried, "configuration"), r.Green, word, r.Goal.Device)
	t := term.Table{Indent: "  ", Right: "rrrl", Style: s}
	t.Head("", "µs", "speedup over start", "configuration")
	for i, b := range r.Best {
		t.Row(i+1, term.Micros(b.Micros), fmt.Sprintf("%.3f×", 1/b.Ratio), b.Name)
	}
	if r.Start.Green {
		t.Row("start", term.Micros(r.Start.Micros), "1.000×", r.Start.Name)
	} else {
		fmt.Fprintf(env, "  the start is not green: %s\n", term.Clean(r.Start.Why))
	}
	t.WriteTo(env)
	if i := slices.IndexFunc(r.trials, func(t Trial) bool { return !t.Green }); i >= 0 {
		fmt.Fprintf(env, "\n  %d not green, the first is %s: %s\n", r.Tried-r.Green, r.trials[i].Name, term.Clean(r.trials[i].Why))
	}
	if r.Spent {
		fmt.Fprintf(env, "\nthe budget is spent; --budget %d continues from %s\n", 2*budget, r.State)
	}
}

// write writes the best kernels as attest gate --ptx reads them.
func (x *search) write(r *Report) error {
	if x.Out == "" {
		return nil
	}
	if err := os.MkdirAll(x.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for i, b := range r.Best {
		s, err := x.kernel(b.Name, b.Config)
		if err != nil {
			return err
		}
		described, err := abi.Write(s.Kernel)
		if err != nil {
			return err
		}
		base := filepath.Join(x.Out, fmt.Sprintf("%s-%d", r.Goal.Kernel, i+1))
		if err := errors.Join(atomicfile.Write(base+".ptx", []byte(s.PTX)), atomicfile.Write(base+".json", described)); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return nil
}
