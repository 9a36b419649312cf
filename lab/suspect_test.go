package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// TestSuspectsPresets wants no finding in the text of any kernel of attest.
func TestSuspectsPresets(t *testing.T) {
	for _, name := range kernels.Names() {
		s, err := Preset(name, problem.Attention{LSE: true}, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range suspects(s) {
			t.Errorf("%s: %s", name, f.String())
		}
	}
}

// TestSuspects reads texts in which every use of memory and of special registers is known.
func TestSuspects(t *testing.T) {
	for _, c := range []struct {
		name string
		body string // after the addresses of q and o are in %rd1 and %rd2
		kind finding.Kind
		call func(k *kernel.Kernel)
	}{
		{"an output is read", "ld.global.u32 %r1, [%rd2+4];", finding.OutputRead, nil},
		{"an output is read through a generic address", "cvta.global.u64 %rd3, %rd2;\nadd.u64 %rd3, %rd3, 8;\nld.u32 %r1, [%rd3];", finding.OutputRead, nil},
		{"an output is read by an atomic", "atom.global.add.u32 %r1, [%rd2], 0;", finding.OutputRead, nil},
		{"an output is copied to shared memory", "cp.async.ca.shared.global [s], [%rd2], 4;", finding.OutputRead, nil},
		{"an output is added to, which declares its zeros", "red.global.add.u32 [%rd2], 1;", "", func(k *kernel.Kernel) { k.Operand("o").Init = kernel.Zero }},
		{"an operand that is input and output", "ld.global.u32 %r1, [%rd2];", "", func(k *kernel.Kernel) { k.Operand("o").Role = kernel.InOut }},
		{"a workspace is read", "ld.global.u32 %r1, [%rd2];", "", func(k *kernel.Kernel) { k.Operand("o").Role = kernel.Workspace }},
		{"an output is written", "st.global.u32 [%rd2], 1;", "", nil},
		{"an input is read", "ld.global.u32 %r1, [%rd1];", "", nil},
		{"an input is written", "st.global.u32 [%rd1], 1;", finding.InputWrite, nil},
		{"a variable is written and read", "st.global.u32 [kept], 1;\nmov.u64 %rd3, kept;\nld.global.u32 %r1, [%rd3+4];", finding.ModuleState, nil},
		{"a variable is counted in", "atom.global.add.u32 %r1, [kept], 1;", finding.ModuleState, nil},
		{"a declared variable", "atom.global.add.u32 %r1, [seen], 1;", "", func(k *kernel.Kernel) { k.Declares = []string{"seen"} }},
		{"a declared variable that cannot be restored", "atom.global.add.u32 %r1, [kept], 1;", finding.ModuleState, func(k *kernel.Kernel) { k.Declares = []string{"kept"} }},
		{"a declared variable of the function", ".global .b32 own;\natom.global.add.u32 %r1, [own], 1;", finding.ModuleState, func(k *kernel.Kernel) { k.Declares = []string{"own"} }},
		{"a table", "ld.global.u32 %r1, [kept];", "", nil},
		{"the number of the SM", "mov.u32 %r1, %smid;", finding.LaunchDependent, nil},
		{"the time", "mov.u64 %rd3, %globaltimer;", finding.LaunchDependent, nil},
		{"the clock", "mov.u64 %rd3, %clock64;", finding.LaunchDependent, nil},
		{"a declared register", "mov.u32 %r1, %smid;", "", func(k *kernel.Kernel) { k.Declares = []string{"%smid"} }},
		{"the number of the thread", "mov.u32 %r1, %tid.x;", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &kernel.Kernel{
				Op: "attention", Operands: []kernel.Operand{{Name: "q", Role: kernel.Input}, {Name: "o", Role: kernel.Output}},
				Launches: []kernel.Launch{{Entry: "k", Args: []kernel.Arg{{Pointer: "q"}, {Pointer: "o"}}}},
				PTX: ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .b32 kept[4];\n.visible .global .align 4 .b32 seen[4];\n" +
					".visible .entry k(.param .u64 q, .param .u64 o)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<5>;\n.shared .align 16 .b8 s[16];\n" +
					"ld.param.u64 %rd1, [q];\nld.param.u64 %rd2, [o];\n" + c.body + "\nret;\n}\n",
			}
			if c.call != nil {
				c.call(k)
			}
			found := suspects(&Subject{Kernel: k, Target: ptx.SM80})
			switch {
			case c.kind == "" && len(found) > 0:
				t.Errorf("found %s", found[0].String())
			case c.kind != "" && (len(found) != 1 || found[0].Kind != c.kind || found[0].Line < 11 || found[0].Why == "" || found[0].Fix == ""):
				t.Errorf("found %+v, want %s", found, c.kind)
			}
		})
	}
}

// TestSuspectWatch runs a kernel whose address of the output goes through shared memory, where
// the text alone does not show it.
func TestSuspectWatch(t *testing.T) {
	hide := func(text string) string {
		at := strings.LastIndex(text, "\tret;")
		return text[:at] + `	{
	.reg .b64 %known, %hidden;
	.reg .b32 %old;
	.shared .align 8 .b64 slot;
	ld.param.u64 %known, [o];
	st.shared.u64 [slot], %known;
	bar.sync 0;
	ld.shared.u64 %hidden, [slot];
	ld.global.u32 %old, [%hidden];
	}
` + text[at:]
	}
	s := mutant(t, "stage1", hide, nil)
	if found := suspects(s); len(found) != 0 {
		t.Fatalf("the text shows it: %s", found[0].String())
	}
	p := smaller(quickly())
	_, v := measure(t, s, p)
	wants(t, v, record.Reject, "output-read")
}
