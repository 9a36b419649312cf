package evidence

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/record"
)

// Dir is the folder of the user's own evidence, in the current directory. Commands write to
// it unless another folder is named.
const Dir = ".attest"

// MakeDir makes a folder for evidence, with its parents. A new folder that is called Dir
// gets a .gitignore that excludes all of its content, so that results do not appear as
// changes in the user's repository.
func MakeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if filepath.Base(dir) != Dir {
		return nil
	}
	return atomicfile.Write(filepath.Join(dir, ".gitignore"), []byte("*\n"))
}

// Store is a folder of evidence.
type Store struct {
	dir string
	key ed25519.PrivateKey // nil if entries are not signed
	// faults, if not nil, is asked before each operation on files which error it has. Only tests
	// set it.
	faults func(operation string) error

	once       sync.Once
	identities map[string]string // the identities of the PTX texts that old records name
}

// Open returns the store in a folder. A folder that does not exist is an empty store; it is
// made when something is added.
func Open(dir string) (*Store, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("evidence in %s: %w", dir, err)
	case !info.IsDir():
		return nil, fmt.Errorf("evidence in %s: it is a file; name a folder", dir)
	}
	return &Store{dir: dir}, nil
}

// Path returns the folder of the store.
func (s *Store) Path() string { return s.dir }

// AddRecord adds a record and returns its hash, which verdicts on it name. The PTX texts of
// its kernels must be in the store; see [Store.AddText]. A record that is present is not
// added again, but its file is restored if it was damaged.
func (s *Store) AddRecord(r *record.Record) (hash string, err error) {
	if r.Schema != record.Schema {
		return "", fmt.Errorf("a record of schema %d: this version writes %d", r.Schema, record.Schema)
	}
	for _, hash := range textsOf(r) {
		if _, err := s.Text(hash); err != nil {
			return "", fmt.Errorf("the PTX of a kernel of the record: %w", err)
		}
	}
	return s.add(r, recordEntry(r))
}

// AddVerdict adds a verdict and returns its hash. The record that it names must be in
// the store.
func (s *Store) AddVerdict(v *record.Verdict) (hash string, err error) {
	if v.Schema != record.Schema {
		return "", fmt.Errorf("a verdict of schema %d: this version writes %d", v.Schema, record.Schema)
	}
	r, err := s.Record(v.Record)
	if err != nil {
		return "", fmt.Errorf("the record that the verdict judges: %w", err)
	}
	return s.add(v, verdictEntry(v, r))
}

// AddNote adds a note and returns its hash. The record that it is about must be in the
// store.
func (s *Store) AddNote(n *record.Note) (hash string, err error) {
	if n.Schema != record.Schema {
		return "", fmt.Errorf("a note of schema %d: this version writes %d", n.Schema, record.Schema)
	}
	if len(n.Parts()) == 0 {
		return "", errors.New("the note is empty")
	}
	r, err := s.Record(n.Record)
	if err != nil {
		return "", fmt.Errorf("the record that the note is about: %w", err)
	}
	return s.add(n, noteEntry(n, r))
}

// AddScore adds a mutation score and returns its hash. The PTX of its kernel must be in the
// store; see [Store.AddText].
func (s *Store) AddScore(m *record.Score) (hash string, err error) {
	if m.Schema != record.Schema {
		return "", fmt.Errorf("a score of schema %d: this version writes %d", m.Schema, record.Schema)
	}
	if _, err := s.Text(m.Kernel.SHA256); err != nil {
		return "", fmt.Errorf("the PTX of the kernel of the score: %w", err)
	}
	return s.add(m, scoreEntry(m))
}

func recordEntry(r *record.Record) Entry {
	return Entry{Kind: Record, Time: r.Build.Time, Kernel: r.Kernel.Name, Device: r.Build.Device.Name}
}

func verdictEntry(v *record.Verdict, r *record.Record) Entry {
	return Entry{Kind: Verdict, Time: v.Time, Kernel: r.Kernel.Name, Device: r.Build.Device.Name, Judges: v.Record, Outcome: v.Outcome}
}

func noteEntry(n *record.Note, r *record.Record) Entry {
	return Entry{Kind: Note, Time: n.Time, Kernel: r.Kernel.Name, Device: r.Build.Device.Name, Judges: n.Record}
}

