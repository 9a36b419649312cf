package lab

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/lab/gate"
)

const fp8ABI = `{"entry": "attn", "format": "e4m3", "output": "f32", "p": "e4m3",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "qs"}, {"pointer": "ks"}, {"pointer": "vs"},
    {"u32": "Sq"}, {"u32": "Skv"}, {"u32": "H"}, {"u32": "Hkv"}, {"u32": "B"}, {"f32": "scale"}],
  "grid": ["Sq", "H", "B"], "block": [32], "require": ["D == 32"]}`

// thirteenBits truncates a sum to 13 bits after each 64 keys, as the tensor cores do that add up products of
// one-byte numbers.
func thirteenBits(sum string) string {
	return "and.b32 %r40, %j, 63;\nsetp.eq.u32 %p20, %r40, 63;\nselp.b32 %r41, 0xfffffc00, 0xffffffff, %p20;\n" +
		strings.ReplaceAll("mov.b32 %r42, SUM;\nand.b32 %r42, %r42, %r41;\nmov.b32 SUM, %r42;", "SUM", sum)
}

// wrongFP8 are mistakes that the rounding of weights to e4m3 hides, except in inputs made for them.
var wrongFP8 = map[string]struct{ comment, code string }{
	"sums of 13 bits":               {"sums", thirteenBits("%acc")},
	"sums of weights of 13 bits":    {"sums", thirteenBits("%l")},
	"weights are truncated":         {"sums", "mul.f32 %f40, %w, 0f3CF5C28F;\nmul.f32 %f40, %f40, %vf;\nsub.f32 %acc, %acc, %f40;"},
	"scales of up to 100":           {"scales", "min.f32 %f20, %f20, 0f42C80000;"},
	"-0 is the largest number in K": {"code of k", "setp.eq.u16 %p20, %hh0, 128;\nselp.b16 %hh0, 0xfe, %hh0, %p20;"},
	"subnormal numbers of K are 0":  {"code of k", "and.b16 %hh2, %hh0, 0x78;\nsetp.eq.u16 %p20, %hh2, 0;\nselp.b16 %hh0, 0, %hh0, %p20;"},
	"subnormal numbers of V are 0":  {"code of v", "and.b16 %hh2, %hh0, 0x78;\nsetp.eq.u16 %p20, %hh2, 0;\nselp.b16 %hh0, 0, %hh0, %p20;"},
}

// TestChecklist29SmallErrors wants inputs whose V has a mean, whose codes are subnormal, or whose scales are large, to show each of
// these mistakes, and the right kernel to pass on them.
func TestChecklist29SmallErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/redteam/fp8.ptx")
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(c Case) bool {
		return slices.Contains([]string{gate.Biased, "subnormal", "large-scales"}, c.Distribution)
	}
	for name, c := range wrongFP8 {
		t.Run(name, func(t *testing.T) {
			if n := strings.Count(string(text), "// "+c.comment+"\n"); n != 1 {
				t.Fatalf("fp8.ptx has %d comments %q", n, c.comment)
			}
			s := called(t, strings.Replace(string(text), "// "+c.comment+"\n", c.code+"\n", 1), fp8ABI)
			if n := wrongCases(t, s, true, wanted); n == 0 {
				t.Error("no case is wrong")
			}
		})
	}
	if n := wrongCases(t, called(t, string(text), fp8ABI), false, wanted); n != 0 {
		t.Errorf("%d cases of the right kernel are wrong", n)
	}
}
