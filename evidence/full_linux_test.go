package evidence_test

import (
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk fills a small file system, if the test may mount one.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("no disk to fill:", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	var landed strings.Builder
	err := writeForEver(dir, &landed)
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("the disk is full, and the error is %v", err)
	}
	n := strings.Count(landed.String(), "\n")
	if n < 4 {
		t.Fatalf("only %d writes fitted", n)
	}
	if c := sound(t, open(t, dir), n); len(c.Notes) > 0 {
		t.Errorf("something is left: %v", c.Notes)
	}
}
