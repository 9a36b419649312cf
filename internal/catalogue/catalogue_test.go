package catalogue

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/term"
)

func silent(string, ...any) {}

func TestNew(t *testing.T) {
	c, err := New(silent, Lists...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Kernels, func(k Kernel) bool { return k.Name == "stage3b" && k.Base != "" && k.Idea != "" }) {
		t.Errorf("kernels: %+v", c.Kernels)
	}
	for _, d := range []int{64, 128} {
		if !slices.ContainsFunc(c.Presets, func(p Preset) bool { return p.Name == "hopper" && p.HeadDim == d && p.Threads > 0 && p.Shared > 0 }) {
			t.Errorf("no preset of hopper for D = %d", d)
		}
	}
	if !slices.Contains(c.Devices, Word{"emu:sm_90a", "emulator"}) || len(c.Chips) == 0 {
		t.Errorf("devices: %+v, chips: %+v", c.Devices, c.Chips)
	}
	if _, err := New(silent, "socks"); err == nil {
		t.Error("there is a list of socks")
	}
}

func TestWriteText(t *testing.T) {
	c, err := New(silent, "shapes")
	if err != nil {
		t.Fatal(err)
	}
	var plain, titled bytes.Buffer
	c.WriteText(&plain, term.Style{}, term.Unlimited, false)
	c.WriteText(&titled, term.Style{}, term.Unlimited, true)
	if strings.Contains(plain.String(), "shapes\n") || !strings.HasPrefix(titled.String(), "shapes\n  name ") || !strings.Contains(plain.String(), "\nmission ") {
		t.Errorf("%s\n%s", &plain, &titled)
	}
}
