package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// hiding returns a preset of unknown structure that does something at its start if %z holds. The
// condition sets %z and may use the registers %z0 to %z3; the deed may use these, %z4 to %z7, the
// shared words zs, and %zq and %zo, the addresses of Q and O.
func hiding(t testing.TB, condition, deed string) *Subject {
	t.Helper()
	k := copyOf(preset(t, "stage3b").Kernel)
	k.Structure = nil
	const after = "ld.param.f32 %f0, [scale];\n"
	if !strings.Contains(k.PTX, after) {
		t.Fatalf("the text has no line %q", after)
	}
	k.PTX = strings.Replace(k.PTX, after, after+`
	.reg .pred %z, %zp;
	.reg .b32 %z<8>;
	.reg .b64 %zq, %zo, %za;
	.shared .align 16 .b32 zs[128];
	ld.param.u64 %zq, [q];
	cvta.to.global.u64 %zq, %zq;
	ld.param.u64 %zo, [o];
	cvta.to.global.u64 %zo, %zo;
`+condition+"\n@!%z bra HONEST;\n"+deed+"\nHONEST:\n", 1)
	s, err := NewSubject(k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The conditions behind which a deed hides. Without the deed, the kernels are right.
var hidingPlaces = map[string]string{
	"S > 97":              "ld.param.u32 %z0, [seq];\nsetp.gt.u32 %z, %z0, 97;",
	"S > 600":             "ld.param.u32 %z0, [seq];\nsetp.gt.u32 %z, %z0, 600;",
	"S > 1000":            "ld.param.u32 %z0, [seq];\nsetp.gt.u32 %z, %z0, 1000;",
	"S / 64 > 13":         "ld.param.u32 %z0, [seq];\nshr.u32 %z0, %z0, 6;\nsetp.gt.u32 %z, %z0, 13;",
	"B >= 2":              "ld.param.u32 %z0, [batch];\nsetp.ge.u32 %z, %z0, 2;",
	"H >= 8":              "ld.param.u32 %z0, [heads];\nsetp.ge.u32 %z, %z0, 8;",
	"B*H > 150":           "ld.param.u32 %z0, [heads];\nld.param.u32 %z1, [batch];\nmul.lo.u32 %z0, %z0, %z1;\nsetp.gt.u32 %z, %z0, 150;",
	"more than 64 blocks": "mov.u32 %z0, %ctaid.x;\nsetp.gt.u32 %z, %z0, 64;",
	"remainders 37 to 63": "ld.param.u32 %z0, [seq];\nand.b32 %z0, %z0, 63;\nsetp.ge.u32 %z, %z0, 37;",
}

// TestChecklist24HiddenBySize judges kernels that are wrong only for some sizes: the scale of the
// softmax is 0 there.
func TestChecklist24HiddenBySize(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	for name, condition := range hidingPlaces {
		if !*full && name != "S > 600" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := quickly()
			p.Depth, p.Counters, p.Cases = RingsOnly, problem.Shape{}, p.Cases[:2] // the search finds the length
			if *full {
				p.Depth = RingsAndEdge
			}
			p.Defects.PerShape = 2
			_, v := measure(t, hiding(t, condition, "mov.f32 %f0, 0f00000000;"), p)
			wants(t, v, record.Reject, "correctness red")
		})
	}
}

// TestChecklist27HiddenDefects judges kernels that have a defect only for S > 97, or S > 1000.
func TestChecklist27HiddenDefects(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const thread = "mov.u32 %z4, %tid.x;\n"
	for _, c := range []struct{ name, deed, why string }{
		{"a read of shared memory that was never written", "ld.shared.u32 %z5, [zs];\nst.shared.u32 [zs+4], %z5;", "uninit-shared"},
		{"a read before the first byte", "ld.global.nc.u8 %z5, [%zq+-1];", "oob-global"},
		{"a write of the guard's own byte", "st.global.u8 [%zo+-1], 0xc5;", "oob-global"},
		{"a barrier that half of a warp reaches", thread + "and.b32 %z5, %z4, 16;\nsetp.eq.u32 %zp, %z5, 0;\n@%zp bar.sync 1, 128;", ""},
		{"an exchange within a warp without a barrier", thread + `
	shl.b32 %z5, %z4, 2;
	mov.u32 %z6, zs;
	add.u32 %z5, %z5, %z6;
	st.shared.u32 [%z5], %z4;
	xor.b32 %z7, %z5, 4;
	ld.shared.u32 %z7, [%z7];
	st.shared.u32 [%z5], %z7;`, "race"},
	} {
		for i, condition := range []string{"S > 97", "S > 1000"} {
			t.Run(fmt.Sprint(c.name, ", ", condition), func(t *testing.T) {
				if i == 1 && (c.why != "race" || !*full) {
					t.Skip("the search for one defect is enough, with -full")
				}
				r, v := measure(t, hiding(t, hidingPlaces[condition], c.deed), onlyDefects())
				wants(t, v, record.Reject, c.why)
				if v.Gates[1].Status != record.Red {
					t.Errorf("the defects gate is %s: %s (shapes %v)", v.Gates[1].Status, v.Gates[1].Summary, r.Defects.Shapes)
				}
			})
		}
	}
}

