package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteReplacesAndKeepsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ptx")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil { // past the umask
		t.Fatal(err)
	}
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("content is %q, want %q", got, "new")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v, want 0640", info.Mode())
	}
	onlyFile(t, path)
}

func TestWriteMakesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ptx")
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("content is %q, want %q", got, "new")
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.ptx"), filepath.Join(dir, "link.ptx")
	if err := os.WriteFile(real, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.ptx", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := Write(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, real); got != "new" {
		t.Errorf("what the link points to is %q, want %q", got, "new")
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no longer a link (%v)", err)
	}
}

func TestWriteErrorLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new")); err == nil {
		t.Error("a directory was replaced")
	}
	onlyFile(t, path)
}

// TestWriteIn wants files below the folder only.
func TestWriteIn(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "dir")
	secret := filepath.Join(top, "secret")
	for _, err := range []error{
		os.Mkdir(dir, 0o700), os.Mkdir(filepath.Join(dir, "sub"), 0o700), os.WriteFile(secret, []byte("s"), 0o600),
		os.Symlink("../secret", filepath.Join(dir, "link")), os.Symlink("..", filepath.Join(dir, "up")),
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
	for name, ok := range map[string]bool{"a": true, "sub/b": true, "link": true, "../secret": false, "up/secret": false, "sub": false, "/tmp/x": false} {
		if err := WriteIn(root, name, []byte("new")); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		} else if ok && read(t, filepath.Join(dir, name)) != "new" {
			t.Errorf("%s was not written", name)
		}
	}
	if got := read(t, secret); got != "s" {
		t.Errorf("the file outside of the folder is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyFile checks that nothing was left beside path.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the folder has %d entries, want 1: %v", len(entries), entries)
	}
}
