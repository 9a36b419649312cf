package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/record"
)

// textFile returns the file of a PTX text. Records name a text by its hash and the log chains
// the records, so a text needs no entry of its own.
func textFile(hash string) string { return filepath.Join("objects", hash[:2], hash+".ptx") }

// AddText adds the PTX text of a kernel and returns its hash, the SHA256 of a
// [record.Kernel]. A text that is present already is not added again.
func (s *Store) AddText(text string) (hash string, err error) {
	hash = hashOf([]byte(text))
	if err := s.writeText(hash, []byte(text)); err != nil {
		return "", s.explain(err)
	}
	return hash, nil
}

func (s *Store) writeText(hash string, text []byte) error {
	file := textFile(hash)
	if there, err := s.readPath(file); err == nil && bytes.Equal(there, text) {
		return nil
	}
	if err := s.makeFolders(filepath.Dir(file)); err != nil {
		return err
	}
	if err := s.firstHead(); err != nil {
		return err
	}
	draft, err := s.draft(text)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	if err := s.rename(draft, file); err != nil {
		return err
	}
	return s.sync(filepath.Dir(file))
}

// Text returns the PTX text with a hash, checked against the hash.
func (s *Store) Text(hash string) (string, error) {
	data, err := s.readFile(hash, textFile)
	return string(data), err
}

// Kernel returns the kernel that a record describes, with its text, ready to be run again.
// Records of schema 1 have neither the text nor the call.
func (s *Store) Kernel(k *record.Kernel) (*kernel.Kernel, error) {
	if k.Call == nil {
		return nil, fmt.Errorf("the record has schema 1, which keeps neither the PTX of %s nor its call", k.Name)
	}
	text, err := s.Text(k.SHA256)
	if err != nil {
		return nil, err
	}
	return k.Contract(text), nil
}

// readFile returns the content of a file that is named by its hash.
func (s *Store) readFile(hash string, name func(string) string) ([]byte, error) {
	if !isHash(hash) {
		return nil, fmt.Errorf("%q is not a hash", hash)
	}
	file := filepath.ToSlash(name(hash))
	data, err := s.readPath(name(hash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Problem{file, "is missing"}
	case err != nil:
		return nil, Problem{file, reason(err)}
	}
	if got := hashOf(data); got != hash {
		return nil, Problem{file, fmt.Sprintf("is damaged: its content has the hash %s…, which is not its name", got[:12])}
	}
	return data, nil
}

// textsOf returns the hashes of the texts that a record names, each once.
func textsOf(r *record.Record) (hashes []string) {
	for _, k := range []*record.Kernel{&r.Kernel, r.Baseline} {
		if k != nil && k.Call != nil && !slices.Contains(hashes, k.SHA256) {
			hashes = append(hashes, k.SHA256)
		}
	}
	return hashes
}

// copyTexts copies the texts that a record of another store names.
func (s *Store) copyTexts(from *Store, r *record.Record) error {
	for _, hash := range textsOf(r) {
		if err := s.copyText(from, hash); err != nil {
			return err
		}
	}
	return nil
}

// copyText copies a text of another store, unless it is present.
func (s *Store) copyText(from *Store, hash string) error {
	if _, err := s.Text(hash); err == nil {
		return nil
	}
	text, err := from.Text(hash)
	if err != nil {
		return err
	}
	if err := s.writeText(hash, []byte(text)); err != nil {
		return s.explain(err)
	}
	return nil
}
