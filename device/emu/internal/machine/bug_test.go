package machine

import (
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
)

// TestBug turns a mistake of the emulator into an error that says where it happened.
func TestBug(t *testing.T) {
	fail := func(list []int) (err error) {
		defer recoverFault(&err)
		list[7] = 1
		return nil
	}
	var bug *device.Bug
	if err := fail(nil); !errors.As(err, &bug) || !strings.Contains(bug.Stack, "bug_test.go") || !strings.Contains(err.Error(), "index out of range") {
		t.Error(err)
	}
}
