package evidence

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Exported counts what an export holds.
type Exported struct {
	Counts
	Head  string `json:"head"` // hash of the newest entry
	Bytes int64  `json:"bytes"`
}

// Export writes the store as one file: a tar of its folder, compressed with gzip. `tar xzf`
// or Unpack restores the folder. The same evidence gives the same bytes. Export refuses a
// damaged store with a *Damage.
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
	for _, hash := range sorted.Keys(v.texts) {
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
		line, err := s.readPath(logFile(e.Seq))
		if err != nil {
			return n, err
		}
		if err := errors.Join(put(objectFile(e.Object), object), put(logFile(e.Seq), line)); err != nil {
			return n, err
		}
		last = head{Seq: e.Seq, Entry: hashOf(line)}
		n.add(e.Kind)
	}
	// The head of the exported entries: other processes may add entries meanwhile.
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

// mostUnpacked is the largest archive that Unpack accepts, in bytes after decompression. A
// thousand records with all their samples have less.
const mostUnpacked = 1 << 30

// bounded reads up to a number of bytes and then fails.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("it unpacks to more bytes than any store has")
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// Unpack restores the folder of an export, or of any tar of a folder of evidence, compressed
// or not. It skips files that do not belong to a store. It checks nothing; Verify and Import
// do.
func Unpack(r io.Reader, dir string) error { return unpack(r, dir, mostUnpacked) }

func unpack(r io.Reader, dir string, most int64) error {
	b := bufio.NewReader(r)
	r = b
	if magic, err := b.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return fmt.Errorf("this is not an export: %w", err)
		}
		r = z
	}
	r = &bounded{r, most}
	t := tar.NewReader(r)
	found := 0
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && found > 0:
			if _, err := io.Copy(io.Discard, r); err != nil { // the checksum of gzip is at the end
				return fmt.Errorf("this is not an export, or a part of one is missing: %w", err)
			}
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("this is not an export: it holds no evidence")
		case err != nil:
			return fmt.Errorf("this is not an export, or a part of one is missing: %w", err)
		}
		name, ok := belongs(h.Name)
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > mostOf(name) {
			return fmt.Errorf("%s has %d bytes, which is too large for evidence", h.Name, h.Size)
		}
		if err := unpackFile(filepath.Join(dir, filepath.FromSlash(name)), t); errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s is there twice: an export holds one store", name)
		} else if err != nil {
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
		return fmt.Errorf("this is not an export, or a part of one is missing: %w", err)
	}
	return nil
}

// belongs returns the name of an archived file within a store, and whether it has one. The
// name is built only from the parts that names in a store have, so an archive cannot write
// anywhere else.
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
