package device

import (
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestCheckLaunch gives sizes whose sum or product overflows.
func TestCheckLaunch(t *testing.T) {
	dev := Info{Name: "GPU", Target: ptx.SM90a, MaxThreads: 1024, SharedMax: 1 << 16}
	k := KernelInfo{Name: "k", Shared: 256}
	for _, c := range []struct {
		l    Launch
		want string
	}{
		{Launch{Block: D(32)}, ""},
		{Launch{Block: D(32), Shared: 1<<16 - 256}, ""},
		{Launch{Block: D(32), Shared: 1<<16 - 255}, "bytes of shared memory"},
		{Launch{Block: D(32), Shared: math.MaxInt}, "bytes of shared memory"},
		{Launch{Block: D(1<<32, 1<<32)}, "blocks of (4294967296"},
		{Launch{Block: D(32), Cluster: D(-2)}, "negative"},
		{Launch{Block: D(32), Cluster: D(1<<32, 1<<32), Grid: D(math.MaxInt32)}, "at most 16"},
		{Launch{Block: D(32), Cluster: D(math.MaxInt, 2)}, "at most 16"},
	} {
		err := c.l.Check(dev, k)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.l, err, c.want)
		}
	}
}
