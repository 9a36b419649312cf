package gate

import (
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/record"
)

// TestUsed wants the gate to say what a kernel uses and what fits on an SM, where it is known. Targets
// on which the kernel uses the same share one text.
func TestUsed(t *testing.T) {
	u := func(target string, registers int) resources.Usage {
		return resources.Usage{Target: target, Registers: resources.Figure{Value: registers, Source: resources.Estimate}}
	}
	for _, c := range []struct {
		threads int
		usage   []resources.Usage
		want    []string
	}{
		{128, []resources.Usage{u("sm_89", 89)}, []string{"sm_89: 89 registers (estimate), 48896 bytes of shared memory, 2 blocks per SM (shared memory)"}},
		{128, []resources.Usage{u("sm_89", 89), u("sm_90", 89)},
			[]string{"sm_89 and sm_90: 89 registers (estimate), 48896 bytes of shared memory; blocks per SM: 2 on sm_89 (shared memory), 4 on sm_90 (shared memory)"}},
		{128, []resources.Usage{u("sm_89", 89), u("sm_90", 255)}, []string{
			"sm_89: 89 registers (estimate), 48896 bytes of shared memory, 2 blocks per SM (shared memory)",
			"sm_90: 255 registers (estimate), 48896 bytes of shared memory, 2 blocks per SM (registers)"}},
		{128, []resources.Usage{u("sm_75", 1)}, []string{"sm_75: 1 register (estimate), 48896 bytes of shared memory"}},
		{128, []resources.Usage{{Target: "sm_89"}}, []string{"sm_89: unknown registers, 48896 bytes of shared memory"}},
		{0, []resources.Usage{u("sm_89", 89), u("sm_90", 89)}, []string{"sm_89 and sm_90: 89 registers (estimate), 48896 bytes of shared memory"}},
	} {
		if got := used(&record.Resources{Dynamic: 48896, Threads: c.threads, Usage: c.usage}); !slices.Equal(got, c.want) {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}

// TestResourcesGate wants the exact line of the gate.
func TestResourcesGate(t *testing.T) {
	const usual = "sm_89: 128 registers (ptxas), 1024 bytes of shared memory"
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
