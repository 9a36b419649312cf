package chips

import (
	"maps"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestFiles checks that all chips have the same numbers, and that each has a basis and a source.
func TestFiles(t *testing.T) {
	names := slices.Sorted(maps.Keys(All[0].Numbers))
	for _, c := range All {
		if got := slices.Sorted(maps.Keys(c.Numbers)); !slices.Equal(got, names) {
			t.Errorf("%s has the numbers %q, %s has %q", c.Name, got, All[0].Name, names)
		}
		for name, n := range c.Numbers {
			if !slices.Contains([]string{"measured", "published", "derived", "assumed"}, n.Basis) || n.Source == "" || n.Value < 0 {
				t.Errorf("%s: %s is %+v", c.Name, name, n)
			}
			if n.Basis == "measured" && c.Name != "H200" {
				t.Errorf("%s: %s counts as measured, and only an H200 was measured", c.Name, name)
			}
		}
	}
	h200 := must("H200")
	if m := h200.Measured(); m <= 0 || m >= 1 {
		t.Errorf("a share of %v of the H200's numbers is measured", m)
	}
}

func TestFor(t *testing.T) {
	for target, want := range map[ptx.Target]string{ptx.SM80: "A100", ptx.SM86: "A100", ptx.SM89: "L4", ptx.SM90: "H200", ptx.SM90a: "H200"} {
		if got := For(target, nil).Name; got != want {
			t.Errorf("%v is %s, want %s", target, got, want)
		}
	}
	card := device.Info{Name: "NVIDIA H100 80GB HBM3", Driver: "cuda", Target: ptx.SM90a, SMs: 114, Clock: 1755}
	if c := For(ptx.SM89, &card); c.SMs != 114 || c.MHz != 1755 || c.Get("dram_gbps") != 3350 || c.Name != "H100 80GB HBM3" {
		t.Errorf("the card is %+v", c)
	}
	for _, name := range []string{"rtx-4090", "RTX 4090"} {
		if c, err := Find(name); err != nil || c.SMs != 128 {
			t.Errorf("%+v, %v", c, err)
		}
	}
	if _, err := Find("H300"); err == nil {
		t.Error("there is an H300")
	}
}

// TestRuns wants chips to refuse code for newer architectures, and for another one with features of its own.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		chip   string
		target ptx.Target
		want   bool
	}{{"A100", ptx.SM80, true}, {"A100", ptx.SM89, false}, {"L4", ptx.SM80, true}, {"L4", ptx.SM90a, false}, {"H200", ptx.SM89, true}, {"H200", ptx.SM90a, true}} {
		chip := must(c.chip)
		if err := chip.Runs(c.target); (err == nil) != c.want {
			t.Errorf("%s, %v: %v", c.chip, c.target, err)
		}
	}
}

func TestOnChip(t *testing.T) {
	for _, c := range []struct {
		device, chip string
		want         bool
	}{
		{"NVIDIA H200", "H200", true}, {"NVIDIA H200", "h200", true}, {"NVIDIA L40S", "L4", false}, {"NVIDIA L4", "L4", true},
		{"NVIDIA GeForce RTX 4090", "RTX-4090", true}, {"NVIDIA GeForce RTX 4090 D", "RTX-4090", true}, {"NVIDIA H100 80GB HBM3", "H100", true},
		{"NVIDIA H200", "", false}, {"", "H200", false}, {"synthetic GPU", "synthetic GPU", true},
	} {
		if got := OnChip(c.device, c.chip); got != c.want {
			t.Errorf("%q on %q: %v", c.device, c.chip, got)
		}
	}
}
