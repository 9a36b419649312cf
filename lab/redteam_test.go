package lab

import (
	"regexp"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// edited returns a stage3b of unknown structure with another text.
func edited(t testing.TB, edit func(string) string) *Subject {
	t.Helper()
	k := copyOf(preset(t, "stage3b").Kernel)
	k.Structure = nil
	was := k.PTX
	if k.PTX = edit(was); k.PTX == was {
		t.Fatal("the edit changes nothing")
	}
	s, err := NewSubject(k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var exponential = regexp.MustCompile(`ex2\.approx\.ftz\.f32 (%f\d+), (%f\d+);`)

// redTeam are wrong kernels in the classes of the checklist, in other clothes.
var redTeam = map[string]func(t testing.TB) *Subject{
	"26 a scale above 1/√D is ignored": func(t testing.TB) *Subject {
		return hiding(t, "setp.gt.f32 %z, %f0, 0f3E000000;", "mov.f32 %f0, 0f3E000000;")
	},
	"26 a scale below 1/√D is ignored": func(t testing.TB) *Subject {
		return hiding(t, "setp.lt.f32 %z, %f0, 0f3E000000;", "mov.f32 %f0, 0f3E000000;")
	},
	"24 three sequences of five heads": func(t testing.TB) *Subject {
		return hiding(t, "ld.param.u32 %z0, [batch];\nld.param.u32 %z1, [heads];\nsetp.ge.u32 %z, %z0, 3;\nsetp.ge.and.u32 %z, %z1, 5, %z;", "mov.f32 %f0, 0f00000000;")
	},
	"29 small weights are dropped": func(t testing.TB) *Subject {
		return edited(t, func(s string) string {
			return exponential.ReplaceAllString(s, "$0\n{ .reg .pred %small; setp.lt.f32 %small, $2, 0fC0A00000; @%small mov.f32 $1, 0f00000000; }")
		})
	},
	"29 exponents in steps of 1/8": func(t testing.TB) *Subject {
		return edited(t, func(s string) string {
			return exponential.ReplaceAllString(s, "{ .reg .f32 %st; mul.f32 %st, $2, 0f41000000; cvt.rni.f32.f32 %st, %st; mul.f32 %st, %st, 0f3E000000; ex2.approx.ftz.f32 $1, %st; }")
		})
	},
	"22 the output is read by an asynchronous copy": func(t testing.TB) *Subject {
		return hiding(t, "setp.eq.u32 %z, 0, 0;", "cp.async.ca.shared.global [zs], [%zo], 4;\ncp.async.wait_all;\nld.shared.u32 %z4, [zs];\nsetp.eq.u32 %zp, %z4, 0x12345678;\n@%zp ret;")
	},
	"23 a function keeps a count": func(t testing.TB) *Subject {
		return tampered(t, "stage3b", `.visible .global .align 8 .b32 zcount[2];
.func (.reg .b32 %got) zget(.reg .b64 %at) { ld.global.u32 %got, [%at]; ret; }
.func zput(.reg .b64 %at, .reg .b32 %what) { st.global.u32 [%at], %what; ret; }
`, `.reg .b64 %za; .reg .b32 %zn; .reg .pred %zp;
mov.u64 %za, zcount;
call (%zn), zget, (%za);
add.u32 %zn, %zn, 1;
setp.gt.u32 %zp, %zn, 100000; @%zp ret;
call zput, (%za, %zn);`, "")
	},
	"28 a block that has waited": func(t testing.TB) *Subject {
		return hiding(t, "mov.u32 %z0, %clock_hi;\nand.b32 %z0, %z0, 1;\nsetp.eq.u32 %z, %z0, 1;", "mov.f32 %f0, 0f00000000;")
	},
	"24 the number of the last tile": func(t testing.TB) *Subject { // 11 or 13 tiles
		return hiding(t, "ld.param.u32 %z0, [seq];\nadd.u32 %z0, %z0, 63;\nshr.u32 %z0, %z0, 6;\nand.b32 %z1, %z0, 13;\nsetp.eq.u32 %z, %z1, 13;", "mov.f32 %f0, 0f00000000;")
	},
	"8 NaN where Q begins with a negative number": func(t testing.TB) *Subject {
		return hiding(t, "ld.global.u8 %z0, [%zq];\nsetp.ge.u32 %z, %z0, 128;", "mov.f32 %f0, 0f7FC00000;")
	},
}

// TestRedTeam wants each of them to be rejected. The short form leaves out the derived shapes.
func TestRedTeam(t *testing.T) {
	for name, cheat := range redTeam {
		t.Run(name, func(t *testing.T) {
			p := smaller(quickly())
			p.Cases = append(p.Cases, freshCases...)
			if *full {
				p = Quick()
				p.References, p.Ask.Ptxas = shared, ""
			} else if strings.HasPrefix(name, "24") {
				t.Skip("needs derived shapes: run with -full")
			}
			p.Counters, p.Predict, p.Targets = problem.Shape{}, problem.Shape{}, nil
			_, v := measure(t, cheat(t), p)
			wants(t, v, record.Reject, "")
		})
	}
}

// TestChecklist24ManyKeys judges a kernel that is wrong for more keys than the emulator can run. The
// defects gate is void and names the shape, unless a case has it.
func TestChecklist24ManyKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := onlyDefects()
	p.Defects.Shapes, p.Defects.PerShape = p.Defects.Shapes[:1], 1
	r, v := measure(t, hiding(t, "ld.param.u32 %z0, [seq];\nsetp.gt.u32 %z, %z0, 9000;", "mov.f32 %f0, 0f00000000;"), p)
	wants(t, v, record.Reject, "compares a size and changes its outcome at about 1,1,9001,64")
	r.Correctness = &record.Correctness{Cases: []record.Case{{Shape: problem.Square(1, 1, 9001, 64)}}}
	if g := gate.Judge(r).Gates[1]; g.Status != record.Green {
		t.Errorf("%s: %s", g.Status, g.Summary)
	}
}

// simpleKernel computes plain attention, one block per row. A right kernel may do it in unusual ways.
func simpleKernel(way string) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	sq, skv, heads, hkv := k.ParamU32("sq"), k.ParamU32("skv"), k.ParamU32("heads"), k.ParamU32("hkv")
	s.scale, s.keys = k.ParamF32("scale"), skv
	row, h, b := k.CtaidX(), k.CtaidY(), k.CtaidZ()
	s.qRow = b.MadLo(heads, h).MadLo(sq, row)
	s.oRow = s.qRow
	first := b.MadLo(hkv, h.Div(heads.Div(hkv))).MulLo(skv)
	s.key = func(j build.U32) build.U32 {
		switch way {
		case "from the last key to the first":
			j = skv.Sub(1).Sub(j)
		case "odd keys after even keys":
			even := skv.Add(1).Shr(1)
			j = j.Shl(1).Selp(j.Sub(even).Shl(1).Add(1), j.SetpLt(even))
		}
		return first.Add(j)
	}
	if way == "O is written twice" {
		s.o.At(s.oRow.MadLo(servingDim, k.TidX())).St(k.F32(0))
	}
	if way == "more threads than columns" {
		k.If(k.TidX().SetpLt(servingDim), s.emit)
	} else {
		s.emit()
	}
	return k
}

const simpleABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"u32": "Sq"}, {"u32": "Skv"}, {"u32": "H"}, {"u32": "Hkv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["Sq", "H", "B"], "block": ["THREADS"], "require": ["D == 16"MORE]}`

// TestUnusualRight wants right kernels to pass that are unusual in what they do or in what they
// support.
func TestUnusualRight(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for i, c := range []struct{ way, threads, require string }{
		{"from the last key to the first", "D", ""},
		{"odd keys after even keys", "D", ""},
		{"O is written twice", "D", ""},
		{"more threads than columns", "64", ""},
		{"multiples of 48 keys only, in groups of four heads", "D", `, "Skv % 48 == 0", "H == 4*Hkv"`},
		{"one query and two sequences only", "D", `, "Sq == 1", "B == 2"`},
		{"at least 200 keys", "D", `, "Skv >= 200"`},
	} {
		if !*full && i%3 != 2 {
			continue
		}
		t.Run(c.way, func(t *testing.T) {
			call, err := abi.Parse("serve.json", []byte(strings.NewReplacer("THREADS", c.threads, "MORE", c.require).Replace(simpleABI)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := simpleKernel(c.way).PTX()
			if err != nil {
				t.Fatal(err)
			}
			s, err := External("serve", text, call)
			if err != nil {
				t.Fatal(err)
			}
			p := servingPlan()
			if *full {
				p = Quick()
				p.Counters, p.Predict = problem.Shape{}, problem.Shape{}
			}
			_, v := measure(t, s, p)
			wants(t, v, record.Correct, "")
		})
	}
}
