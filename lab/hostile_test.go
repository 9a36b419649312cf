package lab

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// without is a prologue that makes the softmax of stage3b flat if %n, a number computed without a
// comparison, is not 0.
const without = "min.u32 %n, %n, 1; sub.u32 %n, 1, %n; .reg .f32 %fn; cvt.rn.f32.u32 %fn, %n; mul.f32 %f0, %f0, %fn;"

// TestHostile judges kernels that are right on most shapes, addresses and values, and wrong on a
// few.
func TestHostile(t *testing.T) {
	derivedCases := quickly()
	derivedCases.Depth, derivedCases.Cases, derivedCases.Defects.Shapes, derivedCases.Counters = RingsAndEdge, derivedCases.Cases[:1], nil, problem.Shape{}
	watchedCases := derivedCases
	watchedCases.Depth, watchedCases.Defects = RingsAndEdge, Defects{Shapes: []problem.Shape{length(1, 1, 32)}, Schedules: []uint64{0, 1}}
	defectsOnly := quickly()
	defectsOnly.Cases, defectsOnly.Counters, defectsOnly.Defects = nil, problem.Shape{}, Defects{Shapes: []problem.Shape{length(1, 2, 33)}, Schedules: []uint64{0, 1}}
	unequalCases := derivedCases
	unequalCases.Depth, unequalCases.Cases = Listed, slices.Clone(freshCases[3:])
	const number = ".reg .b32 %n, %n1; .reg .b64 %a; .reg .pred %c;\n"
	// lastHead puts the address of the last head of K into %a.
	const lastHead = "ld.param.u64 %a, [k]; ld.param.u32 %n, [heads]; sub.u32 %n, %n, 1; ld.param.u32 %n1, [seq]; mul.lo.u32 %n, %n, %n1; mad.wide.u32 %a, %n, 64, %a;\n"
	for _, c := range []struct {
		name string
		plan Plan
		make func(t testing.TB) *Subject
		why  string
	}{
		{"right only at the alignment of the lab", derivedCases, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+"ld.param.u64 %a, [q]; and.b64 %a, %a, 511; setp.eq.u64 %c, %a, 0; selp.u32 %n, 1, 0, %c;\n"+without, "")
		}, "correctness gate is red"},
		{"one scale of V for all heads from the fifth on", derivedCases, func(t testing.TB) *Subject { return otherScaleOfV(t, "min.u32 %few, $2, 4;") }, "correctness gate is red"},
		{"the scale of V by two bits of the head", derivedCases, func(t testing.TB) *Subject { return otherScaleOfV(t, "and.b32 %few, $2, 3;") }, "correctness gate is red"},
		{"wrong in blocks from the 256th on", derivedCases, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+"mov.u32 %n, %ctaid.x; shr.u32 %n, %n, 8;\n"+without, "")
		}, "correctness gate is red"},
		{"wrong from 2048 keys on, without a branch", derivedCases, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+"ld.param.u32 %n, [seq]; shr.u32 %n, %n, 11;\n"+without, "")
		}, "correctness gate is red"},
		{"wrong in blocks from the 512th on", derivedCases, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+"mov.u32 %n, %ctaid.x; shr.u32 %n, %n, 9;\n"+without, "")
		}, "correctness gate is red"},
		{"wrong if the scale of Q is large", unequalCases, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+largeScale("qs")+without, "")
		}, "correctness gate is red"},
		{"wrong if the scale of K is large", unequalCases, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+largeScale("ks")+without, "")
		}, "correctness gate is red"},
		{"wrong if one key is missing in the last tile", watchedCases, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+"ld.param.u32 %n, [seq]; and.b32 %n, %n, 63; div.u32 %n, %n, 63;\n"+without, "")
		}, "correctness gate is red"},
		{"wrong in large grids of a persistent kernel", derivedCases, func(t testing.TB) *Subject {
			return tampered(t, "stage5-persistent", "", number+"mov.u32 %n, %nctaid.x; shr.u32 %n, %n, 5;\n"+without, "")
		}, "correctness gate is red"},
		{"hangs on NaN", defectsOnly, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+lastHead+"$AGAIN: ld.volatile.global.u8 %n, [%a]; and.b32 %n, %n, 127; setp.eq.u32 %c, %n, 127; @%c bra $AGAIN;", "")
		}, "defects gate is red"},
		{"NaN of one head in all heads", defectsOnly, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+lastHead+"ld.global.u8 %n, [%a]; and.b32 %n, %n, 127; div.u32 %n, %n, 127;\n"+without+
				"rcp.rn.f32 %fn, %fn; mul.f32 %fn, %fn, 0f00000000; add.f32 %f0, %f0, %fn;", "")
		}, "nan-spread"},
		{"what an earlier block left in shared memory", defectsOnly, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+"ld.shared.u32 %n, [dynamic_shared+64]; setp.eq.u32 %c, %n, 0x12345678; @%c ret;", "st.shared.u32 [dynamic_shared+64], 0x12345678;")
		}, "defects gate is red"},
		{"the output through packed halves of its address", defectsOnly, func(t testing.TB) *Subject {
			return tampered(t, "stage3b", "", number+"ld.param.u64 %a, [o]; mov.b64 {%n, %n1}, %a; mov.b64 %a, {%n, %n1}; ld.global.u32 %n, [%a+8]; setp.eq.u32 %c, %n, 0x3c003c00; @%c ret;", "")
		}, "output-read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.plan.Depth != Listed && !*full {
				t.Skip("with -full")
			}
			_, v := measure(t, c.make(t), c.plan)
			wants(t, v, record.Reject, c.why)
		})
	}
}

