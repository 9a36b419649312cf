package repo

import (
	"testing"

	"github.com/GOATnote-Inc/attest/record"
)

// TestValidNegativesHaveNotes checks that every published kernel that was correct but not
// faster has a note that says why, so that nobody repeats the experiment without knowing it.
func TestValidNegativesHaveNotes(t *testing.T) {
	for _, k := range published(t).Kernels {
		if k.Outcome() == record.ValidNegative && len(k.Now.Notes) == 0 {
			t.Errorf("%s (record %s) is a valid negative without a note: run attest evidence note --file evidence/notes.json --evidence evidence, "+
				"after adding the note to the file if it has none for this kernel", k.Label, k.Now.Hash[:10])
		}
	}
}
