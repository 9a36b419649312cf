package machine

import (
	"strings"
	"testing"

	_ "github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/ptx"
)

func TestFitting(t *testing.T) {
	ada, hopper := &lab.Subject{Kernel: &kernel.Kernel{Name: "ada"}, Target: ptx.SM89}, &lab.Subject{Kernel: &kernel.Kernel{Name: "hopper"}, Target: ptx.SM90a}
	for _, c := range []struct {
		device string
		skip   bool
		want   int
		err    string
	}{
		{"emu", false, 2, ""},
		{"emu:sm_90a", false, 2, ""},
		{"emu:sm_89", true, 1, ""},
		{"emu:sm_89", false, 0, "hopper is written for sm_90a, which emulated sm_89 (sm_89) does not run"},
		{"emu:sm_80", true, 0, "no kernel runs on sm_80"},
	} {
		m := &Machine{Name: c.device}
		if err := m.Open(); err != nil {
			t.Fatal(err)
		}
		list, err := m.Fitting([]*lab.Subject{ada, hopper}, c.skip)
		if len(list) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %d kernels, %v", c, len(list), err)
		}
		if m.GPU() {
			t.Errorf("%s counts as a GPU", c.device)
		}
		m.Close()
	}
	if err := (&Machine{Name: "emu:sm_70"}).Open(); err == nil || !strings.Contains(err.Error(), "--device emu:sm_70") {
		t.Errorf("%v does not name the flag", err)
	}
}
