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

// TestResourcesGate wants the exact line of the gate.
func TestResourcesGate(t *testing.T) {
	const usual = "sm_89: 128 (ptxas) registers, 1024 bytes of shared memory"
	for _, c := range []struct {
		name   string
		change func(*record.Resources)
		status record.Status
		want   string
	}{
		{"usual", func(*record.Resources) {}, record.Green, usual},
		{"unknown registers", func(r *record.Resources) { r.Usage[0].Registers = resources.Figure{} }, record.Skipped,
			"sm_89: the number of registers is not known; ptxas or a GPU gives the exact number"},
		{"more shared memory", func(r *record.Resources) { r.Budget.Shared++ }, record.Green,
			usual + "; the budget is larger than the default: 128 registers, 65537 bytes, 0 bytes of spills"},
		{"spills are allowed", func(r *record.Resources) { r.Budget.Spills = 8 }, record.Green,
			usual + "; the budget is larger than the default: 128 registers, 65536 bytes, 8 bytes of spills"},
		{"a smaller budget", func(r *record.Resources) { r.Budget.Shared = 1024 }, record.Green, usual},
		{"too much for a smaller budget", func(r *record.Resources) { r.Budget.Shared = 1023 }, record.Red,
			"sm_89: 1024 bytes of shared memory, the budget is 1023 (ptxas)"},
	} {
		r := green(0.8, 0.002)
		r.Resources.Usage[0].Shared.Value = 24
		c.change(r.Resources)
		g := Judge(r).Gates[0]
		if g.Status != c.status || g.Summary != c.want || (len(g.Reasons) == 0) != (c.status == record.Green) {
			t.Errorf("%s: %s: %s %q\nwant %s: %s", c.name, g.Status, g.Summary, g.Reasons, c.status, c.want)
		}
	}
}
