package evidence

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Exported is what an export has in it.
type Exported struct {
	Records  int    `json:"records"`
	Verdicts int    `json:"verdicts"`
	Head     string `json:"head"` // hash of the newest entry
	Bytes    int64  `json:"bytes"`
}

// Export writes the store as one file, a tar of its directory that is compressed with
// gzip: `tar xzf` makes the directory of it, and Unpack does. The same evidence gives
// the same bytes. A damaged store is refused with a *Damage.
func (s *Store) Export(w io.Writer) (Exported, error) {
	var n Exported
	v := s.verify()
	if !v.OK() {
		return n, &Damage{s.dir, v.Problems}
	}
	entries, _ := s.Entries() // no damage was found
	counted := &counter{w: w}
	z := gzip.NewWriter(counted)
	t := tar.NewWriter(z)
	put := func(name string, data []byte) error {
		err := t.WriteHeader(&tar.Header{Name: path.Join("evidence", filepath.ToSlash(name)), Mode: readOnly, Size: int64(len(data)), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = t.Write(data)
		}
		return err
	}
	for _, hash := range slices.Sorted(maps.Keys(v.texts)) {
		text, err := s.Text(hash)
		if err != nil {
			return n, err
		}
		if err := put(textFile(hash), []byte(text)); err != nil {
			return n, err
		}
	}
	last := head{}
	for _, e := range entries {
		object, err := s.Object(e.Object)
		if err != nil {
			return n, err
		}
		line, err := os.ReadFile(s.path(logFile(e.Seq)))
		if err != nil {
			return n, err
		}
		if err := errors.Join(put(objectFile(e.Object), object), put(logFile(e.Seq), line)); err != nil {
			return n, err
		}
		last = head{Seq: e.Seq, Entry: hashOf(line)}
		if e.Kind == Record {
			n.Records++
		} else {
			n.Verdicts++
		}
	}
	// The head of what is in here: others may be adding meanwhile.
	data, err := encode(last)
	if err != nil {
		return n, err
	}
	err = errors.Join(put(headFile, data), t.Close(), z.Close())
	n.Head, n.Bytes = last.Entry, counted.n
	return n, err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// mostUnpacked is how large a file of a store may be.
const mostUnpacked = 1 << 30

// Unpack makes the directory of an export, or of any tar of a directory of evidence,
// compressed or not. What does not belong to a store is left out. Nothing is checked:
// Verify and Import do.
func Unpack(r io.Reader, dir string) error {
	b := bufio.NewReader(r)
	r = b
	if magic, err := b.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return fmt.Errorf("it is no export: %w", err)
		}
		r = z
	}
	t := tar.NewReader(r)
	found := 0
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && found > 0:
			if _, err := io.Copy(io.Discard, r); err != nil { // the sum of gzip is at the end
				return fmt.Errorf("it is no export, or not all of one: %w", err)
			}
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("it is no export: there is no evidence in it")
		case err != nil:
			return fmt.Errorf("it is no export, or not all of one: %w", err)
		}
		name, ok := belongs(h.Name)
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > mostUnpacked {
			return fmt.Errorf("%s has %d bytes: no record is that large", h.Name, h.Size)
		}
		if err := unpackFile(filepath.Join(dir, filepath.FromSlash(name)), t); err != nil {
			return err
		}
		found++
	}
}

func unpackFile(to string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("it is no export, or not all of one: %w", err)
	}
	return nil
}

// belongs is the name of a file within its store, and whether it has one. It is made of
// nothing but what a store's names are, so that no archive can write elsewhere.
func belongs(name string) (string, bool) {
	parts := strings.Split(path.Clean(filepath.ToSlash(name)), "/")
	last := parts[len(parts)-1]
	hash, isObject := strings.CutSuffix(last, ".json")
	if !isObject {
		hash, isObject = strings.CutSuffix(last, ".ptx")
	}
	_, isEntry := logNumber(last)
	switch n := len(parts); {
	case last == headFile:
		return headFile, true
	case n >= 2 && parts[n-2] == "log" && isEntry:
		return path.Join("log", last), true
	case n >= 3 && parts[n-3] == "objects" && isObject && isHash(hash) && parts[n-2] == hash[:2]:
		return path.Join("objects", hash[:2], last), true
	}
	return "", false
}
