package evidence

import "fmt"

// Imported is what an import added.
type Imported struct {
	From     string `json:"from"`
	Records  int    `json:"records"`
	Verdicts int    `json:"verdicts"`
	Known    int    `json:"known"` // that were there already
}

// Damage is the error of something that will not be done with a damaged store.
type Damage struct {
	Dir      string
	Problems []Problem
}

func (d *Damage) Error() string {
	return fmt.Sprintf("evidence in %s is damaged, first of all %s; see attest evidence verify --evidence %s", d.Dir, d.Problems[0], d.Dir)
}

// Import adds what another store has, in its order, and keeps the hashes of records and
// verdicts. A damaged store is refused with a *Damage: what is taken from it would look
// as sound as all the rest.
func (s *Store) Import(from *Store) (Imported, error) {
	n := Imported{From: from.dir}
	v := from.verify()
	if !v.OK() {
		return n, &Damage{from.dir, v.Problems}
	}
	known := map[string]bool{}
	ours, _ := s.Entries() // of what is damaged here, another copy is welcome
	for i := range ours {
		if _, err := s.Object(ours[i].Object); err == nil {
			known[ours[i].Object] = true
		}
	}
	entries, _ := from.Entries()
	for _, it := range v.records { // the texts before the records that name them
		if err := s.copyTexts(from, it.Record); err != nil {
			return n, err
		}
	}
	for _, e := range entries {
		if known[e.Object] {
			n.Known++
			continue
		}
		data, err := from.Object(e.Object)
		if err != nil {
			return n, err
		}
		// The bytes are copied, not written anew: a later version may write them otherwise.
		if err := s.publish(data, e); err != nil {
			return n, s.explain(err)
		}
		if e.Kind == Record {
			n.Records++
		} else {
			n.Verdicts++
		}
	}
	return n, nil
}
