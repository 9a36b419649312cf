package evidence

import "fmt"

// Imported counts what an import added.
type Imported struct {
	From string `json:"from"`
	Counts
	Known int `json:"known"` // objects that were present before
}

// Damage is the error of an operation that refuses a damaged store.
type Damage struct {
	Dir      string
	Problems []Problem
}

func (d *Damage) Error() string {
	return fmt.Sprintf("evidence in %s is damaged: %s; see attest evidence verify --evidence %s", d.Dir, d.Problems[0], d.Dir)
}

// Import adds the objects of another store in their order, with their hashes. Their entries keep the
// entries that they had there, so that signatures stay valid. It refuses a damaged store with a
// *Damage, since its objects would look sound here.
func (s *Store) Import(from *Store) (Imported, error) {
	n := Imported{From: from.dir}
	v := from.verify()
	if !v.OK() {
		return n, &Damage{from.dir, v.Problems}
	}
	ours, _ := s.Entries() // an object that is damaged here is added again
	known, marks := map[string]bool{}, map[mark]bool{}
	for i := range ours {
		if _, err := s.Object(ours[i].Object); err == nil {
			known[ours[i].Object] = true
			for e := &ours[i]; e != nil; e = e.Origin {
				marks[markOf(e)] = true
			}
		}
	}
	entries, _ := from.Entries()
	covered := 0 // the number of the last signed entry: it covers all before it
	for i := range entries {
		if entries[i].Signer != "" {
			covered = entries[i].Seq
		}
	}
	for _, it := range v.records { // the texts before the records that name them
		if err := s.copyTexts(from, it.Record); err != nil {
			return n, err
		}
	}
	for _, m := range v.scores {
		if err := s.copyText(from, m.Kernel.SHA256); err != nil {
			return n, err
		}
	}
	for _, e := range entries {
		e.Origin = origin(e, covered)
		here := known[e.Object]
		if here {
			n.Known++
		}
		if first := innermost(&e); here && (first.Signer == "" || marks[markOf(first)]) {
			continue // nothing is missing, not even a signature
		}
		data, err := from.Object(e.Object)
		if err != nil {
			return n, err
		}
		// The bytes are copied, since this version could encode them differently.
		if err := s.publish(data, e); err != nil {
			return n, s.explain(err)
		}
		if !here {
			n.add(e.Kind)
		}
	}
	return n, nil
}
