package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/mutation"
	"github.com/GOATnote-Inc/attest/record"
)

// Mutate measures the mutation scores of kernels. Its exported fields are the values of the
// flags of attest mutate.
type Mutate struct {
	Selection
	Keeper
	Plan     string
	Count    int
	Seed     uint64
	Time     time.Duration // how long mutants of each kernel are started; 0 is no limit
	Jobs     int
	MinScore float64 // the least score in percent
	Out      string  // the folder for wrong survivors and for mutants on which the emulator failed
}

// Run measures the named kernels. The error asks for exit code 1 when a score is below the
// least one, or when the emulator failed on a mutant.
func (x *Mutate) Run(ctx context.Context, env *cli.Env, names []string) error {
	if err := errors.Join(x.Selection.Check(), x.check()); err != nil {
		return err
	}
	progress := env.StartProgress()
	defer progress.Stop()
	progress.Say("building the kernels")
	subjects, err := x.Subjects(names)
	switch {
	case err != nil:
		return err
	case len(subjects) == 0:
		return errors.New("no KERNEL is given: name one (attest list kernels), or a PTX file of your own")
	}
	if err := x.openStore(); err != nil {
		return err
	}
	red := false
	references := &lab.References{}
	defer collectLess()()
	for i, s := range subjects {
		r, err := x.measure(ctx, s, references, progress)
		if r != nil {
			progress.Print(func() { r.Show(env, i > 0) })
			red = red || !r.OK
		}
		if err != nil {
			return err
		}
	}
	if red {
		return cli.Exit(cli.Red)
	}
	return nil
}

// collectLess makes the garbage collector run less often and returns a function that undoes it. The
// emulator leaves much garbage on a small heap, and hundreds of mutants run on it. A GOGC that the
// user has set is left alone.
func collectLess() (undo func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(before) }
}

func (x *Mutate) check() error {
	switch {
	case !slices.Contains(PlanNames, x.Plan):
		return fmt.Errorf("--plan %s: use %s", x.Plan, english.Or(PlanNames))
	case x.Count < 0:
		return errors.New("--count must not be negative")
	case x.Time < 0:
		return errors.New("--time must not be negative")
	case x.Jobs < 0:
		return errors.New("--jobs must not be negative")
	case !(x.MinScore >= 0 && x.MinScore <= 100):
		return fmt.Errorf("--min-score %g: use a percentage from 0 to 100", x.MinScore)
	}
	return nil
}

// measure measures one kernel. If ctx ends, the result holds the mutants that were judged by
// then, and it is not kept.
func (x *Mutate) measure(ctx context.Context, s *lab.Subject, references *lab.References, progress *term.Progress) (*MutateResult, error) {
	p := Plan(x.Plan)
	p.References, p.Ask.Ptxas = references, ""
	built := build(ctx)
	built.Time = time.Now().UTC()
	start := time.Now()
	score, err := mutation.Run(ctx, s, mutation.Options{
		Plan: p, PlanName: x.Plan, Build: built, Count: x.Count, Seed: x.Seed, Time: x.Time, Jobs: x.Jobs,
		Progress: func(p mutation.Progress) { x.showMutants(progress, s.Name, p, start) },
		Save:     func(m record.Mutant, text, stack string) error { return x.save(s.Name, m, text, stack) },
	})
	switch {
	case score == nil:
		return nil, err
	case err == nil && score.Tried == 0 && score.Planned > 0:
		return nil, fmt.Errorf("%s: no mutant was tried, because the gates took --time %v for the kernel itself: allow more time", s.Name, x.Time)
	}
	r := &MutateResult{Score: score, Out: x.Out, MinScore: x.MinScore}
	r.OK = r.passes()
	if err == nil {
		r.Hash, err = x.keepScore(score, s)
	}
	return r, err
}

// showMutants shows the progress of a kernel.
func (x *Mutate) showMutants(progress *term.Progress, name string, p mutation.Progress, start time.Time) {
	if p.What != "" {
		progress.Say("%s: the kernel itself, %s", name, p.What)
		return
	}
	share := float64(p.Done) / float64(max(p.Total, 1))
	spent := time.Since(start)
	if x.Time > 0 {
		share = max(share, min(float64(spent)/float64(x.Time), 1))
	}
	var left time.Duration
	if share > 0.02 {
		left = time.Duration(math.Round(float64(spent) * (1 - share) / share))
	}
	progress.Share(share, left)
	progress.Say("%s: %d of %d mutants, %d survive", name, p.Done, p.Total, p.Score.Fates[record.Survived])
}

// save writes the text of a mutant to the folder of --out, with what is wrong above it.
func (x *Mutate) save(kernel string, m record.Mutant, text, stack string) error {
	if x.Out == "" {
		return nil
	}
	if err := os.MkdirAll(x.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	head := fmt.Sprintf("a mutant of %s (%s, %s), %s: %s\n%s", kernel, m.Operator, m.Fate, m.Place(), m.Change(), m.Why)
	if stack != "" {
		head += "\n" + stack
	}
	text = "// " + strings.ReplaceAll(head, "\n", "\n// ") + "\n" + text
	if err := atomicfile.Write(filepath.Join(x.Out, mutantFile(kernel, m)), []byte(text)); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// mutantFile returns the name of the file of a mutant. Mutants of one line differ in the hash.
func mutantFile(kernel string, m record.Mutant) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\: `, r) {
			return '-'
		}
		return r
	}, kernel)
	sum := sha256.Sum256([]byte(m.After))
	return fmt.Sprintf("%s-%d-%s-%s.ptx", name, m.Line, m.Operator, hex.EncodeToString(sum[:3]))
}
