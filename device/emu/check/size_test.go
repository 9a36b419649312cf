package check

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
)

// TestRaceHasSizeOfAccess: a race between blocks that store 4 bytes per lane is reported as
// 4 bytes, also if several lanes together fill one cell of the shadow memory.
func TestRaceHasSizeOfAccess(t *testing.T) {
	c := New(GlobalRace)
	run(t, c, strings.Replace(dummyText, "%tid.x", "%laneid", 1), "dummy", device.Launch{Grid: device.D(2), Block: device.D(32)})
	found := c.Findings()
	if len(found) != 1 || found[0].Other == nil {
		t.Fatalf("found %+v", found)
	}
	if f := found[0]; f.Size != 4 || f.Other.Size != 4 || f.Address != "out" {
		t.Errorf("%d bytes at %s against %d bytes", f.Size, f.Address, f.Other.Size)
	}
}
