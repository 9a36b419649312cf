package ref

import (
	"bytes"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

// TestFillUnused wants rows that belong to no sequence to get other rows, and the rows of sequences to stay.
func TestFillUnused(t *testing.T) {
	for _, keys := range []problem.Placement{problem.Uniform, problem.Padded, problem.Paged} {
		p := problem.Attention{Shape: problem.Square(2, 1, 5, 1), Keys: keys}
		if keys != problem.Uniform {
			p.Batch = problem.Batch{LengthsKV: "3,5", PageSize: 4}
		}
		places := NewPlaces(p, 1)
		data := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
		memory := places.KV.Scatter(data, 1)
		lost := bytes.Count(memory, []byte{unused})
		before := bytes.Clone(memory)
		picked := 0
		places.KV.FillUnused(memory, 1, data, func(rows int) int {
			picked++
			return rows - 1
		})
		if picked != lost || bytes.Count(memory, []byte{unused}) != 0 || !bytes.Equal(places.KV.Gather(memory, 1), places.KV.Gather(before, 1)) {
			t.Errorf("%q: %v becomes %v, %d rows of %d were filled", keys, before, memory, picked, lost)
		}
		if want := map[problem.Placement]int{problem.Padded: 2, problem.Paged: 4}[keys]; lost != want || bytes.Count(memory, data[9:]) != lost+1 {
			t.Errorf("%q: %v has %d unused rows, want %d", keys, memory, lost, want)
		}
	}
}