func scoreEntry(m *record.Score) Entry {
	return Entry{Kind: Score, Time: m.Build.Time, Kernel: m.Kernel.Name, Device: m.Build.Device.Name}
}

// add writes an object and its entry.
func (s *Store) add(object any, e Entry) (hash string, err error) {
	data, err := encode(object)
	if err != nil {
		return "", fmt.Errorf("the %s cannot be written as JSON: %w", e.Kind, err)
	}
	e.Object = hashOf(data)
	if err := s.publish(data, e); err != nil {
		return "", s.explain(err)
	}
	return e.Object, nil
}

// publish makes an object and its entry visible. A crash between any two of its steps leaves
// the store intact.
func (s *Store) publish(data []byte, e Entry) error {
	file := objectFile(e.Object)
	if err := s.makeFolders(filepath.Dir(file)); err != nil {
		return err
	}
	s.sweep()
	if err := s.firstHead(); err != nil {
		return err
	}
	there, err := s.readPath(file)
	logged := err == nil && s.logged(&e) // without the file, the log need not be read
	if logged && bytes.Equal(there, data) {
		return nil
	}
	draft, err := s.draft(data)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	var d drafts
	defer d.remove()
	// The entry is drafted before the object is visible, so a full disk leaves nothing
	// behind.
	if !logged {
		if err := s.draftEntry(&d, e); err != nil {
			return err
		}
	}
	if err := s.rename(draft, file); err != nil {
		return err
	}
	if err := s.sync(filepath.Dir(file)); err != nil || logged {
		return err
	}
	return s.append(&d, e)
}

// drafts are the files of an entry that is not visible yet.
type drafts struct {
	seq         int
	entry, head string
}

func (d *drafts) remove() {
	for _, path := range []string{d.entry, d.head} {
		if path != "" {
			os.Remove(path)
		}
	}
}

// draftEntry drafts the entry after the newest one.
func (s *Store) draftEntry(d *drafts, e Entry) error {
	d.remove()
	*d = drafts{}
	last, err := s.tail()
	if err != nil {
		return err
	}
	e.Seq, e.Previous = last.Seq+1, last.Entry
	if err := s.sign(&e); err != nil {
		return err
	}
	line, err := encode(e)
	if err != nil {
		return err
	}
	d.seq = e.Seq
	if d.entry, err = s.draft(line); err != nil {
		return err
	}
	now, err := encode(head{Seq: e.Seq, Entry: hashOf(line)})
	if err != nil {
		return err
	}
	d.head, err = s.draft(now)
	return err
}

// append gives the entry the next free number. If the number is taken, another process has
// added an entry, so at least one process always makes progress.
func (s *Store) append(d *drafts, e Entry) error {
	for {
		err := s.link(d.entry, logFile(d.seq))
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := s.draftEntry(d, e); err != nil {
			return err
		}
	}
	if err := s.sync("log"); err != nil {
		return err
	}
	if err := s.rename(d.head, headFile); err != nil {
		return err
	}
	return s.catchUp(d.seq)
}

// catchUp moves the head to the newest entry. Another process may have written a newer head
// that this process replaced by its own.
func (s *Store) catchUp(seq int) error {
	for {
		newest, err := s.newest()
		if err != nil || newest <= seq {
			return errors.Join(err, s.sync("."))
		}
		data, err := s.readPath(logFile(newest))
		if err != nil {
			return err
		}
		now, err := encode(head{Seq: newest, Entry: hashOf(data)})
		if err != nil {
			return err
		}
		draft, err := s.draft(now)
		if err != nil {
			return err
		}
		if err := s.rename(draft, headFile); err != nil {
			os.Remove(draft)
			return err
		}
		seq = newest
	}
}

// logged reports whether the log has an entry for the object of e, with the signature that e
// was imported with.
func (s *Store) logged(e *Entry) bool {
	want := markOf(innermost(e))
	entries, _ := s.Entries() // damaged ones name nothing
	for i := range entries {
		if entries[i].Object != e.Object {
			continue
		}
		if e.Origin == nil || want.signature == "" {
			return true
		}
		for o := &entries[i]; o != nil; o = o.Origin {
			if markOf(o) == want {
				return true
			}
		}
	}
	return false
}
