package gate

import (
	"testing"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/record"
)

// TestBlocks wants the gate to say what fits on an SM of each target, where it is known.
func TestBlocks(t *testing.T) {
	r := &record.Resources{Dynamic: 48896, Threads: 128}
	u := func(target string, registers int) *resources.Usage {
		return &resources.Usage{Target: target, Registers: resources.Figure{Value: registers, Source: resources.Estimate}}
	}
	for _, c := range []struct {
		usage *resources.Usage
		want  string
	}{
		{u("sm_89", 89), ", 2 blocks per SM (shared memory)"},
		{u("sm_90", 89), ", 4 blocks per SM (shared memory)"},
		{u("sm_90a", 255), ", 2 blocks per SM (registers)"},
		{u("sm_75", 89), ""},
		{&resources.Usage{Target: "sm_89"}, ""},
	} {
		if got := blocks(r, c.usage); got != c.want {
			t.Errorf("%s: %q, want %q", c.usage.Target, got, c.want)
		}
	}
	if got := blocks(&record.Resources{}, u("sm_89", 89)); got != "" {
		t.Errorf("without the number of threads: %q", got)
	}
}
