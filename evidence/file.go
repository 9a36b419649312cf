package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/GOATnote-Inc/attest/internal/limited"
)

// hashOf returns the hash that names a file with this content.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// stale is the age from which a file in tmp/ has no writer any more.
const stale = time.Hour

// readOnly is the mode of files that are never changed again.
const readOnly = 0o444

// draft writes a complete file under tmp/ and returns its path.
func (s *Store) draft(data []byte) (path string, err error) {
	if err := s.fail("create"); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.path("tmp"), "*.json")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close() // closing twice is harmless
			os.Remove(f.Name())
		}
	}()
	if err = s.fail("write"); err != nil {
		f.Write(data[:len(data)/2]) // as a full disk does
		return "", err
	}
	if _, err = f.Write(data); err != nil {
		return "", err
	}
	if err = f.Chmod(readOnly); err != nil {
		return "", err
	}
	if err = s.fail("sync"); err != nil {
		return "", err
	}
	if err = f.Sync(); err != nil { // before the file gets its name: a crash must not leave a name without content
		return "", err
	}
	return f.Name(), f.Close()
}

// sync makes the names in a folder durable.
func (s *Store) sync(folder string) error {
	if err := s.fail("sync folder"); err != nil {
		return err
	}
	d, err := os.Open(s.path(folder))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// makeFolders makes the missing folders of the store.
func (s *Store) makeFolders(more ...string) error {
	if err := MakeDir(s.dir); err != nil {
		return err
	}
	for _, folder := range append([]string{"tmp", "log", "objects"}, more...) {
		if err := s.fail("mkdir"); err != nil {
			return err
		}
		err := os.Mkdir(s.path(folder), 0o755)
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return err
		default:
			if err := s.sync(filepath.Dir(folder)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep removes the files that killed writers left under tmp/.
func (s *Store) sweep() {
	files, err := os.ReadDir(s.path("tmp"))
	if err != nil {
		return // there is no tmp/
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > stale {
			os.Remove(s.path("tmp", f.Name()))
		}
	}
}

// explain adds what to do about an error of the file system.
func (s *Store) explain(err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "; the disk is full: make room and run again, nothing was half-written"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint = "; the folder cannot be written: choose another one"
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		hint = "; this file system has no hard links: choose a folder on another one"
	}
	return fmt.Errorf("evidence in %s: %w%s", s.dir, err, hint)
}

// rename renames a file to a name in the store.
func (s *Store) rename(from, name string) error {
	if err := s.fail("rename"); err != nil {
		return err
	}
	return os.Rename(from, s.path(name))
}

// link gives a file a second name in the store, unless that name is taken.
func (s *Store) link(from, name string) error {
	if err := s.fail("link"); err != nil {
		return err
	}
	return os.Link(from, s.path(name))
}

// fail returns the error that a test wants the next operation on files to have.
func (s *Store) fail(operation string) error {
	if s.faults == nil {
		return nil
	}
	return s.faults(operation)
}

// mostFile is the largest record or text of a store in bytes. A record with all its samples has a few MB.
// mostEntry is that of an entry of the log and of the head, which have less than 2 kB.
const mostFile, mostEntry = 256 << 20, 1 << 20

// mostOf returns the largest size of a file of a store, in bytes.
func mostOf(name string) int64 {
	if name == headFile || strings.HasPrefix(filepath.ToSlash(name), "log/") {
		return mostEntry
	}
	return mostFile
}

// readPath reads a file of the store. A store may come from elsewhere, so what is in place of a
// file may be anything.
func (s *Store) readPath(name string) ([]byte, error) {
	if err := s.fail("read"); err != nil {
		return nil, err
	}
	return limited.ReadRegular(s.path(name), mostOf(name))
}

func (s *Store) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}
