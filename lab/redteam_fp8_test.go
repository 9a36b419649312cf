package lab

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
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

// dropped leaves out weights below a limit.
func dropped(limit string) string {
	return "setp.lt.f32 %p20, %w, " + limit + ";\nmul.f32 %f40, %pw, %vf;\n@%p20 sub.f32 %acc, %acc, %f40;"
}

// manyZeros leaves out a key of zeros that comes after eight others, as a kernel would that takes them for padding.
const manyZeros = `setp.eq.f32 %p20, %kf, 0f00000000;
	vote.sync.all.pred %p21, %p20, 0xffffffff;
	add.u32 %first, %first, 1;
	selp.u32 %first, %first, 0, %p21;
	setp.gt.u32 %p22, %first, 8;
	neg.f32 %f41, %w;
	fma.rn.f32 %f40, %f41, %vf, %acc;
	selp.f32 %acc, %f40, %acc, %p22;
	sub.f32 %f40, %l, %w;
	selp.f32 %l, %f40, %l, %p22;`

// wrongFP8 are mistakes that the rounding of weights to e4m3 hides, except in inputs made for them.
var wrongFP8 = map[string]struct{ comment, code string }{
	"sums of 13 bits":                   {"sums", thirteenBits("%acc")},
	"sums of weights of 13 bits":        {"sums", thirteenBits("%l")},
	"weights are truncated":             {"sums", "mul.f32 %f40, %w, 0f3CF5C28F;\nmul.f32 %f40, %f40, %vf;\nsub.f32 %acc, %acc, %f40;"},
	"scales of up to 100":               {"scales", "min.f32 %f20, %f20, 0f42C80000;"},
	"-0 is the largest number in K":     {"code of k", "setp.eq.u16 %p20, %hh0, 128;\nselp.b16 %hh0, 0xfe, %hh0, %p20;"},
	"subnormal numbers of K are 0":      {"code of k", "and.b16 %hh2, %hh0, 0x78;\nsetp.eq.u16 %p20, %hh2, 0;\nselp.b16 %hh0, 0, %hh0, %p20;"},
	"scales of V of up to 1/4":          {"scales", "min.f32 %vsc, %vsc, 0f3E800000;"},
	"scales of V of at least 1/1000":    {"scales", "max.f32 %vsc, %vsc, 0f3A83126F;"},
	"weights below 2^-9 are 0":          {"sums", dropped("0f3B000000")},
	"weights are not scaled":            {"sums", dropped("0f3A800000")},
	"more than 8 keys of zeros":         {"sums", manyZeros},
	"sums of weights of up to 700":      {"sums", "min.f32 %l, %l, 0f442F0000;"},
	"numbers of V below 2^-5 lack 2^-6": {"code of v", "and.b16 %hh2, %hh0, 0x78;\nsetp.eq.u16 %p20, %hh2, 8;\n@%p20 and.b16 %hh0, %hh0, 0x87;"},
	"subnormal numbers of V are 0":      {"code of v", "and.b16 %hh2, %hh0, 0x78;\nsetp.eq.u16 %p20, %hh2, 0;\nselp.b16 %hh0, 0, %hh0, %p20;"},
}

// TestChecklist29SmallErrors wants inputs whose V has a mean or another magnitude than usual, whose codes are subnormal, whose
// scales are large, or whose weights are small or equal, to show each of these mistakes, and the right kernel to pass on them.
func TestChecklist29SmallErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/redteam/fp8.ptx")
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(c Case) bool {
		return slices.Contains([]string{gate.Biased, gate.LargeV, gate.Sink, gate.Flat, "small-v", "subnormal", "large-scales"}, c.Distribution)
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

// TestTwoBits judges a right kernel whose weights have two bits, by the sweep: its errors are near the tolerance.
func TestTwoBits(t *testing.T) {
	text, err := os.ReadFile("testdata/redteam/fp8.ptx")
	if err != nil {
		t.Fatal(err)
	}
	s := called(t, strings.ReplaceAll(string(text), "e4m3x2", "e5m2x2"), strings.ReplaceAll(fp8ABI, "e4m3", "e5m2"))
	if n := wrongCases(t, s, false, func(c Case) bool { return c.Distribution == gate.EqualHalf && c.Shape.Skv < 64 }); n != 0 {
		t.Errorf("%d cases of the right kernel are wrong", n)
	}
}

// TestLowestCode wants the code 0 of u8 in normal inputs. The encoder does not give it.
func TestLowestCode(t *testing.T) {
	p := problem.Attention{Shape: problem.Square(1, 2, 64, 64), Format: problem.U8}
	s, err := Preset("stage3b", p, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	for distribution, want := range map[string]bool{"normal": true, "one-hot": false} {
		in, err := newInputs(s, Case{Shape: p.Shape, Seed: 3, Distribution: distribution})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"k", "v"} {
			data := in.data[name]
			if got := bytes.IndexByte(data, 0) >= 0; name == "k" && got != want || want && !got {
				t.Errorf("%s, %s: a code is 0: %v", distribution, name, got)
			}
		}
	}
}
