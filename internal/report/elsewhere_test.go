package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// usingOn returns a record that was timed on an H200, of a kernel with so many bytes of shared
// memory per block. It has figures for sm_89 and sm_90.
func usingOn(name string, shared int, baseline *record.Kernel) *record.Record {
	r := timedOn(0, name, 10)
	r.Kernel.Name, r.Baseline = name, baseline
	recordtest.Resources(r, 89, shared, 0)
	u := r.Resources.Usage[0]
	u.Target = "sm_90"
	r.Resources.Usage = append(r.Resources.Usage, u)
	r.Resources.Threads = 128
	r.Build.Device.Name, r.Build.Device.Target = "NVIDIA H200", ptx.SM90a
	return r
}

// TestOtherChips: a verdict may not hold where the ratio of blocks per SM moves against it.
func TestOtherChips(t *testing.T) {
	const large, small = 53504, 48896 // stage2 and stage3a: 1 and 2 blocks on an L4, 4 and 4 on an H200
	base := usingOn("base", large, nil)
	saves, wastes := usingOn("saves", small, &base.Kernel), usingOn("wastes", large, &base.Kernel)
	less := usingOn("base", small, nil)
	emulated := usingOn("saves", small, &base.Kernel)
	emulated.Build.Device.Driver = "emu"
	for _, c := range []struct {
		name     string
		r        *record.Record
		o        record.Outcome
		baseline *record.Record
		want     string
	}{
		{"more blocks there may pay", saves, record.ValidNegative, base,
			"measured on H200, where an SM holds 4 blocks of it or 4 of base; on L4, L40S and RTX-4090 an SM holds 2 or 1, so this verdict may not hold there"},
		{"more blocks there keep a gain", saves, record.Merge, base, ""},
		{"fewer blocks there may cost the gain", wastes, record.Merge, less,
			"measured on H200, where an SM holds 4 blocks of it or 4 of base; on L4, L40S and RTX-4090 an SM holds 1 or 2, so this verdict may not hold there"},
		{"fewer blocks there do not help", wastes, record.ValidNegative, less, ""},
		{"the same ratio everywhere", wastes, record.Merge, base, ""},
		{"a rejection does not depend on the chip", saves, record.Reject, base, ""},
		{"the emulator has no chip", emulated, record.ValidNegative, base, ""},
		{"unknown resources", saves, record.ValidNegative, timedOn(0, "base", 10), ""},
	} {
		if got := report.OtherChips(c.r, c.o, c.baseline.Resources); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestElsewhere wants the sentence in the terminal, in COMPARE.md, on the validation page and
// on the HTML page.
func TestElsewhere(t *testing.T) {
	base := usingOn("base", 53504, nil)
	v := view(t, one(base, record.Merge), one(usingOn("saves", 48896, &base.Kernel), record.ValidNegative))
	if len(v.Elsewhere()) != 1 {
		t.Fatalf("%v", v.Elsewhere())
	}
	var terminal bytes.Buffer
	v.WriteText(&terminal, term.Style{})
	for where, text := range map[string]string{
		"terminal": terminal.String(), "COMPARE.md": v.Compare(), "validation page": v.Validation(v.Kernels[1]), "HTML page": html(t, v),
	} {
		if !strings.Contains(text, "easured on H200, where an SM holds 4 blocks of it or 4 of base; on L4, L40S and RTX-4090 an SM holds 2 or 1") {
			t.Errorf("%s: no sentence in\n%s", where, text)
		}
	}
	if page := v.Validation(v.Kernels[0]); strings.Contains(page, "easured on H200") {
		t.Errorf("the baseline has the sentence:\n%s", page)
	}
}
