package repo

import (
	"testing"

	"github.com/GOATnote-Inc/attest/record"
)

// TestValidNegativesHaveNotes: a published kernel that does not pay says why, so that nobody
// tries the idea again without knowing.
func TestValidNegativesHaveNotes(t *testing.T) {
	for _, k := range published(t).Kernels {
		if k.Outcome() == record.ValidNegative && len(k.Now.Notes) == 0 {
			t.Errorf("%s (record %s) is a valid negative without a note: run attest evidence note --file evidence/notes.json --evidence evidence, "+
				"after adding the note to the file if it has none for this kernel", k.Label, k.Now.Hash[:10])
		}
	}
}
