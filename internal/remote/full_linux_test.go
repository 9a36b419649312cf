package remote

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk has a remote machine with a full disk: when the binary is sent, when the inputs are
// sent, and while the job runs.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("sends large files")
	}
	s := startServer(t)
	disk := t.TempDir()
	c := newTestClient(t, s)
	c.Host.Dir = disk + "/attest"
	t.Chdir(t.TempDir())
	mount := func(size string) {
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
			t.Skip("no disk to fill:", err)
		}
		t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	}
	mount("1m")
	_, err := c.Run(t.Context(), Job{Args: []string{"job", "terminal"}})
	if err == nil || !strings.Contains(err.Error(), "attest cannot write its folder there: ") || !strings.Contains(err.Error(), "No space left on device") {
		t.Errorf("the binary does not fit: %v", err)
	}
	self, _ := os.Executable()
	info, err := os.Stat(self)
	if err != nil {
		t.Fatal(err)
	}
	mount("64m")
	room := 64<<20 - int(info.Size())
	if err := os.WriteFile("large", make([]byte, room), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = c.Run(t.Context(), Job{Args: []string{"job", "terminal"}, Reads: []string{"large"}})
	if err == nil || !strings.Contains(err.Error(), "the input files cannot be written") || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("the inputs do not fit: %v", err)
	}
	_, err = c.Run(t.Context(), Job{Args: []string{"job", "fill", filepath.Join(disk, "rest")}})
	if err == nil || !strings.Contains(err.Error(), "the disk of "+disk) {
		t.Errorf("the job fills the disk: %v", err)
	}
	if done, err := c.Clean(t.Context(), false); err != nil || !done.Removed {
		t.Errorf("%+v, %v", done, err)
	}
}
