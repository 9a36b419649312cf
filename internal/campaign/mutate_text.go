package campaign

import (
	"fmt"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/record"
)

// MutateResult is the JSON of attest mutate: the mutation score of one kernel.
type MutateResult struct {
	*record.Score
	MinScore float64 `json:"min_score"` // the least score in percent
	OK       bool    `json:"ok"`
	Hash     string  `json:"hash"` // of the score in the evidence, "" if it was not kept
	Out      string  `json:"out"`  // the folder of saved mutants
}

// passes reports whether the score is high enough and the emulator failed on no mutant.
func (r *MutateResult) passes() bool {
	return r.Fates[record.Failed] == 0 && r.Fates[record.Killed] > 0 && 100*r.Share >= r.MinScore
}

// Show writes the result, after an empty line if it is not the first.
func (r *MutateResult) Show(env *cli.Env, another bool) {
	if env.JSON {
		env.Encode(r)
		return
	}
	if another {
		fmt.Fprintln(env)
	}
	s := env.OutStyle()
	report.WriteScore(env, r.Score, r.path, s)
	score, why, notes := report.ScoreLines(r.Score)
	colour := s.Red
	if r.OK {
		colour = s.Green
	}
	fmt.Fprintf(env, "  %s: %s\n", colour(score), why)
	for _, n := range notes {
		fmt.Fprintf(env, "  %s\n", n)
	}
	if r.Hash != "" {
		fmt.Fprintf(env, "  %s %s\n", s.Dim("evidence"), r.Hash[:12])
	}
}

// path returns the file of a saved mutant.
func (r *MutateResult) path(m record.Mutant) string {
	if r.Out == "" {
		return ""
	}
	return filepath.Join(r.Out, mutantFile(r.Kernel.Name, m))
}
