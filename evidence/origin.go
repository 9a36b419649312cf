package evidence

import (
	"fmt"
	"path/filepath"
)

// mostOrigins is how many stores an entry may have passed through. A longer list leaves out the
// later ones, because each check of a signature encodes all entries within.
const mostOrigins = 8

// mark is the signature of an entry and its key.
type mark struct{ signer, signature string }

func markOf(e *Entry) mark { return mark{e.Signer, e.Signature} }

// innermost returns the entry that was there first.
func innermost(e *Entry) *Entry {
	for e.Origin != nil {
		e = e.Origin
	}
	return e
}

// origin returns what an import keeps of an entry. An entry after the last signed one is covered by no
// signature, so only what it was imported with counts.
func origin(e Entry, covered int) *Entry {
	depth := 0
	for o := e.Origin; o != nil; o = o.Origin {
		depth++
	}
	if e.Seq > covered || depth >= mostOrigins {
		return e.Origin
	}
	return &e
}

// origin reports an entry with an origin that is about something else, or that was changed.
func (v *verification) origin(e *Entry) {
	depth := 0
	for o := e.Origin; o != nil; o = o.Origin {
		if depth++; depth > mostOrigins {
			v.problem(logFile(e.Seq), "has more than %d origins", mostOrigins)
			return
		}
		switch {
		case o.Object != e.Object || o.Kind != e.Kind || o.Judges != e.Judges || o.Outcome != e.Outcome ||
			!o.Time.Equal(e.Time) || nameToday(o.Kernel) != nameToday(e.Kernel) || o.Device != e.Device:
			v.problem(logFile(e.Seq), "has an origin that is about another object")
			return
		case (o.Signer != "" || o.Signature != "") && !signed(*o):
			v.problem(logFile(e.Seq), "has an origin with a signature that does not fit: the entry was changed")
			return
		}
	}
}

// anySigned reports whether a key has signed an entry or one of its origins.
func anySigned(e *Entry, ours func(*Entry) bool) bool {
	for ; e != nil; e = e.Origin {
		if ours(e) {
			return true
		}
	}
	return false
}

// imported returns the numbers of the entries whose origins a key vouches for: by its
// signature, or because a signed entry follows in the chain of hashes. A gap in such a chain is a note, since
// the reader then does not see all that was signed.
func (v *verification) imported(entries []Entry, ours func(*Entry) bool) map[int]bool {
	type link struct {
		*Entry
		here int // the entry of this log that has it as an origin
	}
	byHash := map[string][]link{}
	var open []link
	for i := range entries {
		depth := 0
		for o := entries[i].Origin; o != nil && depth < mostOrigins; o = o.Origin {
			depth++
			line, err := encode(o)
			if err != nil {
				continue
			}
			l := link{o, entries[i].Seq}
			byHash[hashOf(line)] = append(byHash[hashOf(line)], l)
			if ours(o) {
				open = append(open, l)
			}
		}
	}
	vouched, followed := map[int]bool{}, map[string]bool{}
	for len(open) > 0 {
		l := open[len(open)-1]
		open = open[:len(open)-1]
		vouched[l.here] = true
		if l.Previous == "" || followed[l.Previous] {
			continue
		}
		followed[l.Previous] = true
		before := byHash[l.Previous]
		if before == nil {
			v.Notes = append(v.Notes, Problem{filepath.ToSlash(logFile(l.here)), fmt.Sprintf("was imported, but not the entry before it in its first store, number %d", l.Seq-1)})
		}
		open = append(open, before...)
	}
	return vouched
}
