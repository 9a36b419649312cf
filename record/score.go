package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/stats"
)

// Score is the mutation score of a kernel: how many of its wrong mutants the gates reject.
type Score struct {
	Schema int    `json:"schema"`
	Kernel Kernel `json:"kernel"`
	Build  Build  `json:"build"`
	Plan   string `json:"plan"` // the plan of the gates
	Seed   uint64 `json:"seed"` // the seed of the sample
	// Possible is the number of mutants that the operators can make. Planned is the size of the
	// sample: all mutants of the synchronisation, and some others, in random order. Older scores do
	// not state it; theirs is Tried.
	Possible int `json:"possible"`
	Planned  int `json:"planned,omitempty"`
	// Tried is the number of mutants whose fate was decided. It is less than Planned if the time
	// was limited; then the tried mutants are the first of the sample. Sync is how many of the
	// tried ones change the synchronisation.
	Tried int `json:"tried"`
	Sync  int `json:"sync"`
	// Interrupted says that Tried lacks mutants that had started. The mutants that the gates let
	// pass take longest, so such a score is too high, and it is not kept.
	Interrupted bool `json:"interrupted,omitempty"`

	// Fates counts the mutants by what became of them.
	Fates map[Fate]int `json:"fates"`
	// Killers counts the killed mutants by what killed them: a gate, or "hang".
	Killers map[string]int `json:"killers"`
	// Tallies counts the mutants by operator and region.
	Tallies []Tally `json:"tallies"`
	// Share is killed / (killed + wrong), and Interval its confidence interval. Both are 0
	// without such mutants.
	Share    float64        `json:"share"`
	Interval stats.Interval `json:"interval"`
	// Survivors are the mutants that the gates let pass: the wrong and the accurate ones, and
	// the equivalent ones of the synchronisation. Failures are mutants on which the emulator
	// failed.
	Survivors []Mutant `json:"survivors"`
	Failures  []Mutant `json:"failures,omitempty"`
}

// Fate is what became of a mutant.
type Fate string

// The fates.
const (
	Killed     Fate = "killed"     // a gate is red
	Survived   Fate = "wrong"      // the gates are green, and the mutant is wrong
	Equivalent Fate = "equivalent" // the same bits as the original on many inputs: not proven wrong
	Accurate   Fate = "accurate"   // other bits than the original, errors of the same size
	Refused    Fate = "refused"    // the emulator does not load it
	Failed     Fate = "failed"     // the emulator failed: a mistake of attest
)

// Fates returns all fates.
func Fates() []Fate { return []Fate{Killed, Survived, Equivalent, Accurate, Refused, Failed} }

// Tally counts the mutants of an operator in a region.
type Tally struct {
	Operator string       `json:"operator"`
	Region   string       `json:"region"`
	Fates    map[Fate]int `json:"fates"`
}

// Mutant is one change of a kernel, and what became of it.
type Mutant struct {
	Operator string `json:"operator"`
	Region   string `json:"region"`
	Part     string `json:"part"`
	Func     string `json:"func"`
	Line     int    `json:"line"`             // the line in the PTX of the kernel
	Source   string `json:"source,omitempty"` // file and line, if the PTX names them
	Before   string `json:"before"`
	After    string `json:"after"` // "" if the instruction is removed
	Fate     Fate   `json:"fate"`
	By       string `json:"by,omitempty"` // what killed it: a gate, or "hang"
	Why      string `json:"why,omitempty"`
	At       string `json:"at,omitempty"` // the inputs that decided
}

// Sync reports whether the mutant changes the synchronisation.
func (m *Mutant) Sync() bool { return strings.HasPrefix(m.Operator, "sync-") }

// Change returns the change in one line.
func (m *Mutant) Change() string {
	if m.After == "" {
		return m.Before + " is removed"
	}
	return m.Before + " becomes " + m.After
}

// Place returns where the mutant differs: the line of the PTX, and that of the source.
func (m *Mutant) Place() string {
	if m.Source == "" {
		return fmt.Sprintf("line %d", m.Line)
	}
	return fmt.Sprintf("line %d (%s)", m.Line, m.Source)
}

// Add counts a mutant.
func (s *Score) Add(m Mutant) {
	if s.Fates == nil {
		s.Fates, s.Killers, s.Survivors = map[Fate]int{}, map[string]int{}, []Mutant{}
	}
	s.Fates[m.Fate]++
	s.Tried++
	if m.Sync() {
		s.Sync++
	}
	s.tally(m).Fates[m.Fate]++
	switch m.Fate {
	case Killed:
		s.Killers[m.By]++
	case Survived, Accurate:
		s.Survivors = append(s.Survivors, m)
	case Equivalent:
		if m.Sync() {
			s.Survivors = append(s.Survivors, m)
		}
	case Failed:
		s.Failures = append(s.Failures, m)
	}
	killed, all := s.Fates[Killed], s.Fates[Killed]+s.Fates[Survived]
	if all > 0 {
		s.Share = float64(killed) / float64(all)
		s.Interval = stats.Wilson(killed, all, stats.Confidence)
	}
}

func (s *Score) tally(m Mutant) *Tally {
	for i := range s.Tallies {
		if t := &s.Tallies[i]; t.Operator == m.Operator && t.Region == m.Region {
			return t
		}
	}
	s.Tallies = append(s.Tallies, Tally{m.Operator, m.Region, map[Fate]int{}})
	return &s.Tallies[len(s.Tallies)-1]
}

// ReadScore reads a score.
func ReadScore(text []byte) (*Score, error) {
	if _, err := schemaOf(text); err != nil {
		return nil, err
	}
	var s Score
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return &s, nil
}
