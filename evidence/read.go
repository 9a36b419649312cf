package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/record"
)

// Problem is a file that is not as it was written, or a note about one that is.
type Problem struct {
	Path string `json:"path"` // in the store
	What string `json:"what"`
}

func (p Problem) String() string { return p.Path + ": " + p.What }

func (p Problem) Error() string { return p.String() }

// Entries are the log in its order, and what could not be read of it.
func (s *Store) Entries() (entries []Entry, problems []Problem) {
	h, headErr := s.readHead() // before the log, so that the log has what the head names
	newest, err := s.newest()
	if err != nil {
		problems = append(problems, Problem{"log", reason(err)})
	}
	switch {
	case headErr == nil:
	case !errors.Is(headErr, fs.ErrNotExist):
		problems = append(problems, Problem{headFile, reason(headErr)})
	case newest > 0:
		problems = append(problems, Problem{headFile, "is missing: it was removed"})
	}
	for seq := 1; seq <= newest; seq++ {
		e, _, err := s.entry(seq)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			last := s.gap(seq, newest)
			problems = append(problems, missing(seq, last))
			seq = last
		case err != nil:
			problems = append(problems, Problem{filepath.ToSlash(logFile(seq)), reason(err)})
		default:
			entries = append(entries, *e)
		}
	}
	if h.Seq > newest {
		problems = append(problems, missing(newest+1, h.Seq))
	}
	return entries, problems
}

// gap is the last of the entries that are missing from a number on.
func (s *Store) gap(seq, newest int) int {
	for seq < newest {
		if _, err := os.Lstat(s.path(logFile(seq + 1))); err == nil {
			break
		}
		seq++
	}
	return seq
}

func missing(from, to int) Problem {
	p := Problem{filepath.ToSlash(logFile(from)), "is missing: it was removed or renamed"}
	if to > from {
		p.What = fmt.Sprintf("is missing, and so is all up to %s: they were removed or renamed", filepath.ToSlash(logFile(to)))
	}
	return p
}

// entry reads one line of the log, and its hash.
func (s *Store) entry(seq int) (*Entry, string, error) {
	data, err := os.ReadFile(s.path(logFile(seq)))
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
	case e.Kind != Record && e.Kind != Verdict:
		return &e, hash, fmt.Errorf("is damaged: no kind %q", e.Kind)
	case !isHash(e.Object):
		return &e, hash, fmt.Errorf("is damaged: %q is no hash", e.Object)
	}
	return &e, hash, nil
}

// Object is the bytes of an object, checked against its name.
func (s *Store) Object(hash string) ([]byte, error) { return s.readFile(hash, objectFile) }

// Record is the record with a hash. One of an older schema is upgraded as it is read, and
// kernels that have been renamed have their new names; its file stays as it is.
func (s *Store) Record(hash string) (*record.Record, error) {
	r, err := decode(s, hash, record.Read)
	if err == nil && r.Kernel.Name == "" && r.Kernel.SHA256 == "" {
		return nil, Problem{filepath.ToSlash(objectFile(hash)), "is no record"}
	}
	if err == nil {
		s.identify(r)
		rename(r)
	}
	return r, err
}

// Verdict is the verdict with a hash.
func (s *Store) Verdict(hash string) (*record.Verdict, error) {
	v, err := decode(s, hash, record.ReadVerdict)
	if err == nil && (v.Outcome == "" || !isHash(v.Record)) {
		return nil, Problem{filepath.ToSlash(objectFile(hash)), "is no verdict"}
	}
	return v, err
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

// Find is the entry whose object has a hash that starts so.
func (s *Store) Find(prefix string) (Entry, error) {
	prefix = strings.TrimSuffix(strings.ToLower(prefix), "…")
	entries, problems := s.Entries()
	var found []Entry
	for i := range entries {
		named := func(e Entry) bool { return e.Object == entries[i].Object } // lost once, and added anew
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
		return Entry{}, fmt.Errorf("%s is the start of %d hashes (%s, …): give more of it", prefix, len(found), strings.Join(names, ", "))
	case len(problems) > 0:
		return Entry{}, fmt.Errorf("nothing in %s has a hash that starts with %s; but parts of the store are damaged, see attest evidence verify", s.dir, prefix)
	}
	return Entry{}, fmt.Errorf("nothing in %s has a hash that starts with %s; attest evidence list shows what there is", s.dir, prefix)
}

// reason is an error without the path, where the path is said already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return "cannot be read: " + p.Err.Error()
	}
	return err.Error()
}
