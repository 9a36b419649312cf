package runfuzz

import (
	"errors"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
)

// fail reports a text on which attest fails, with the stack.
func fail(t testing.TB, seed uint64, text string, err error) {
	t.Helper()
	var bug *device.Bug
	if errors.As(err, &bug) {
		t.Errorf("seed %d: %v\n%s\n%s", seed, err, bug.Stack, text)
		return
	}
	t.Errorf("seed %d: %v\n%s", seed, err, text)
}
