package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/record"
)

// Kind is the kind of an object.
type Kind string

// The kinds.
const (
	Record  Kind = "record"
	Verdict Kind = "verdict"
	Note    Kind = "note"
	Score   Kind = "score"
)

var kinds = []Kind{Record, Verdict, Note, Score}

// Entry is one entry of the log: what was added, and what a reader searches for.
type Entry struct {
	Seq      int       `json:"seq"`      // from 1
	Previous string    `json:"previous"` // hash of the entry before, "" for the first
	Kind     Kind      `json:"kind"`
	Object   string    `json:"object"` // the hash, which is also the name of the file
	Time     time.Time `json:"time"`   // the time of the object
	Kernel   string    `json:"kernel"`
	Device   string    `json:"device"`
	Judges   string    `json:"judges,omitempty"` // hash of the record that a verdict or a note is about
	// Outcome is set for verdicts only.
	Outcome record.Outcome `json:"outcome,omitempty"`
	// Signer is the public key (ed25519, in hexadecimal) of the writer, and Signature the signature
	// of this entry without the field. Both are empty if the writer had no key.
	Signer    string `json:"signer,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Origin is the entry that the object had in the store from which it was imported, with the
	// signature that it had there. It is nil if no signature covered that entry.
	Origin *Entry `json:"origin,omitempty"`
}

// head names the newest entry that its writer knew.
type head struct {
	Seq   int    `json:"seq"`
	Entry string `json:"entry"` // hash
}

const headFile = "head.json"

func logFile(seq int) string { return filepath.Join("log", fmt.Sprintf("%08d.json", seq)) }

func objectFile(hash string) string { return filepath.Join("objects", hash[:2], hash+".json") }

// isHash reports whether text can name an object.
func isHash(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// encode returns the bytes of a file: one line of JSON.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// readHead reads head.json.
func (s *Store) readHead() (h head, err error) {
	data, err := s.readPath(headFile)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(data, &h); err != nil || h.Seq < 0 || isHash(h.Entry) != (h.Seq > 0) {
		return head{}, errors.New("is damaged")
	}
	return h, nil
}

// firstHead writes the head of an empty store. A store without a head has therefore lost it.
func (s *Store) firstHead() error {
	if _, err := os.Lstat(s.path(headFile)); err == nil {
		return nil
	}
	if newest, err := s.newest(); err != nil || newest > 0 {
		return err
	}
	data, err := encode(head{})
	if err != nil {
		return err
	}
	draft, err := s.draft(data)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	if err := s.link(draft, headFile); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.sync(".")
}

// numbers returns the numbers of the entries in the log in order. A number may be anything that
// a file can be called, so no loop may run over the numbers in between.
func (s *Store) numbers() (list []int, err error) {
	if err := s.fail("list"); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(s.path("log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		if seq, ok := logNumber(f.Name()); ok {
			list = append(list, seq)
		}
	}
	sort.Ints(list)
	return list, err
}

// newest returns the highest number in the log, 0 if there is none.
func (s *Store) newest() (int, error) {
	list, err := s.numbers()
	if len(list) == 0 {
		return 0, err
	}
	return list[len(list)-1], err
}

// logNumber returns the number in the name of an entry's file.
func logNumber(name string) (seq int, ok bool) {
	seq, err := strconv.Atoi(strings.TrimSuffix(name, ".json"))
	return seq, err == nil && seq > 0 && logFile(seq) == filepath.Join("log", name)
}

// tail returns the entry that the next entry is chained to. If the head names the newest
// entry, tail trusts the head and not the file, which may have been changed.
func (s *Store) tail() (head, error) {
	seq, err := s.newest()
	if err != nil {
		return head{}, err
	}
	if h, err := s.readHead(); err == nil && h.Seq >= seq {
		return h, nil
	}
	if seq == 0 {
		return head{}, nil
	}
	data, err := s.readPath(logFile(seq))
	if err != nil {
		return head{}, err
	}
	return head{Seq: seq, Entry: hashOf(data)}, nil
}
