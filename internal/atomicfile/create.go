package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// File is a file to create.
type File struct {
	Path string
	Data []byte
}

// CreateAll makes new files: all of them or, on an error, none. It replaces no file; the error
// for a file that exists is [fs.ErrExist].
func CreateAll(files ...File) (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	for _, f := range files {
		if err := create(f); err != nil {
			return err
		}
		made = append(made, f.Path)
	}
	return nil
}

// create makes a file in one step: a link, unlike a rename, fails if the name is taken.
func create(f File) error {
	dir := filepath.Dir(f.Path)
	draft := filepath.Join(dir, "."+filepath.Base(f.Path)+".draft")
	if err := Write(draft, f.Data); err != nil {
		return err
	}
	return errors.Join(os.Link(draft, f.Path), os.Remove(draft), SyncDir(dir))
}
