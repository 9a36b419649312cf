package evidence

import "github.com/GOATnote-Inc/attest/record"

// Judgement is a verdict with its hash.
type Judgement struct {
	Hash string
	Seq  int
	*record.Verdict
}

// Item is a record with its hash and the verdicts on it, the oldest first.
type Item struct {
	Hash string
	Seq  int
	*record.Record
	Verdicts []Judgement
}

// Verdict is the newest verdict, nil for none.
func (i *Item) Verdict() *Judgement {
	if len(i.Verdicts) == 0 {
		return nil
	}
	return &i.Verdicts[len(i.Verdicts)-1]
}

// Contents is all that a store has.
type Contents struct {
	Items []*Item // in the order they were added
	Check *Check  // of the whole store
}

// Load reads and verifies all of a store. What is damaged is left out and is among the
// problems of the check.
func (s *Store) Load() *Contents {
	v := s.verify()
	c := &Contents{Items: v.records, Check: &v.Check}
	byHash := map[string]*Item{}
	for _, r := range v.records {
		byHash[r.Hash] = r
	}
	for _, j := range v.verdicts {
		if item := byHash[j.Record]; item != nil {
			item.Verdicts = append(item.Verdicts, j)
		}
	}
	return c
}
