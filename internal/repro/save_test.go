package repro

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
)

func bug() (err error) {
	defer device.CatchBug(&err)
	var list []int
	list[3] = 1
	return nil
}

// TestDescribe wants the inputs, the stack and the command in one folder, once per error.
func TestDescribe(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var b *device.Bug
	if !errors.As(bug(), &b) {
		t.Fatal("a panic is not a bug")
	}
	for range 2 {
		err := Describe(b, "attest exec kernel.ptx", File{"kernel.ptx", []byte("text")}, File{"in/x.bin", []byte{1}}, File{"../out", nil})
		if !errors.As(err, &b) || !strings.Contains(err.Error(), "internal error") || !strings.Contains(err.Error(), "could not be saved: ../out") {
			t.Error(err)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), "attest-bug-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	for name, want := range map[string]string{"kernel.ptx": "text", "in/x.bin": "\x01", Report: "save_test.go"} {
		if text, err := os.ReadFile(filepath.Join(dirs[0], name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if err := Describe(b, "", File{"kernel.ptx", nil}); err == nil || !strings.Contains(err.Error(), "the inputs are saved in "+os.TempDir()) {
		t.Error(err)
	}
}
