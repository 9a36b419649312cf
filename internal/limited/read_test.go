package limited

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345678"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(path, 8); err != nil || string(data) != "12345678" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := ReadFile(path, 7); err == nil || err.Error() != "it is larger than the limit of 7 bytes" {
		t.Error(err)
	}
	if data, err := ReadRegular(path, 8); err != nil || len(data) != 8 {
		t.Errorf("%q, %v", data, err)
	}
	for _, odd := range []string{"/dev/zero", t.TempDir()} {
		if _, err := ReadRegular(odd, 8); err == nil || err.Error() != "it is not a regular file" {
			t.Errorf("%s: %v", odd, err)
		}
	}
	if _, err := ReadFile("/dev/zero", 2<<20); err == nil || err.Error() != "it is larger than the limit of 2 MiB" {
		t.Error(err)
	}
}

// TestReadIn wants files below the folder only, by whatever path, and no pipes or devices.
func TestReadIn(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "dir")
	for _, err := range []error{
		os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(top, "secret"), []byte("s"), 0o600),
		os.WriteFile(filepath.Join(dir, "in"), []byte("12345678"), 0o600),
		os.Symlink("in", filepath.Join(dir, "link")), os.Symlink("../secret", filepath.Join(dir, "out")),
		os.Symlink("/dev/zero", filepath.Join(dir, "zero")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"in": "", "link": "", "../secret": "escapes", "out": "escapes", "zero": "escapes", "/etc/passwd": "escapes",
		"pipe": "not a regular file", ".": "not a regular file", "none": "no such file",
	} {
		data, err := ReadIn(root, name, 8)
		if want == "" && (err != nil || len(data) != 8) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v, want %q", name, data, err, want)
		}
	}
	if _, err := ReadIn(root, "in", 7); err == nil {
		t.Error("a file above the limit is read")
	}
}
