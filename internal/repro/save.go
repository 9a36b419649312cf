package repro

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/version"
)

// File is an input. Its name may have folders, with slashes.
type File struct {
	Name string
	Data []byte
}

// Report is the name of the file that describes the error.
const Report = "internal-error.txt"

// Save writes the inputs, and a file that describes the error and how to repeat it, to a folder
// below the folder for temporary files. It returns the folder. Inputs that are saved already,
// for the same error, get the same folder.
func Save(bug *device.Bug, repeat string, inputs ...File) (dir string, err error) {
	sum := sha256.New()
	fmt.Fprintln(sum, bug.Reason)
	for _, f := range inputs {
		fmt.Fprintln(sum, f.Name, len(f.Data))
		sum.Write(f.Data)
	}
	dir = filepath.Join(os.TempDir(), "attest-bug-"+hex.EncodeToString(sum.Sum(nil)[:6]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n\nattest %s, %s, %s/%s\n", bug, version.This(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(&b, "command: %q\nrepeat, in this folder: %s\n\n%s", os.Args, repeat, bug.Stack)
	err = write(dir, File{Report, []byte(b.String())})
	for _, f := range inputs {
		err = errors.Join(err, write(dir, f))
	}
	return dir, err
}

func write(dir string, f File) error {
	name := filepath.FromSlash(f.Name)
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s is not saved: its path leads out of the folder", f.Name)
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, f.Data)
}

// Describe saves the inputs and returns an error that is the bug and says where they are.
func Describe(bug *device.Bug, repeat string, inputs ...File) error {
	dir, err := Save(bug, repeat, inputs...)
	if err != nil {
		return fmt.Errorf("%w\nthe inputs could not be saved: %v", bug, err)
	}
	return fmt.Errorf("%w\nthe inputs are saved in %s: please report them", bug, dir)
}
