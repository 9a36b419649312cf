package lab

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

const rowsABI = `{"entry": "attn", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"u32": "Sq"}, {"u32": "Skv"}, {"u32": "H"}, {"u32": "Hkv"}, {"u32": "B"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["Sq", "H", "B"], "block": [32], "require": ["D == 32"]}`

// rows returns the kernel of rows.ptx with code behind one of its comments. The code may use the
// registers %r10 to %r19 and %f10 to %f19.
func rows(t testing.TB, comment, code string) *Subject {
	t.Helper()
	text, err := os.ReadFile("testdata/redteam/rows.ptx")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "// "+comment+"\n") {
		t.Fatalf("rows.ptx has no comment %q", comment)
	}
	return called(t, strings.Replace(string(text), "// "+comment+"\n", code+"\n", 1), rowsABI)
}

// called returns the kernel of a text with a call in JSON.
func called(t testing.TB, text, call string) *Subject {
	t.Helper()
	parsed, err := abi.Parse("rows.json", []byte(call))
	if err != nil {
		t.Fatal(err)
	}
	s, err := External("rows", text, parsed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The parts of mistakes that depend on a number without a comparison, and so without a branch that a
// search could look for. They set %r10 to 0 or 1.
const bitOf = "shr.u32 %r10, NUMBER, BIT;\nand.b32 %r10, %r10, 1;\n"

func bit(number, bit string) string {
	return strings.NewReplacer("NUMBER", number, "BIT", bit).Replace(bitOf)
}

func equals(number, value string) string {
	return strings.NewReplacer("NUMBER", number, "VALUE", value).Replace("xor.b32 %r10, NUMBER, VALUE;\nadd.u32 %r10, %r10, 0xffffffff;\nshr.u32 %r10, %r10, 31;\n")
}

// noScale sets the scale of the softmax to 0 if %r10 is 1, and noLastKey leaves out a key.
const (
	noScale   = "xor.b32 %r10, %r10, 1;\ncvt.rn.f32.u32 %f10, %r10;\nmul.f32 %scale, %scale, %f10;"
	noLastKey = "sub.u32 %n, %n, %r10;"
)

// wrongRows are mistakes in sizes, places and values without a comparison.
var wrongRows = map[string]struct{ comment, code string }{
	"1024 to 2047 keys":                     {"start", bit("%skv", "10") + noScale},
	"4096 to 8191 keys":                     {"start", bit("%skv", "12") + noScale},
	"rows from 4096 on":                     {"start", bit("%row", "12") + noScale},
	"groups of 32 heads":                    {"start", bit("%group", "5") + noScale},
	"groups of 128 heads":                   {"start", bit("%group", "7") + noScale},
	"sequences from 256 on":                 {"start", bit("%b", "8") + noScale},
	"heads of K from 64 on":                 {"start", bit("%kvh", "6") + noScale},
	"groups of seven heads":                 {"start", "shr.u32 %r11, 128, %group;\n" + bit("%r11", "0") + noScale},
	"groups of five heads, second sequence": {"start", "shr.u32 %r11, 32, %group;\nmin.u32 %r12, %b, 1;\nand.b32 %r11, %r11, %r12;\n" + bit("%r11", "0") + noScale},
	"a remainder of 256 keys":               {"keys", "and.b32 %r11, %skv, 255;\n" + equals("%r11", "200") + noLastKey},
	"a bit of an address":                   {"start", "shr.u64 %rd20, %k64, 38;\ncvt.u32.u64 %r11, %rd20;\n" + bit("%r11", "0") + noScale},
	"heads from 64 on":                      {"start", bit("%h", "6") + noScale},
	"sequences from 64 on":                  {"start", bit("%b", "6") + noScale},
	"a maximum that is never negative":      {"keys", "mov.f32 %m, 0f00000000;"},
	"logits of at least -10":                {"score", "max.f32 %s, %s, 0fC1200000;"},
	"exponents in steps of 1/32":            {"exponent", "mul.f32 %w, %w, 0f42000000;\ncvt.rni.f32.f32 %w, %w;\nmul.f32 %w, %w, 0f3D000000;"},
	"sums in f16":                           {"sums", "cvt.rn.f16.f32 %hh3, %acc;\ncvt.f32.f16 %acc, %hh3;"},
	"the last column of the 64th row":       {"end", "and.b32 %r11, %row, 63;\nand.b32 %r11, %r11, %lane;\nadd.u32 %r11, %r11, 1;\n" + bit("%r11", "5") + "cvt.rn.f32.u32 %f10, %r10;\nfma.rn.f32 %f2, %f10, %f2, %f2;"},
	"the row of a key in 16 bits":           {"start", "and.b32 %kbase, %kbase, 0xffff;"},
	"the row of a query in 16 bits":         {"start", "and.b32 %qrow, %qrow, 0xffff;"},
	"O before Q in memory":                  {"start", "setp.lt.u64 %p10, %o64, %q64;\nselp.u32 %r10, 1, 0, %p10;\n" + noScale},
	"K behind V in memory":                  {"start", "setp.gt.u64 %p10, %k64, %v64;\nselp.u32 %r10, 1, 0, %p10;\n" + noScale},
	"the second head from 2048 keys on":     {"start", "shr.u32 %r11, %skv, 11;\nmin.u32 %r11, %r11, 1;\nmin.u32 %r12, %h, 1;\nand.b32 %r10, %r11, %r12;\n" + noScale},
	"the second sequence from 2048 keys on": {"start", "shr.u32 %r11, %skv, 11;\nmin.u32 %r11, %r11, 1;\nmin.u32 %r12, %b, 1;\nand.b32 %r10, %r11, %r12;\n" + noScale},
	"the 64th row from 1024 keys on":        {"start", "shr.u32 %r11, %skv, 10;\nmin.u32 %r11, %r11, 1;\nshr.u32 %r12, %row, 6;\nmin.u32 %r12, %r12, 1;\nand.b32 %r10, %r11, %r12;\n" + noScale},
	"a register that is never written":      {"start", "and.b32 %r10, %r39, 1;\n" + noScale},
	"local memory that is never written":    {"start", ".local .align 4 .b32 loc[4];\nld.local.u32 %r11, [loc+8];\nand.b32 %r10, %r11, 1;\n" + noScale},
	"scales above 1/2":                      {"start", "min.f32 %scale, %scale, 0f3F38AA3B;"},
	"scales below 1/16":                     {"start", "max.f32 %scale, %scale, 0f3DB8AA3B;"},
	"a launch in a graph":                   {"start", "mov.u64 %rd20, %current_graph_exec;\ncvt.u32.u64 %r11, %rd20;\nmin.u32 %r10, %r11, 1;\n" + noScale},
	"a warp of the SM":                      {"start", "mov.u32 %r11, %warpid;\n" + bit("%r11", "2") + noScale},
}

// TestChecklist24Arithmetic wants a case or a length of the sweep to show each mistake that depends on a
// number without a comparison. It runs them from small to large, until one is wrong.
func TestChecklist24Arithmetic(t *testing.T) {
	for name, c := range wrongRows {
		t.Run(name, func(t *testing.T) {
			if name == "rows from 4096 on" && !*full {
				t.Skip("takes seconds: run with -full")
			}
			if n := wrongCases(t, rows(t, c.comment, c.code), true, anyCase); n == 0 {
				t.Error("no case is wrong")
			}
		})
	}
	if !*full {
		return
	}
	if n := wrongCases(t, rows(t, "start", ""), false, anyCase); n != 0 {
		t.Errorf("%d cases of the right kernel are wrong", n)
	}
}

// TestChecklist26Range judges kernels for bf16 that convert Q, K, V or O to f16, which holds no numbers above 65504.
func TestChecklist26Range(t *testing.T) {
	const convert = "cvt.rn.f16.f32 %hh1, REG;\ncvt.f32.f16 REG, %hh1;"
	bf16 := strings.NewReplacer("cvt.f32.f16 %q, %hh0;", "cvt.f32.bf16 %q, %hh0;\n// q", "cvt.f32.f16 %kf, %hh0;", "cvt.f32.bf16 %kf, %hh0;\n// k",
		"cvt.f32.f16 %vf, %hh0;", "cvt.f32.bf16 %vf, %hh0;\n// v", "mul.wide.u32 %rd8, %r0, 4;", "mul.wide.u32 %rd8, %r0, 2;", "st.global.f32 [%rd8], %f2;", "cvt.rn.bf16.f32 %hh1, %f2;\nst.global.b16 [%rd8], %hh1;")
	call := strings.NewReplacer(`"format": "f16"`, `"format": "bf16"`, `"output": "f32"`, `"output": "bf16"`).Replace(rowsABI)
	right := bf16.Replace(rows(t, "start", "").PTX)
	for comment, register := range map[string]string{"": "", "q": "%q", "k": "%kf", "v": "%vf", "end": "%f2"} {
		text := right
		if comment != "" {
			text = strings.Replace(right, "// "+comment+"\n", strings.ReplaceAll(convert, "REG", register)+"\n", 1)
		}
		n := wrongCases(t, called(t, text, call), true, func(c Case) bool { return strings.HasPrefix(c.Distribution, "large-") })
		if (n > 0) != (comment != "") {
			t.Errorf("%q in f16: %d cases are wrong", register, n)
		}
	}
}

// TestChecklist29Inputs judges kernels for f32 that drop the bits of Q, K or V that f16 and tf32 do not have.
func TestChecklist29Inputs(t *testing.T) {
	f32 := strings.NewReplacer("mul.wide.u32 %rd0, %r0, 2;", "mul.wide.u32 %rd0, %r0, 4;", "mul.wide.u32 %rd1, %r1, 2;", "mul.wide.u32 %rd1, %r1, 4;", "mul.wide.u32 %rd5, %j, 64;", "mul.wide.u32 %rd5, %j, 128;",
		"ld.global.nc.b16 %hh0, [%rd0];\n\tcvt.f32.f16 %q, %hh0;", "ld.global.nc.f32 %q, [%rd0];\n// q\n", "ld.global.nc.b16 %hh0, [%rd6];\n\tcvt.f32.f16 %kf, %hh0;", "ld.global.nc.f32 %kf, [%rd6];\n// k\n",
		"ld.global.nc.b16 %hh0, [%rd7];\n\tcvt.f32.f16 %vf, %hh0;", "ld.global.nc.f32 %vf, [%rd7];\n// v\n")
	call := strings.Replace(rowsABI, `"format": "f16"`, `"format": "f32"`, 1)
	right := f32.Replace(rows(t, "start", "").PTX)
	small := func(c Case) bool { return c.Shape.FLOP() < 1e6 }
	for comment, register := range map[string]string{"": "", "q": "%q", "k": "%kf", "v": "%vf"} {
		text := right
		if comment != "" {
			text = strings.Replace(right, "// "+comment+"\n", strings.ReplaceAll("mov.b32 %r11, REG;\nand.b32 %r11, %r11, 0xffffe000;\nmov.b32 REG, %r11;\n", "REG", register), 1)
		}
		if n := wrongCases(t, called(t, text, call), true, small); (n > 0) != (comment != "") {
			t.Errorf("%q in tf32: %d cases are wrong", register, n)
		}
	}
}

// TestKeylessRows judges causal kernels on more queries than keys. A row that sees no key is zero. A kernel
// that refuses such problems need not compute them.
func TestKeylessRows(t *testing.T) {
	call := strings.Replace(rowsABI, `"output"`, `"causal": true, "output"`, 1)
	keyless := func(c Case) bool { return c.Shape.Sq > c.Shape.Skv }
	text := func(least string) string {
		return rows(t, "keys", "sub.u32 %r11, %skv, %sq;\nadd.u32 %r11, %r11, %row;\nadd.u32 %r11, %r11, 1;\nmax.s32 %r11, %r11, "+least+";\nmin.u32 %n, %n, %r11;").PTX
	}
	if n := wrongCases(t, called(t, text("0"), call), false, keyless); n != 0 {
		t.Errorf("%d cases of a right kernel are wrong", n)
	}
	if n := wrongCases(t, called(t, text("1"), call), true, keyless); n == 0 {
		t.Error("no case is wrong if a row without keys sees the first key")
	}
	refuses := called(t, text("1"), strings.Replace(call, `"D == 32"`, `"D == 32", "Sq <= Skv"`, 1))
	if n := wrongCases(t, refuses, true, keyless); n != 0 {
		t.Error("a kernel is judged on problems that it refuses")
	}
	for i, name := range []string{"ada-throughput", "hopper-latency", "ada-latency", "hopper-pair", "hopper-throughput", "hopper-three", "hopper-two-pairs", "hopper-split-kv", "hopper-split-kv-cluster"} {
		if i >= 2 && !*full {
			break
		}
		s, err := Preset(name, problem.Attention{Shape: problem.Square(1, 8, 512, 64), Causal: true}, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		if n := wrongCases(t, s, false, keyless); n != 0 {
			t.Errorf("%s: %d cases are wrong", name, n)
		}
	}
}

// TestFlagInWorkspace judges kernels that leave a mark in a workspace whose content is arbitrary, and look for it. The
// next launch would do nothing. Strong accesses are no race.
func TestFlagInWorkspace(t *testing.T) {
	call := strings.Replace(rowsABI, `{"u32": "Sq"}`, `{"pointer": "workspace", "bytes": "64"}, {"u32": "Sq"}`, 1)
	for _, load := range []string{"ld.volatile.global.u32 %r11, [%rd20];", "ld.relaxed.gpu.global.u32 %r11, [%rd20];", "atom.global.or.b32 %r11, [%rd20], 0;"} {
		for _, store := range []string{"st.volatile.global.u32 [%rd20], 77;", "st.relaxed.gpu.global.u32 [%rd20], 77;"} {
			text := rows(t, "start", "ld.param.u64 %rd20, [ws];\n"+load+"\nsetp.eq.u32 %p10, %r11, 77;\n@%p10 ret;\n"+store).PTX
			p := onlyDefects()
			p.Depth, p.Defects.Shapes, p.Defects.PerShape = Listed, []problem.Shape{length(1, 2, 33)}, 1
			_, v := measure(t, called(t, strings.Replace(text, ".param .u64 o,", ".param .u64 o, .param .u64 ws,", 1), call), p)
			wants(t, v, record.Reject, "uninit-global")
		}
	}
}

// TestMaskBytes judges kernels with a mask. A byte that is not 0 shows the key, whatever it is.
func TestMaskBytes(t *testing.T) {
	call := strings.Replace(rowsABI, `{"u32": "Sq"}`, `{"pointer": "mask"}, {"u32": "Sq"}`, 1)
	small := func(c Case) bool { return c.Shape.FLOP() < 1e5 }
	for hidden, wrong := range map[string]bool{
		"setp.eq.u32 %p10, %r21, 0;":                            false,
		"setp.ne.u32 %p10, %r21, 1;":                            true,
		"and.b32 %r21, %r21, 1;\nsetp.eq.u32 %p10, %r21, 0;":    true,
		"and.b32 %r21, %r21, 0x7f;\nsetp.eq.u32 %p10, %r21, 0;": true,
		"cvt.s32.s8 %r21, %r21;\nsetp.le.s32 %p10, %r21, 0;":    true,
	} {
		text := strings.NewReplacer(".param .u64 o,", ".param .u64 o, .param .u64 mask,", "\tadd.u32 %j, %j, 1;", "NEXT:\nadd.u32 %j, %j, 1;",
			"LOOP:\n", "LOOP:\ncvt.u64.u32 %rd22, %j;\nadd.u64 %rd22, %rd21, %rd22;\nld.global.nc.u8 %r21, [%rd22];\n"+hidden+"\n@%p10 bra NEXT;\n",
		).Replace(rows(t, "keys", "mad.lo.u32 %r20, %b, %sq, %row;\nmul.lo.u32 %r20, %r20, %skv;\ncvt.u64.u32 %rd20, %r20;\nld.param.u64 %rd21, [mask];\nadd.u64 %rd21, %rd21, %rd20;").PTX)
		if n := wrongCases(t, called(t, text, call), true, small); (n > 0) != wrong {
			t.Errorf("%s: %d cases are wrong", hidden, n)
		}
	}
}

func anyCase(Case) bool { return true }

// wrongCases returns the number of wrong cases of the quick plan among those that are wanted. first ends at
// the first one.
func wrongCases(t *testing.T, s *Subject, first bool, wanted func(Case) bool) (wrong int) {
	t.Helper()
	p := quickly()
	p.Depth, p.Counters, p.Predict, p.Defects.Shapes = RingsAndEdge, problem.Shape{}, problem.Shape{}, nil
	m, err := newMeasurement(s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	l, err := load(m.dev, s, fewSMs, m.p.Seed)
	if err != nil {
		t.Fatal(err)
	}
	on := &table{loaded: l}
	defer func() {
		if err := on.clear(false); err != nil {
			t.Error(err)
		}
		l.close()
	}()
	list := slices.Clone(m.lengths)
	for _, c := range m.p.Cases {
		shape, refused, ok := m.served(c.Shape)
		if c.Shape = shape; ok && !m.forgoes(c, refused) {
			list = append(list, m.resolved(c))
		}
	}
	list = slices.DeleteFunc(list, func(c Case) bool { return !wanted(c) })
	slices.SortStableFunc(list, func(a, b Case) int { return cmp.Compare(a.Shape.FLOP(), b.Shape.FLOP()) })
	for _, one := range list {
		c, err := m.glance(context.Background(), on, one)
		if err != nil {
			t.Fatal(err)
		}
		if len(gate.Wrong(gate.Tolerance, s.Problem, &c)) > 0 {
			if wrong++; first {
				return wrong
			}
		}
	}
	return wrong
}
