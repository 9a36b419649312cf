package emu_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

func TestTargetFor(t *testing.T) {
	for text, want := range map[string]string{
		"sm_50": "sm_80", "sm_70": "sm_80", "sm_75": "sm_80", "sm_80": "sm_80", "sm_86": "sm_86", "sm_87": "sm_89",
		"sm_89": "sm_89", "sm_90": "sm_90", "sm_90a": "sm_90a",
		"sm_100": "sm_100a", "sm_100a": "sm_100a", "sm_100f": "sm_100a", "sm_103a": "sm_103a", "sm_120": "sm_120a", "sm_121": "sm_121a",
	} {
		asked, err := ptx.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := emu.TargetFor(asked); err != nil || got.String() != want {
			t.Errorf("code for %s runs on %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"sm_101a", "sm_130", "sm_80a"} {
		asked, err := ptx.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := emu.TargetFor(asked); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("code for %s runs on %s, %v; want an error that names the target", text, got, err)
		}
	}
}

// TestTargets checks that each target of the list has an emulator, and checks the order.
func TestTargets(t *testing.T) {
	list := emu.Targets()
	for i, target := range list {
		dev, err := emu.New(target, emu.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		dev.Close()
		if i > 0 && !target.Runs(list[i-1]) {
			t.Errorf("%s comes after %s, whose code it does not run", target, list[i-1])
		}
	}
}