// largeScale sets %n to a number other than 0 if the first of some scales is at least 8.
func largeScale(scales string) string {
	return ".reg .f32 %fs; ld.param.u64 %a, [" + scales + "]; ld.global.f32 %fs, [%a]; cvt.rzi.u32.f32 %n, %fs; shr.u32 %n, %n, 3;\n"
}

// otherScaleOfV changes the number of the head, $2, by which the kernel finds the scale of V.
func otherScaleOfV(t testing.TB, few string) *Subject {
	return mutant(t, "stage3b", func(s string) string {
		base := regexp.MustCompile(`(?s)ld\.param\.u64 (%rd\d+), \[vs\];\s+cvta\.to\.global\.u64 (%rd\d+),`).FindStringSubmatch(s)[2]
		s = regexp.MustCompile(`mad\.wide\.u32 (%rd\d+), (%r\d+), 4, `+base+`;`).ReplaceAllString(s, few+"\nmad.wide.u32 $1, %few, 4, "+base+";")
		return strings.Replace(s, "\t.reg .pred", "\t.reg .b32 %few;\n\t.reg .pred", 1)
	}, nil)
}

// TestHostileDecode judges a kernel that is wrong for one combination of sizes: one query per
// sequence, grouped heads and B > 1. Each size alone is also in other shapes, so the search for
// shapes that reach new code does not find the combination.
func TestHostileDecode(t *testing.T) {
	s := wrongDecode(t)
	p := Quick()
	p.Seed = 1
	m, err := newMeasurement(s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	at := slices.IndexFunc(m.p.Cases, func(c Case) bool { return c.Shape.B > 1 && c.Shape.Hq > c.Shape.Hkv && c.Shape.Sq == 1 })
	if at < 0 {
		t.Fatalf("no case has this combination: %v", m.p.Cases)
	}
	only := quickly()
	only.Cases, only.Defects.Shapes, only.Counters = m.p.Cases[at:at+1], nil, problem.Shape{}
	_, v := measure(t, s, only)
	wants(t, v, record.Reject, "correctness gate is red")
}

// TestNaNInOneHead wants all kernels of attest to keep NaN in its head.
func TestNaNInOneHead(t *testing.T) {
	names := []string{"stage0", "stage5-persistent", "hopper"}
	if *full {
		names = kernels.Names()
	}
	for _, name := range names {
		s := preset(t, name)
		p := quickly()
		p.Cases, p.Counters, p.Defects = nil, problem.Shape{}, Defects{Shapes: []problem.Shape{length(1, 2, 33)}, Schedules: []uint64{0, 1}}
		r, _ := measure(t, s, p)
		for _, f := range r.Defects.Found {
			if f.Severity == finding.Error {
				t.Errorf("%s: %s: %s", name, f.Kind, f.Message)
			}
		}
	}
}

// wrongDecode is a causal kernel with grouped heads that is wrong for one combination of sizes.
func wrongDecode(t testing.TB) *Subject {
	text, err := naive().PTX()
	if err != nil {
		t.Fatal(err)
	}
	const after = "ld.param.f32 %f0, [c];\n"
	if !strings.Contains(text, after) {
		t.Fatalf("the text has no line %q", after)
	}
	text = strings.Replace(text, after, after+`.reg .b32 %z<4>; .reg .pred %zp<4>;
ld.param.u32 %z0, [batch]; ld.param.u32 %z1, [heads]; ld.param.u32 %z2, [hkv]; ld.param.u32 %z3, [sq];
setp.gt.u32 %zp0, %z0, 1; setp.ne.u32 %zp1, %z1, %z2; setp.eq.u32 %zp2, %z3, 1;
and.pred %zp0, %zp0, %zp1; and.pred %zp0, %zp0, %zp2; selp.f32 %f0, 0f00000000, %f0, %zp0;
`, 1)
	call, err := abi.Parse("naive.json", []byte(naiveABI))
	if err != nil {
		t.Fatal(err)
	}
	s, err := External("naive", text, call)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
