package version

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	noteSource  = "read from the source folder, which may have changed since"
	noteUnknown = "the binary was built without a revision; go install ./cmd/attest in a clone records it"
)

// Module is the path of the module of attest.
const Module = "github.com/GOATnote-Inc/attest"

// SourceDir returns the folder that this file had when the binary was compiled. -trimpath
// removes it from a binary; then SourceDir returns the current folder if it belongs to a
// clone of attest, as it does for go run, else "".
func SourceDir() string {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		return filepath.Dir(file)
	}
	current, err := os.Getwd()
	if err != nil {
		return ""
	}
	return cloneOf(current)
}

// cloneOf returns dir if its module is attest, else "".
func cloneOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		switch {
		case err == nil && strings.HasPrefix(string(text), "module "+Module+"\n"):
			return dir
		case err == nil || at == filepath.Dir(at):
			return ""
		}
	}
}

// ask sets the revision to that of a folder. Note tells the reader that the folder may have
// changed since the binary was built.
func (v *Info) ask(ctx context.Context, dir string) {
	v.Note = noteUnknown
	if dir == "" {
		return
	}
	commit, err := git(ctx, dir, "rev-parse", "HEAD")
	if err != nil || commit == "" {
		return
	}
	changes, err := git(ctx, dir, "status", "--porcelain", "--untracked-files=no")
	v.Revision, v.Modified, v.Note = commit, err != nil || changes != "", noteSource
}

// gitTimeout is how long git may take. A folder on a network can hang.
const gitTimeout = 5 * time.Second

// git returns the output of a git command in a folder.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// ModuleRoot returns the folder with the go.mod of a folder in a clone.
func ModuleRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no go.mod above %s", dir)
		}
	}
}
