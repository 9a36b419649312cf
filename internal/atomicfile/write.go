package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces the content of path, or makes the file. An existing file keeps
// its permissions, and a symbolic link keeps pointing where it did: what it
// points to is replaced. On an error the old file is untouched and nothing is
// left beside it.
func Write(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		mode = info.Mode().Perm()
	}
	// In the same folder, because a rename is atomic only within a file system.
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	err = fill(tmp, data, mode)
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteIn is Write for a file below a folder. A path or a symbolic link that leads out of the
// folder is an error. A symbolic link in place of the file is replaced by the file.
func WriteIn(root *os.Root, name string, data []byte) error {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return errors.New("it is a folder")
	}
	draft := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()+".tmp")
	tmp, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = fill(tmp, data, 0o644)
	if err == nil {
		err = root.Rename(draft, name)
	}
	if err != nil {
		root.Remove(draft)
		return err
	}
	dir, err := root.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return syncAndClose(dir)
}

// fill writes a file completely and closes it.
func fill(f *os.File, data []byte, mode fs.FileMode) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync() // or a crash after the rename could leave an empty file
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes the names in a folder durable: without it, a crash may undo a rename.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return syncAndClose(d)
}

func syncAndClose(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // some file systems cannot sync a folder
	}
	return errors.Join(err, d.Close())
}
