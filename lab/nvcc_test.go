package lab

import (
	"os"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestNvcc judges kernels that nvcc compiled and that differ from the presets, with right and with
// wrong ABI files.
func TestNvcc(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text, err := os.ReadFile("testdata/nvcc/attention.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		change     func(*kernel.Kernel)
		outcome    record.Outcome
		why        string
	}{
		{"f16", "f16_bshd", nil, record.Correct, "no GPU"},
		{"f16, causal", "f16_bshd", func(k *kernel.Kernel) {
			k.Fixed["mask"], k.Launches[0].Args[13].Value = "causal", expr.Must("1")
			k.Supports = append(k.Supports, problem.CausalMask)
		}, record.Correct, "no GPU"},
		{"bf16 with workspaces", "bf16_split", nil, record.Correct, "no GPU"},
		{"heads do not share", "f16_bshd", func(k *kernel.Kernel) { k.Launches[0].Args[6].Value = expr.Must("H") }, record.Reject, "past the end of an allocation"},
		{"the other layout", "f16_bshd", func(k *kernel.Kernel) { k.Fixed["layout"] = string(problem.BHSD) }, record.Reject, "error"},
		{"a causal mask that nobody asked for", "f16_bshd", func(k *kernel.Kernel) { k.Launches[0].Args[13].Value = expr.Must("1") }, record.Reject, "error"},
		{"a counter that nobody zeroes", "bf16_split", func(k *kernel.Kernel) { k.Operand(k.Launches[0].Args[5].Pointer).Init = kernel.AsIs }, record.Reject, "which no thread has written"},
	} {
		if !*full && slices.Contains([]string{"f16, causal", "the other layout", "a causal mask that nobody asked for"}, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			a := readABI(t, "testdata/nvcc/"+c.file+".json")
			if c.change != nil {
				c.change(a)
			}
			s, err := External(c.name, string(text), a)
			if err != nil {
				t.Fatal(err)
			}
			p := smaller(quickly())
			p.Depth = RingsOnly // with one shape, most of the code would not run under the checkers
			p.Defects.Shapes, p.Counters = []problem.Shape{length(1, 2, 17)}, problem.Shape{}
			p.Cases = append([]Case{{Shape: length(2, 2, 17), Seed: 1, Distribution: "normal"}, {Shape: length(1, 2, 40), Seed: 2, Distribution: "one-hot"}}, Quick().Cases[4:6]...)
			_, v := measure(t, s, p)
			wants(t, v, c.outcome, c.why)
		})
	}
}
