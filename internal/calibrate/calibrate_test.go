package calibrate

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestProbesRun runs every probe on the emulator: the kernels are valid and end.
func TestProbesRun(t *testing.T) {
	dev, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range Probes() {
		if names[p.Name] {
			t.Errorf("two probes are called %s", p.Name)
		}
		names[p.Name] = true
		if p.Doc == "" || p.Unit == "" {
			t.Errorf("%s has no text or no unit", p.Name)
		}
		if r := p.Run(t.Context(), dev); r.Error != "" {
			t.Errorf("%s: %+v", p.Name, r)
		}
	}
}

// TestMerge checks that measured numbers replace older ones, and that a probe that failed replaces
// none.
func TestMerge(t *testing.T) {
	c, err := chips.Find("L4")
	if err != nil {
		t.Fatal(err)
	}
	m := Merge(c, &Report{Results: []Result{
		{Name: "mufu_interval", Value: 8.014, Doc: "a test"},
		{Name: "mufu_latency", Value: 99, Error: "no"},
		{Name: "lds128", Value: 4},
	}})
	if n := m["mufu_interval"]; n.Value != 8.01 || n.Basis != "measured" {
		t.Errorf("mufu_interval is %+v", n)
	}
	if m["mufu_latency"] != c.Numbers["mufu_latency"] || len(m) != len(c.Numbers) {
		t.Error("numbers were changed that were not measured")
	}
}
