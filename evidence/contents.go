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

// Verdict returns the newest verdict, or nil.
func (i *Item) Verdict() *Judgement {
	if len(i.Verdicts) == 0 {
		return nil
	}
	return &i.Verdicts[len(i.Verdicts)-1]
}

// Contents is everything in a store.
type Contents struct {
	Items []*Item // in the order they were added
	Check *Check  // of the whole store
}

// Load reads and verifies a whole store. Damaged objects are left out and listed among the
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
