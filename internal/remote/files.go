package remote

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
)

// Mirror returns the name of a local path below the mirror of a job.
func mirror(path string) (string, error) {
	abs, err := filepath.Abs(path)
	return strings.TrimPrefix(filepath.ToSlash(abs), "/"), err
}

// packInputs writes a tar of the input files of a job, with their places in the folder of the
// job.
func packInputs(w io.Writer, reads []string, stdin []byte) error {
	t := tar.NewWriter(w)
	for _, path := range reads {
		name, err := mirror(path)
		if err == nil {
			err = addFile(t, filepath.Join(mirrorDir, name), path)
		}
		if err != nil {
			return err
		}
	}
	if stdin != nil {
		if err := addBytes(t, stdinFile, stdin); err != nil {
			return err
		}
	}
	return t.Close()
}

func addFile(t *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if err := t.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: info.Size(), Format: tar.FormatPAX}); err != nil {
		return err
	}
	if _, err := io.CopyN(t, f, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func addBytes(t *tar.Writer, name string, data []byte) error {
	err := t.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(data)), Format: tar.FormatPAX})
	if err == nil {
		_, err = t.Write(data)
	}
	return err
}

// unpack writes the files of a tar below a folder.
func unpack(r io.Reader, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return eachFile(r, func(name string, content io.Reader) error {
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	})
}

// eachFile calls do for each file of a tar. A name that leads out of its folder is an error.
func eachFile(r io.Reader, do func(name string, content io.Reader) error) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, r)
			return err
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(h.Name)
		if !filepath.IsLocal(name) || h.Typeflag != tar.TypeReg {
			return fmt.Errorf("the archive holds %q, which is no file below its folder", h.Name)
		}
		if err := do(name, t); err != nil {
			return err
		}
	}
}

// evidencePack is the name of the export of evidence among the results.
const evidencePack = "evidence.tar.gz"

// pack writes a tar of the results of a job: the files that it wrote, below mirrorDir, and an
// export of its evidence.
func pack(w io.Writer, j job, o *Order) error {
	t := tar.NewWriter(w)
	for _, out := range o.Outputs {
		top := filepath.Join(j.path(mirrorDir), filepath.FromSlash(out))
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the command did not write it
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(j.dir, path)
			if err != nil {
				return err
			}
			return addFile(t, name, path)
		})
		if err != nil {
			return err
		}
	}
	if o.Evidence != "" {
		if err := packEvidence(t, filepath.Join(j.path(mirrorDir), filepath.FromSlash(o.Evidence))); err != nil {
			return err
		}
	}
	return t.Close()
}

func packEvidence(t *tar.Writer, dir string) error {
	s, err := evidence.Open(dir)
	if err != nil {
		return err
	}
	var export strings.Builder
	n, err := s.Export(&export)
	if err != nil || n.Head == "" {
		return err
	}
	return addBytes(t, evidencePack, []byte(export.String()))
}

// jobName returns the name of a job: a hash of the order, of the input files and of where the
// job was started.
func jobName(o *Order, reads []string, stdin []byte) (string, error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode([]any{o.Args, o.Dir, o.Client, o.Evidence, o.Outputs}); err != nil {
		return "", err
	}
	reads = slices.Clone(reads)
	sort.Strings(reads)
	for _, path := range reads {
		sum, err := hashFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, path, sum)
	}
	h.Write(stdin)
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
