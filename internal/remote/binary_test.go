package remote

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// otherArch is an architecture that this test does not run on.
func otherArch() string {
	if runtime.GOARCH == "amd64" {
		return "arm64"
	}
	return "amd64"
}

func TestFindOwn(t *testing.T) {
	f := &Finder{Self: "/bin/attest", Cache: t.TempDir(), Say: t.Logf, own: func() bool { return true }}
	if path, err := f.Find(t.Context(), runtime.GOOS, runtime.GOARCH); path != "/bin/attest" || err != nil {
		t.Errorf("%q, %v", path, err)
	}
}

// TestFindArchive puts a release archive beside the binary.
func TestFindArchive(t *testing.T) {
	dir := t.TempDir()
	name := "attest_v1.0.0_linux_" + otherArch() + ".tar.gz"
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(file)
	w := tar.NewWriter(z)
	for _, name := range []string{"LICENSE", "attest"} {
		if err := addBytes(w, "attest_v1.0.0/"+name, []byte("content of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	file.Close()
	sum, err := hashFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	f := &Finder{Self: filepath.Join(dir, "attest"), Cache: t.TempDir(), Say: t.Logf}
	if _, err := f.Find(t.Context(), "linux", otherArch()); err == nil || !strings.Contains(err.Error(), "its sum cannot be checked") {
		t.Errorf("without checksums.txt: %v", err)
	}
	sums := filepath.Join(dir, "checksums.txt")
	if err := os.WriteFile(sums, []byte(strings.Repeat("0", 64)+"  "+name+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find(t.Context(), "linux", otherArch()); err == nil || !strings.Contains(err.Error(), "download it again") {
		t.Errorf("with a wrong sum: %v", err)
	}
	if err := os.WriteFile(sums, []byte(sum+"  "+name+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		path, err := f.Find(t.Context(), "linux", otherArch())
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(path); string(text) != "content of attest" {
			t.Errorf("%s holds %q", path, text)
		}
	}
}

// TestFindNone has neither an archive nor Go.
func TestFindNone(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := &Finder{Self: filepath.Join(t.TempDir(), "attest"), Cache: t.TempDir(), Say: t.Logf}
	_, err := f.Find(t.Context(), "linux", otherArch())
	if err == nil || !strings.Contains(err.Error(), "the go command is not installed; install Go, or put the release archive attest_VERSION_linux_") {
		t.Error(err)
	}
}
