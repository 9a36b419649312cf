package evidence_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHugeGap wants a gap in the numbers of entries to be reported at once, however large it is.
func TestHugeGap(t *testing.T) {
	s, _ := filled(t)
	entry := filepath.Join(s.Path(), "log", "00000005.json")
	far := filepath.Join(s.Path(), "log", "4000000000000000000.json")
	if err := os.Rename(entry, far); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c := s.Verify()
	_, err := open(t, t.TempDir()).Import(s)
	if c.OK() || err == nil || time.Since(start) > 10*time.Second {
		t.Errorf("%+v, %v, after %v", c.Problems, err, time.Since(start))
	}
	if text := c.Problems[0].String(); !strings.Contains(text, "log/00000005.json: is missing, and all entries up to log/3999999999999999999.json") {
		t.Error(text)
	}
}

// TestOddFiles wants pipes and devices in place of files to be damage, and not to be read.
func TestOddFiles(t *testing.T) {
	for _, name := range []string{"head.json", "log/00000002.json", "identities.json"} {
		for _, make := range []func(string) error{
			func(path string) error { return syscall.Mkfifo(path, 0o600) },
			func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			s, _ := filled(t)
			path := filepath.Join(s.Path(), name)
			os.Remove(path)
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if c := s.Verify(); c.OK() || !strings.Contains(c.Problems[0].What, "not a regular file") {
				t.Errorf("%s: %v", name, c.Problems)
			}
		}
	}
}
