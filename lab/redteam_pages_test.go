package lab

import (
	"os"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

const pagesABI = `{"entry": "attn", "format": "e4m3", "scaling": "per-page", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "qs"}, {"pointer": "ks"}, {"pointer": "vs"},
    {"pointer": "page_table"}, {"pointer": "seqused_k"}, {"pointer": "sinks"}, {"u32": "Sq"}, {"u32": "H"}, {"u32": "Hkv"}, {"u32": "page_size"}, {"u32": "max_pages"},
    {"i32": "window_left"}, {"i32": "window_right"}, {"f32": "softcap"}, {"f32": "scale"}],
  "grid": ["Sq", "H", "B"], "block": [32], "require": ["D == 32"]}`

// pages returns the kernel of pages.ptx with code behind one of its comments. The code may use the
// registers %r9 to %r19 and %f10 to %f19.
func pages(t testing.TB, comment, code string) *Subject {
	t.Helper()
	text, err := os.ReadFile("testdata/redteam/pages.ptx")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "// "+comment+"\n") {
		t.Fatalf("pages.ptx has no comment %q", comment)
	}
	return called(t, strings.Replace(string(text), "// "+comment+"\n", code+"\n", 1), pagesABI)
}

// wrongPages are mistakes in what servers need.
var wrongPages = map[string]struct{ comment, code string }{
	"soft caps above 24":                      {"start", "min.f32 %cap, %cap, 0f41C00000;"},
	"more than 12 keys after the query":       {"keys", "min.s32 %r9, %wr, 12;\nsub.s32 %r9, %wr, %r9;\nsub.s32 %n, %n, %r9;\nmax.s32 %n, %n, 0;"},
	"256 to 511 keys before the query":        {"keys", "shr.u32 %r9, %wl, 8;\nand.b32 %r9, %r9, 1;\nadd.u32 %j, %j, %r9;"},
	"no sinks in heads 4 to 7":                {"sink", "shr.u32 %r9, %h, 2;\nand.b32 %r9, %r9, 1;\ncvt.rn.f32.u32 %f10, %r9;\nfma.rn.f32 %f6, %f10, 0fC2C80000, %f6;"},
	"the scale of V of the fourth page":       {"scales", equals("%r4", "3") + "setp.ne.u32 %p9, %r10, 0;\nselp.f32 %vsc, 0f3F800000, %vsc, %p9;"},
	"the scale of V for K after four pages":   {"scales", "shr.u32 %r9, %r4, 2;\nsetp.ne.u32 %p9, %r9, 0;\n@%p9 mov.f32 %ksc, %vsc;"},
	"pages 8 to 15 are those before":          {"page", "shr.u32 %r9, %r4, 3;\nand.b32 %r9, %r9, 1;\nmul.wide.u32 %rd12, %r9, 4;\nsub.u64 %rd5, %rd5, %rd12;"},
	"a sequence of one key":                   {"keys", equals("%len", "1") + "sub.u32 %n, %n, %r10;\nmax.s32 %n, %n, 0;"},
	"the ninth sequence lacks a key":          {"start", bit("%b", "3") + "sub.u32 %len, %len, %r10;\nmax.s32 %len, %len, 0;"},
	"no key before the query is no limit":     {"keys", "setp.eq.s32 %p10, %wl, 0;\nselp.b32 %j, 0, %j, %p10;"},
	"pages of a power of 2":                   {"page", "clz.b32 %r9, %ps;\nsub.u32 %r9, 31, %r9;\nshr.u32 %r4, %j, %r9;\nmul.wide.u32 %rd5, %r4, 4;\nadd.u64 %rd5, %t64, %rd5;"},
	"sinks of up to 8":                        {"sink", "min.f32 %f6, %f6, 0f41000000;"},
	"sinks of at least -8":                    {"sink", "max.f32 %f6, %f6, 0fC1000000;"},
	"a row that sees no key sees the nearest": {"keys", "max.s32 %n, %n, 1;\nmin.s32 %n, %n, %len;\nsub.s32 %r9, %n, 1;\nmin.s32 %j, %j, %r9;\nmax.s32 %j, %j, 0;"},
}

// TestServingArithmetic wants a case to show each mistake in what servers need, and the right kernel to
// pass for pages of all sizes.
func TestServingArithmetic(t *testing.T) {
	for name, c := range wrongPages {
		t.Run(name, func(t *testing.T) {
			if n := wrongCases(t, pages(t, c.comment, c.code), true, anyCase); n == 0 {
				t.Error("no case is wrong")
			}
		})
	}
	if *full {
		if n := wrongCases(t, pages(t, "keys", ""), false, anyCase); n != 0 {
			t.Errorf("%d cases of the right kernel are wrong", n)
		}
	}
	p := servingPlan()
	p.Defects.Shapes = append(p.Defects.Shapes, problem.Shape{B: 3, Hq: 9, Hkv: 3, Sq: 4, Skv: 82})
	_, v := measure(t, pages(t, "keys", ""), p)
	wants(t, v, record.Correct, "")
}
