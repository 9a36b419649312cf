package runfuzz

import "testing"

// TestSameBits runs mutants with and without checkers and compares the memory that they leave, and how
// they fail.
func TestSameBits(t *testing.T) {
	m := mutator(t)
	compared := 0
	tried := *mutants / 10
	for i := range tried {
		seed := *first + uint64(i)
		s := settings(seed)
		s.Compare, s.Launches = true, s.Launches[launches-1:]
		res, err := Run(t.Context(), m.Mutant(seed), s)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if res.Outcome == Ran {
			compared++
		}
	}
	t.Logf("%d of %d texts were compared", compared, tried)
	if compared*20 < tried {
		t.Errorf("only %d of %d texts were compared", compared, tried)
	}
}