// TestDefectsBehindValues judges a kernel that has a race only if the first keys are 6 or 7, and not all equal, as in the
// inputs of negative. The checkers watch a distribution whose values reach new code.
func TestDefectsBehindValues(t *testing.T) {
	const values = `ld.param.u64 %za, [k];
	ld.global.u32 %z0, [%za];
	and.b32 %z1, %z0, 0x7d7d7d7d;
	xor.b32 %z1, %z1, 0x7c7c7c7c;
	and.b32 %z2, %z0, 0x02020202;
	xor.b32 %z3, %z2, 0x02020202;
	min.u32 %z3, %z3, 1;
	xor.b32 %z3, %z3, 1;
	or.b32 %z1, %z1, %z3;
	setp.eq.u32 %z, %z1, 0;`
	p := onlyDefects()
	p.Depth, p.Defects.Shapes, p.Defects.PerShape = Listed, p.Defects.Shapes[:1], 1
	p.Cases = slices.DeleteFunc(slices.Clone(quickly().Cases), func(c Case) bool { return c.Distribution != "negative" && c.Distribution != "one-hot" })
	r, v := measure(t, hiding(t, values, "mov.u32 %z4, %tid.x;\nst.shared.u32 [zs], %z4;"), p)
	wants(t, v, record.Reject, "race")
	if n := len(r.Defects.Inputs); v.Gates[1].Status != record.Red || r.Defects.Inputs[n-1] != "negative" {
		t.Errorf("the defects gate is %s after %v", v.Gates[1].Status, r.Defects.Inputs)
	}
}

// TestChecklist24Unreachable wants the defects gate to be void if most of a kernel runs only for
// sizes that the emulator cannot run, and to name the lines.
func TestChecklist24Unreachable(t *testing.T) {
	if !*full {
		t.Skip("takes seconds: run with -full")
	}
	deed := "mov.u32 %z4, 0;\n" + strings.Repeat("add.u32 %z4, %z4, %z0;\n", 400) + "mov.f32 %f0, 0f00000000;"
	p := onlyDefects()
	p.Depth = RingsOnly
	r, v := measure(t, hiding(t, "ld.param.u32 %z0, [seq];\nsetp.gt.u32 %z, %z0, 500000;", deed), p)
	wants(t, v, record.Reject, "402 lines of the PTX never ran")
	if v.Gates[1].Status != record.Void || r.Defects.Coverage == nil {
		t.Errorf("the defects gate is %s", v.Gates[1].Status)
	}
}

// TestChecklist24Grouped judges a kernel that is wrong only for grouped heads with B > 1, and one
// that is wrong only for different lengths with B > 1.
func TestChecklist24Grouped(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	shape := problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 100, Skv: 100, D: 64}
	for name, condition := range map[string]string{
		"grouped heads":     "ld.param.u32 %z0, [group];\nsetp.gt.u32 %zp, %z0, 1;",
		"different lengths": "ld.param.u32 %z0, [seqQ];\nld.param.u32 %z1, [seqKV];\nsetp.ne.u32 %zp, %z0, %z1;",
	} {
		if name != "grouped heads" && !*full {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, err := Preset("hopper-latency", problem.Attention{Shape: shape}, kernel.Chip{})
			if err != nil {
				t.Fatal(err)
			}
			k := copyOf(s.Kernel)
			const after = "[scale];\n"
			at := strings.Index(k.PTX, after)
			line := k.PTX[strings.LastIndex(k.PTX[:at], "\n")+1 : at]
			scale := strings.TrimSuffix(strings.Fields(line)[1], ",")
			k.PTX = strings.Replace(k.PTX, after, after+`
	.reg .pred %z, %zp, %zr;
	.reg .b32 %z<8>;
`+condition+`
	mov.u32 %z2, %ctaid.y; // head of all batches: beyond the heads of one batch, B > 1
	ld.param.u32 %z3, [perBatch];
	setp.ge.u32 %zr, %z2, %z3;
	and.pred %z, %zp, %zr;
	@%z mov.f32 `+scale+`, 0f00000000;
`, 1)
			if s, err = NewSubject(k); err != nil {
				t.Fatal(err)
			}
			if n := wrongCases(t, s, true, anyCase); n == 0 {
				t.Error("no case is wrong")
			}
		})
	}
}

// TestDerivedShapesVary wants derived shapes that depend on the seed of the plan, the same shapes
// for the same seed, and the exact edges of the structure for every seed.
func TestDerivedShapesVary(t *testing.T) {
	s := preset(t, "stage5")
	shapes := func(seed uint64) []problem.Shape {
		p := Quick()
		p.Seed = seed
		m, err := newMeasurement(s, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		list := m.p.Defects.Shapes
		for _, c := range m.p.Cases {
			list = append(list, c.Shape)
		}
		return list
	}
	first, second := shapes(1), shapes(2)
	if !slices.Equal(first, shapes(1)) {
		t.Error("the same seed gives other shapes")
	}
	if slices.Equal(first, second) {
		t.Error("another seed gives the same shapes")
	}
	x := structureOf(s.Kernel)
	for _, list := range [][]problem.Shape{first, second} {
		for _, keys := range []int{x.ring + 1, x.tileKV - 1, x.tileKV + 1} {
			if !slices.ContainsFunc(list, func(s problem.Shape) bool { return s.Skv == keys }) {
				t.Errorf("no shape has %d keys: %v", keys, list)
			}
		}
	}
}

// TestEmulatorOfTarget wants the cases on an emulator that the caller names to have a moment that
// depends on the seed, as on the emulator that the lab opens itself.
func TestEmulatorOfTarget(t *testing.T) {
	s := tampered(t, "stage0", "", ".reg .b64 %at; .reg .pred %cp;\nmov.u64 %at, %globaltimer; setp.ge.u64 %cp, %at, 0x100000000; @%cp ret;", "")
	p := correctnessOnly()
	dev, err := device.Open("emu:sm_90")
	if err != nil {
		t.Fatal(err)
	}
	p.Device = dev
	r, v := measure(t, s, p)
	wants(t, v, record.Reject, "never written")
	if got := r.Correctness.Cases[0].Device; got != "emulated sm_90" {
		t.Errorf("the case ran on %s", got)
	}
}
