package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/record"
)

// Problem is a damaged file, or a note about a file.
type Problem struct {
	Path string `json:"path"` // the path in the store
	What string `json:"what"`
}

func (p Problem) String() string { return p.Path + ": " + p.What }

func (p Problem) Error() string { return p.String() }

// Entries returns the entries of the log in order, and the problems of those that cannot be
// read.
func (s *Store) Entries() (entries []Entry, problems []Problem) {
	h, headErr := s.readHead() // before the log, so that the log has what the head names
	numbers, err := s.numbers()
	if err != nil {
		problems = append(problems, Problem{"log", reason(err)})
	}
	newest := 0
	if len(numbers) > 0 {
		newest = numbers[len(numbers)-1]
	}
	switch {
	case headErr == nil:
	case !errors.Is(headErr, fs.ErrNotExist):
		problems = append(problems, Problem{headFile, reason(headErr)})
	case newest > 0:
		problems = append(problems, Problem{headFile, "is missing: it was removed"})
	}
	next := 1
	for _, seq := range numbers {
		if seq > next {
			problems = append(problems, missing(next, seq-1))
		}
		next = seq + 1
		e, _, err := s.entry(seq)
		if err != nil {
			problems = append(problems, Problem{filepath.ToSlash(logFile(seq)), reason(err)})
			continue
		}
		entries = append(entries, *e)
	}
	if h.Seq > newest {
		problems = append(problems, missing(newest+1, h.Seq))
	}
	return entries, problems
}

func missing(from, to int) Problem {
	p := Problem{filepath.ToSlash(logFile(from)), "is missing: it was removed or renamed"}
	if to > from {
		p.What = fmt.Sprintf("is missing, and all entries up to %s: they were removed or renamed", filepath.ToSlash(logFile(to)))
	}
	return p
}

// entry reads one entry of the log and returns it with its hash.
func (s *Store) entry(seq int) (*Entry, string, error) {
	data, err := s.readPath(logFile(seq))
	if err != nil {
		return nil, "", err
	}
	hash := hashOf(data)
	var e Entry
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, hash, fmt.Errorf("is damaged: %w", err)
	}
	switch {
	case e.Seq != seq:
		return &e, hash, fmt.Errorf("is entry %d by its content: it was renamed or replaced", e.Seq)
	case !slices.Contains(kinds, e.Kind):
		return &e, hash, fmt.Errorf("is damaged: no kind %q", e.Kind)
	case !isHash(e.Object):
		return &e, hash, fmt.Errorf("is damaged: %q is no hash", e.Object)
	}
	return &e, hash, nil
}

// Object returns the bytes of an object, checked against its hash.
func (s *Store) Object(hash string) ([]byte, error) { return s.readFile(hash, objectFile) }

// Record returns the record with a hash. A record of an older schema is upgraded in memory, and
// kernels that were renamed get their new names; the file stays as it is.
func (s *Store) Record(hash string) (*record.Record, error) {
	r, err := decode(s, hash, record.Read)
	if err == nil && r.Kernel.Name == "" && r.Kernel.SHA256 == "" {
		return nil, Problem{filepath.ToSlash(objectFile(hash)), "is not a record"}
	}
	if err == nil {
		s.identify(r)
		rename(r)
	}
	return r, err
}

// Verdict returns the verdict with a hash.
func (s *Store) Verdict(hash string) (*record.Verdict, error) {
	v, err := decode(s, hash, record.ReadVerdict)
	if err == nil && (v.Outcome == "" || !isHash(v.Record)) {
		return nil, Problem{filepath.ToSlash(objectFile(hash)), "is not a verdict"}
	}
	return v, err
}

// Note returns the note with a hash.
func (s *Store) Note(hash string) (*record.Note, error) {
	n, err := decode(s, hash, record.ReadNote)
	if err == nil && (len(n.Parts()) == 0 || !isHash(n.Record)) {
		return nil, Problem{filepath.ToSlash(objectFile(hash)), "is not a note"}
	}
	return n, err
}

// Score returns the mutation score with a hash.
func (s *Store) Score(hash string) (*record.Score, error) {
	m, err := decode(s, hash, record.ReadScore)
	if err == nil && (m.Kernel.SHA256 == "" || m.Fates == nil) {
		return nil, Problem{filepath.ToSlash(objectFile(hash)), "is not a score"}
	}
	if err == nil {
		m.Kernel.Name = nameToday(m.Kernel.Name)
	}
	return m, err
}

// decode reads an object.
func decode[T any](s *Store, hash string, read func([]byte) (*T, error)) (*T, error) {
	data, err := s.Object(hash)
	if err != nil {
		return nil, err
	}
	v, err := read(data)
	if err != nil {
		return nil, Problem{filepath.ToSlash(objectFile(hash)), "cannot be read: " + err.Error()}
	}
	return v, nil
}

// Find returns the entry of the only object whose hash starts with a prefix.
func (s *Store) Find(prefix string) (Entry, error) {
	prefix = strings.TrimSuffix(strings.ToLower(prefix), "…")
	entries, problems := s.Entries()
	var found []Entry
	for i := range entries {
		named := func(e Entry) bool { return e.Object == entries[i].Object } // an object that was lost and added again
		if strings.HasPrefix(entries[i].Object, prefix) && !slices.ContainsFunc(found, named) {
			found = append(found, entries[i])
		}
	}
	switch {
	case prefix == "":
		return Entry{}, errors.New("give a hash or its first letters; attest evidence list shows them")
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var names []string
		for i := range found[:min(len(found), 4)] {
			names = append(names, found[i].Object[:min(64, len(prefix)+6)])
		}
		return Entry{}, fmt.Errorf("%s is the start of %d hashes (%s, …): give more letters", prefix, len(found), strings.Join(names, ", "))
	case len(problems) > 0:
		return Entry{}, fmt.Errorf("nothing in %s has a hash that starts with %s, but parts of the store are damaged; see attest evidence verify", s.dir, prefix)
	}
	return Entry{}, fmt.Errorf("nothing in %s has a hash that starts with %s; attest evidence list shows all hashes", s.dir, prefix)
}

// reason returns the text of an error without its path, which the problem already names.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return "cannot be read: " + p.Err.Error()
	}
	return err.Error()
}
