package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/kernels/attn"
)

// Schema is the version of the JSON form of a state.
const Schema = 2

// Goal is what a search optimises. A state belongs to one goal.
type Goal struct {
	Kernel string `json:"kernel"` // the kernel that the search starts from
	Format string `json:"format"`
	Output string `json:"output"`
	Target string `json:"target"` // the target of the PTX
	Shape  string `json:"shape"`
	Causal bool   `json:"causal,omitempty"`
	// Features are the fields of the problem that the flags of servers set, as in "sinks paged keys".
	Features string `json:"features,omitempty"`
	Device   string `json:"device"` // the device that was measured, or the chip of the predictions
	Measure  string `json:"measure"`
}

// The values of Measure.
const (
	Measured  = "measured"
	Predicted = "PREDICTED"
)

func (g Goal) String() string {
	shape := g.Shape
	if g.Causal {
		shape += " causal"
	}
	if g.Features != "" {
		shape += " " + g.Features
	}
	return fmt.Sprintf("%s, %s to %s, %s, shape %s, %s for %s", g.Kernel, g.Format, g.Output, g.Target, shape, g.Measure, g.Device)
}

// Trial is a configuration that was tried.
type Trial struct {
	Config attn.Config `json:"config"`
	Name   string      `json:"name"`   // the name of the configuration
	SHA256 string      `json:"sha256"` // the SHA-256 of its PTX
	Green  bool        `json:"green"`
	Why    string      `json:"why,omitempty"` // why it is not green
	// Micros is the time of one launch in microseconds. Ratio is that time over the time of the
	// start, in the same run if the times were measured.
	Micros float64 `json:"us,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
}

// State is the progress of a search.
type State struct {
	Schema int     `json:"schema"`
	Goal   Goal    `json:"goal"`
	Trials []Trial `json:"trials"` // the trials in their order; the first is the start
}

// Load reads a state, or returns an empty one if there is no file. It refuses a state of another
// goal.
func Load(path string, g Goal) (*State, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &State{Schema: Schema, Goal: g, Trials: []Trial{}}, nil
	}
	if err != nil {
		return nil, err
	}
	s := &State{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%s is not the state of a search: %w", path, err)
	}
	switch {
	case s.Schema != Schema:
		return nil, fmt.Errorf("%s has schema %d, but this version of attest reads %d", path, s.Schema, Schema)
	case s.Goal != g:
		return nil, fmt.Errorf("%s holds another search (%v): name another file, or remove it", path, s.Goal)
	}
	return s, nil
}

// Save writes the state. A crash leaves the previous file.
func (s *State) Save(path string) error {
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'))
}

// find returns the trial of a configuration, or nil.
func (s *State) find(c attn.Config) *Trial {
	i := slices.IndexFunc(s.Trials, func(t Trial) bool { return t.Config == c })
	if i < 0 {
		return nil
	}
	return &s.Trials[i]
}

// Best returns the n fastest green trials, the fastest first. If several configurations give the
// same PTX, it returns one of them.
func (s *State) Best(n int) (list []Trial) {
	seen := map[string]bool{}
	for _, t := range s.ranked() {
		if !seen[t.SHA256] && len(list) < n {
			list = append(list, t)
		}
		seen[t.SHA256] = true
	}
	return list
}

// ranked returns the green trials, the fastest first.
func (s *State) ranked() (list []Trial) {
	for _, t := range s.Trials {
		if t.Green {
			list = append(list, t)
		}
	}
	sorted.By(list, func(a, b Trial) int {
		switch {
		case a.Ratio < b.Ratio:
			return -1
		case a.Ratio > b.Ratio:
			return 1
		}
		return 0
	})
	return list
}

// Green returns the number of green trials.
func (s *State) Green() int { return len(s.ranked()) }
