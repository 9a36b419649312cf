package version

import (
	"context"
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

// sourceDir returns the folder of this file when the binary was compiled, or "" where
// -trimpath removed it.
func sourceDir() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Dir(file)
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
