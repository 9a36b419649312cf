package remote

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/version"
)

// Finder finds the binary of attest for a system and an architecture.
type Finder struct {
	Say   func(format string, args ...any)
	Self  string // the running binary; os.Executable if empty
	Cache string // folder for binaries; that of the user if empty
	// own is whether the running binary may be sent to a machine of its own kind.
	own func() bool
}

// Find returns the file of a static binary: the running one if it fits, the one in a release
// archive beside it, or one that an installed Go builds from the same source.
func (f *Finder) Find(ctx context.Context, goos, goarch string) (path string, err error) {
	if f.Self == "" {
		if f.Self, err = os.Executable(); err != nil {
			return "", err
		}
	}
	if f.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		f.Cache = filepath.Join(dir, "attest", "bin")
	}
	same := goos == runtime.GOOS && goarch == runtime.GOARCH
	if same && (f.own != nil && f.own() || f.own == nil && static()) {
		return f.Self, nil
	}
	path, err = f.archived(goos, goarch)
	if path != "" || err != nil {
		return path, err
	}
	path, err = f.build(ctx, goos, goarch)
	if err != nil && same {
		return f.Self, nil // it uses the C library, which is likely to be there, too
	}
	if err != nil {
		return "", fmt.Errorf("there is no attest for %s/%s: %w; install Go, or put the release archive attest_VERSION_%s_%s.tar.gz with checksums.txt beside %s", goos, goarch, err, goos, goarch, f.Self)
	}
	return path, nil
}

// static reports whether this binary was built without cgo.
func static() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" {
			return s.Value == "0"
		}
	}
	return false
}

// archived returns the binary of a release archive beside the running binary, or "" if there is
// none. The archive must have the sum that checksums.txt gives.
func (f *Finder) archived(goos, goarch string) (string, error) {
	beside := filepath.Dir(f.Self)
	found, _ := filepath.Glob(filepath.Join(beside, fmt.Sprintf("attest_*_%s_%s.tar.gz", goos, goarch)))
	if len(found) == 0 {
		return "", nil
	}
	archive := found[len(found)-1]
	sum, err := hashFile(archive)
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(beside, "checksums.txt"))
	if err != nil {
		return "", fmt.Errorf("%s lies beside attest, but its sum cannot be checked: %w", archive, err)
	}
	if !strings.Contains(string(sums), sum+"  "+filepath.Base(archive)) {
		return "", fmt.Errorf("%s has the SHA-256 %s, which is not in checksums.txt beside it: download it again", archive, sum)
	}
	to := filepath.Join(f.Cache, sum, "attest")
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	return to, extract(archive, to)
}

// extract takes the file attest out of an archive.
func extract(archive, to string) error {
	r, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer r.Close()
	z, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err != nil {
			return fmt.Errorf("%s: there is no file attest in it: %w", archive, err)
		}
		if filepath.Base(h.Name) != "attest" || h.Typeflag != tar.TypeReg {
			continue
		}
		return writeProgram(to, t)
	}
}

// writeProgram writes an executable file completely or not at all.
func writeProgram(to string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), "part-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, from)
	if err := errors.Join(err, f.Chmod(0o755), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}

const program = version.Module + "/cmd/attest"

// build lets an installed Go build the binary: from the source folder that this binary was built
// from, or from the module proxy if this binary is a published version.
func (f *Finder) build(ctx context.Context, goos, goarch string) (string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("the go command is not installed")
	}
	to := filepath.Join(f.Cache, goos+"-"+goarch, "attest")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", err
	}
	f.Say("building attest for %s/%s", goos, goarch)
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOBIN=")
	run := func(c *exec.Cmd) error {
		c.Env = append(env, c.Env...)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if dir := version.SourceDir(); dir != "" {
		if _, err := os.Stat(dir); err == nil {
			c := exec.CommandContext(ctx, tool, "build", "-trimpath", "-o", to, program)
			c.Dir = dir
			return to, run(c)
		}
	}
	v := version.This().Version
	if !strings.HasPrefix(v, "v") || strings.Contains(v, "+") {
		return "", errors.New("the source that this attest was built from is not here")
	}
	cache, err := exec.CommandContext(ctx, tool, "env", "GOMODCACHE").Output()
	if err != nil {
		return "", err
	}
	gopath, err := os.MkdirTemp("", "attest-gopath-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(gopath)
	c := exec.CommandContext(ctx, tool, "install", "-trimpath", program+"@"+v)
	c.Env = []string{"GOPATH=" + gopath, "GOMODCACHE=" + strings.TrimSpace(string(cache))}
	if err := run(c); err != nil {
		return "", err
	}
	found, _ := filepath.Glob(filepath.Join(gopath, "bin", "*", "attest"))
	found = append(found, filepath.Join(gopath, "bin", "attest"))
	made, err := os.Open(found[0])
	if err != nil {
		return "", err
	}
	defer made.Close()
	return to, writeProgram(to, made)
}
