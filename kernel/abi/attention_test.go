package abi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/examples/flash"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestAttention describes a kernel by the names of its parameters.
func TestAttention(t *testing.T) {
	k, err := flash.Kernel()
	if err != nil {
		t.Fatal(err)
	}
	text, err := abi.Write(k)
	if err != nil {
		t.Fatal(err)
	}
	again, err := abi.Parse("flash.json", text)
	if err != nil {
		t.Fatal(err)
	}
	again.PTX = k.PTX
	if again.Identity() != k.Identity() {
		t.Error("the call differs after it was written and read")
	}
	p := problem.Attention{Shape: problem.Shape{B: 2, Hq: 8, Hkv: 2, Sq: 65, Skv: 100, D: 64}}
	plan, err := k.Bind(p, kernel.Chip{}, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s := plan.Steps[0]; s.Grid != [3]int{2, 8, 2} || s.Block != [3]int{64, 1, 1} || len(s.Args) != 12 {
		t.Errorf("%+v", s)
	}
	p.D = 128
	if err := k.Serves(p, kernel.Chip{}); err == nil {
		t.Error("a kernel for D = 64 serves D = 128")
	}
}

// TestValueHeadDim wants a description that uses DV to support V with another head dimension, within its
// conditions, and one that does not use it to refuse that.
func TestValueHeadDim(t *testing.T) {
	const file = `{"entry": "k", "format": "e4m3", "grid": [1], "block": [128], "require": [%s],
		"params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "lse"}]}`
	p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 3, Skv: 5, D: 192, DV: 128}, LSE: true}
	for require, want := range map[string]string{
		`"D == 192", "DV == 128"`: "",
		`"DV <= D"`:               "",
		`"D == 192", "DV == 64"`:  "DV is 128",
		`"D == 192"`:              "the problem uses head-dim-v",
	} {
		k, err := abi.Parse("f.json", fmt.Appendf(nil, file, require))
		if err != nil {
			t.Fatal(err)
		}
		err = k.Serves(p, kernel.Chip{})
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
			t.Errorf("%s: %v, want %q", require, err, want)
		}
		if want != "" {
			continue
		}
		plan, err := k.Bind(p, kernel.Chip{}, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sizes := map[string]int64{"q": 2 * 3 * 192, "k": 2 * 5 * 192, "v": 2 * 5 * 128, "o": 2 * 2 * 3 * 128, "lse": 4 * 2 * 3}
		for _, m := range plan.Memory {
			if m.Bytes != sizes[m.Name] {
				t.Errorf("%s: %s has %d bytes, want %d", require, m.Name, m.Bytes, sizes[m.Name])
			}
		}
	}
	if _, err := abi.Parse("f.json", fmt.Appendf(nil, file, `"DW == 1"`)); err == nil {
		t.Error("a name that does not exist is accepted")
	}
}

// TestAttentionErrors describes kernels whose parameters or calls are wrong.
func TestAttentionErrors(t *testing.T) {
	call := abi.Attention{Grid: []string{"1"}, Block: []string{"1"}}
	four := []string{"q", "k", "v", "o"}
	for _, c := range []struct {
		pointers []string
		scalar   string
		call     abi.Attention
		want     string
	}{
		{append(four, "data"), "Sq", call, "parameter data"},
		{four, "n", call, "parameter n"},
		{four[:3], "Sq", call, "no parameter points to o"},
		{four, "Sq", abi.Attention{Block: []string{"1"}}, "grid"},
		{four, "Sq", abi.Attention{Grid: []string{"nothing"}, Block: []string{"1"}}, "nothing"},
	} {
		k := build.New("k", ptx.SM80)
		for _, name := range c.pointers {
			build.ParamGlobal[build.U8](k, name)
		}
		k.ParamU32(c.scalar)
		c.call.Problem.Format = problem.F16
		if _, err := c.call.Kernel(k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %s: %v, want %q", c.pointers, c.scalar, err, c.want)
		}
	}
}
