package execrun

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/limited"
	"github.com/GOATnote-Inc/attest/internal/repro"
)

// files are the files that a launch file names. All of them lie below one folder, so that a
// launch file from elsewhere can neither read nor replace other files of the user.
type files struct {
	root *os.Root
	dir  string // the folder of the launch file, relative to root
	most int64  // bytes of a file
	read map[string][]byte
	// programs are the launch file and the PTX files of the run, which no launch replaces.
	programs []os.FileInfo
}

// openFiles opens the folder of --root, or the folder of the launch file without one.
func openFiles(root, launch string, most int64) (*files, error) {
	dir := filepath.Dir(launch)
	if root == "" {
		root = dir
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("--root: %w", err)
	}
	f := &files{root: r, most: most, read: map[string][]byte{}}
	if f.dir, err = within(root, dir); err != nil {
		r.Close()
		return nil, fmt.Errorf("--root %s: the launch file is not in that folder", root)
	}
	return f, nil
}

// within returns a path relative to a folder. Symbolic links on the way are followed, because
// both may name the same folder differently.
func within(root, path string) (string, error) {
	var real [2]string
	for i, p := range []string{root, path} {
		abs, err := filepath.Abs(p)
		if err != nil {
			return "", err
		}
		if real[i], err = filepath.EvalSymlinks(abs); err != nil {
			return "", err
		}
	}
	rel, err := filepath.Rel(real[0], real[1])
	if err == nil && !filepath.IsLocal(rel) {
		err = fmt.Errorf("%s is not below %s", path, root)
	}
	return rel, err
}

// name returns the path of a file below the root. The launch file names it relative to itself,
// or absolutely.
func (f *files) name(path string) (string, error) {
	path = filepath.FromSlash(path)
	rel := filepath.Join(f.dir, path)
	if filepath.IsAbs(path) {
		top, err := filepath.Abs(f.root.Name())
		if err != nil {
			return "", err
		}
		if rel, err = filepath.Rel(top, path); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("it is outside of %s: --root names the folder below which files may be read and written", f.root.Name())
	}
	return rel, nil
}

// Read reads a file.
func (f *files) Read(path string) ([]byte, error) {
	name, err := f.name(path)
	if err != nil {
		return nil, err
	}
	data, err := limited.ReadIn(f.root, name, f.most)
	if err != nil {
		return nil, f.explain(err)
	}
	f.read[path] = data
	return data, nil
}

// protect keeps Save from replacing a file.
func (f *files) protect(path string) {
	if info, err := os.Stat(path); err == nil {
		f.programs = append(f.programs, info)
	}
}

// Save replaces a file.
func (f *files) Save(path string, data []byte) error {
	name, err := f.name(path)
	if err != nil {
		return err
	}
	if info, err := f.root.Stat(name); err == nil {
		for _, p := range f.programs {
			if os.SameFile(p, info) {
				return fmt.Errorf("%s is the launch file or a PTX file of this run: save to another file", path)
			}
		}
	}
	return f.explain(atomicfile.WriteIn(f.root, name, data))
}

// explain says what to do about a symbolic link that leads out of the root.
func (f *files) explain(err error) error {
	if err != nil && strings.Contains(err.Error(), "path escapes from parent") {
		return fmt.Errorf("a symbolic link leads out of %s: --root names the folder below which files may be read and written", f.root.Name())
	}
	return err
}

// describe saves the inputs of a run that ended with an internal error.
func (x *Runner) describe(bug *device.Bug) error {
	inputs := []repro.File{{Name: "kernel.ptx", Data: []byte(x.file.Text)}, {Name: "launch.json", Data: x.launchText}}
	for name, data := range x.files.read {
		if filepath.IsLocal(filepath.FromSlash(name)) {
			inputs = append(inputs, repro.File{Name: name, Data: data})
		}
	}
	repeat := fmt.Sprintf("attest exec kernel.ptx --launch launch.json --device %s --check %s --schedule %d --schedules %d", x.Device, x.Check, x.Schedule, x.Schedules)
	return repro.Describe(bug, repeat, inputs...)
}
