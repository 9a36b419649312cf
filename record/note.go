package record

import (
	"encoding/json"
	"time"
)

// Note is what a person learned from a record. A record can have any number of notes; none
// is ever changed.
type Note struct {
	Schema         int       `json:"schema"`
	Record         string    `json:"record"` // hash of the record that the note is about
	Time           time.Time `json:"time"`
	Hypothesis     string    `json:"hypothesis,omitempty"`
	RootCause      string    `json:"root_cause,omitempty"`
	Lesson         string    `json:"lesson,omitempty"`
	Recommendation string    `json:"recommendation,omitempty"`
}

// Parts returns the parts of the note that have a text, each with its title.
func (n *Note) Parts() (parts [][2]string) {
	for _, p := range [][2]string{
		{"hypothesis", n.Hypothesis}, {"root cause", n.RootCause}, {"lesson", n.Lesson}, {"recommendation", n.Recommendation},
	} {
		if p[1] != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// ReadNote reads a note.
func ReadNote(text []byte) (*Note, error) {
	if _, err := schemaOf(text); err != nil {
		return nil, err
	}
	var n Note
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, err
	}
	return &n, nil
}
