package evidence

import (
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/record"
)

// Judgement is a verdict with its hash.
type Judgement struct {
	Hash string
	Seq  int
	*record.Verdict
}

// Remark is a note with its hash.
type Remark struct {
	Hash string
	Seq  int
	*record.Note
}

// Item is a record with its hash, the verdicts on it and the notes about it, the oldest
// first.
type Item struct {
	Hash string
	Seq  int
	*record.Record
	Verdicts []Judgement
	Notes    []Remark
}

// Verdict returns the newest verdict, or nil.
func (i *Item) Verdict() *Judgement {
	if len(i.Verdicts) == 0 {
		return nil
	}
	return &i.Verdicts[len(i.Verdicts)-1]
}

// Counts is how many objects of each kind there are.
type Counts struct {
	Records  int `json:"records"`
	Verdicts int `json:"verdicts"`
	Remarks  int `json:"remarks"` // notes about records
	Scores   int `json:"scores"`  // mutation scores
}

// Text returns the numbers in words: "2 records and 1 verdict". It counts notes and scores if
// there are any: "2 records, 1 verdict and 1 note".
func (n *Counts) Text() string {
	words := []string{english.Count(n.Records, "record"), english.Count(n.Verdicts, "verdict")}
	if n.Remarks > 0 {
		words = append(words, english.Count(n.Remarks, "note"))
	}
	if n.Scores > 0 {
		words = append(words, english.Count(n.Scores, "mutation score"))
	}
	return english.List(words)
}

func (n *Counts) add(k Kind) {
	switch k {
	case Record:
		n.Records++
	case Verdict:
		n.Verdicts++
	case Note:
		n.Remarks++
	case Score:
		n.Scores++
	}
}

// ScoreOfKernel is a mutation score with its hash.
type ScoreOfKernel struct {
	Hash string
	Seq  int
	*record.Score
}

// Contents is everything in a store.
type Contents struct {
	Items  []*Item         // the items in the order in which they were added
	Scores []ScoreOfKernel // the oldest first
	Check  *Check          // the result of checking the whole store
}

// Load reads and verifies a whole store. Damaged objects are left out and listed among the
// problems of the check.
func (s *Store) Load() *Contents {
	v := s.verify()
	c := &Contents{Items: v.records, Check: &v.Check, Scores: v.scores}
	byHash := map[string]*Item{}
	for _, r := range v.records {
		byHash[r.Hash] = r
	}
	for _, j := range v.verdicts {
		if item := byHash[j.Record]; item != nil {
			item.Verdicts = append(item.Verdicts, j)
		}
	}
	for _, n := range v.notes {
		if item := byHash[n.Record]; item != nil {
			item.Notes = append(item.Notes, n)
		}
	}
	return c
}
