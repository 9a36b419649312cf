package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
)

// Targets are the systems and architectures of a release.
var Targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// Maker builds a release.
type Maker struct {
	Source  string // folder of the clone
	Version string // "v1.2.3"
	Out     string // folder for the files
	Targets []string
	// Extra are further files of every archive, by their names in it.
	Extra map[string][]byte
	Say   func(format string, args ...any)
}

// isVersion matches the versions that a release may have.
var isVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$`)

// Make builds all files and returns their names.
func (m *Maker) Make(ctx context.Context) (files []string, err error) {
	if !isVersion.MatchString(m.Version) {
		return nil, fmt.Errorf("%q is not a version: use v1.2.3", m.Version)
	}
	when, err := m.commitTime(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(m.Out, 0o755); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "attest-release-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	var sums strings.Builder
	add := func(name string, data []byte) error {
		files = append(files, name)
		sum := sha256.Sum256(data)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
		return atomicfile.Write(filepath.Join(m.Out, name), data)
	}
	for i, target := range m.Targets {
		m.Say("building %s", target)
		binary, err := m.build(ctx, target, filepath.Join(work, "attest"))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			bom, err := billOfMaterials(filepath.Join(work, "attest"), m.Version, when)
			if err != nil {
				return nil, err
			}
			if err := add(fmt.Sprintf("attest_%s.cdx.json", m.Version), bom); err != nil {
				return nil, err
			}
		}
		data, err := m.archive(binary, when)
		if err != nil {
			return nil, err
		}
		if err := add(fmt.Sprintf("attest_%s_%s.tar.gz", m.Version, strings.ReplaceAll(target, "/", "_")), data); err != nil {
			return nil, err
		}
	}
	files = append(files, "checksums.txt")
	return files, atomicfile.Write(filepath.Join(m.Out, "checksums.txt"), []byte(sums.String()))
}

// commitTime returns the time of the commit, which all files of the archives get.
func (m *Maker) commitTime(ctx context.Context) (time.Time, error) {
	c := exec.CommandContext(ctx, "git", "show", "-s", "--format=%cI", "HEAD")
	c.Dir = m.Source
	out, err := c.Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("the time of the commit: git: %w; a release is built in a clone", err)
	}
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(string(out)))
	return t.UTC(), err
}

// build builds the binary for a target.
func (m *Maker) build(ctx context.Context, target, to string) ([]byte, error) {
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not a target: use linux/amd64", target)
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", to, "./cmd/attest")
	c.Dir = m.Source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w: %s", target, err, out)
	}
	return os.ReadFile(to)
}

// archive returns a compressed tar with the binary, the licence, the README and further files. Its
// bytes depend on nothing else.
func (m *Maker) archive(binary []byte, when time.Time) ([]byte, error) {
	files := map[string][]byte{"attest": binary}
	for name, data := range m.Extra {
		files[name] = data
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(m.Source, name))
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, name := range names {
		mode := int64(0o644)
		if name == "attest" {
			mode = 0o755
		}
		h := &tar.Header{Name: "attest_" + m.Version + "/" + name, Mode: mode, Size: int64(len(files[name])), ModTime: when, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
