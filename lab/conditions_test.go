package lab

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/record"
)

// oneIf sets %r10 to 1 if a predicate holds.
func oneIf(predicate string) string { return "selp.u32 %r10, 1, 0, " + predicate + ";\n" }

// conditionCheats are mistakes for a few combinations of sizes, with the shapes that show them.
var conditionCheats = []struct {
	name, code string
	shown      func(s problem.Shape) bool
}{
	{"three sizes at once",
		"setp.eq.u32 %p10, %B, 3; setp.eq.u32 %p11, %H, 7; setp.eq.u32 %p12, %skv, 100; and.pred %p10, %p10, %p11; and.pred %p10, %p10, %p12;\n" + oneIf("%p10") + noScale,
		func(s problem.Shape) bool { return s.B == 3 && s.Hq == 7 && s.Skv == 100 }},
	{"three branches inside each other",
		"mov.u32 %r10, 0; setp.ne.u32 %p10, %B, 4; @%p10 bra OUT; setp.ne.u32 %p11, %H, 9; @%p11 bra OUT; setp.ne.u32 %p12, %skv, 321; @%p12 bra OUT; mov.u32 %r10, 1;\nOUT:\n" + noScale,
		func(s problem.Shape) bool { return s.B == 4 && s.Hq == 9 && s.Skv == 321 }},
	{"flags in integers",
		"setp.eq.u32 %p10, %B, 3; setp.eq.u32 %p11, %H, 7; selp.u32 %r11, 1, 0, %p10; selp.u32 %r12, 1, 0, %p11; and.b32 %r11, %r11, %r12; setp.ne.u32 %p10, %r11, 0;\n" + oneIf("%p10") + noScale,
		func(s problem.Shape) bool { return s.B == 3 && s.Hq == 7 }},
	{"exclusive or of lengths",
		"xor.b32 %r11, %skv, %sq; setp.eq.u32 %p10, %r11, 777;\n" + oneIf("%p10") + noScale,
		func(s problem.Shape) bool { return s.Skv^s.Sq == 777 }},
	{"a product of sizes",
		"mul.lo.u32 %r11, %B, %H; mul.lo.u32 %r11, %r11, %skv; setp.eq.u32 %p10, %r11, 4410;\n" + oneIf("%p10") + noScale,
		func(s problem.Shape) bool { return s.B*s.Hq*s.Skv == 4410 }},
	{"a comparison of floats",
		"cvt.rn.f32.u32 %f11, %H; setp.eq.f32 %p10, %f11, 0f41300000;\n" + oneIf("%p10") + noScale,
		func(s problem.Shape) bool { return s.Hq == 11 }},
	{"eleven heads, without a comparison", equals("%H", "11") + noScale, func(s problem.Shape) bool { return s.Hq == 11 }},
	{"one length among many others", decoys(5) + "setp.eq.u32 %p10, %skv, 777;\n" + oneIf("%p10") + noScale, func(s problem.Shape) bool { return s.Skv == 777 }},
	{"heads as they are", "setp.eq.u32 %p10, %H, 11;\n" + oneIf("%p10") + noScale, func(s problem.Shape) bool { return s.Hq == 11 }},
}

// decoys returns 90 comparisons whose outcomes do not matter, and every is 5, or more for a smaller every.
func decoys(every int) string {
	var b strings.Builder
	for n := 301; n < 750; n += every {
		b.WriteString(strings.ReplaceAll("setp.eq.u32 %p10, %skv, N; selp.u32 %r11, 1, 0, %p10;\n", "N", strconv.Itoa(n)))
	}
	return b.String()
}

// deepPlan returns the quick plan for the search of shapes.
func deepPlan() Plan {
	p := quickly()
	p.Depth = RingsAndEdge
	return p
}

// TestChecklist24Conditions wants a shape of the plan to meet each condition, whatever the seed.
func TestChecklist24Conditions(t *testing.T) {
	for i, c := range conditionCheats {
		for seed := range uint64(6) {
			if !*full && seed != uint64(i)%6 {
				continue
			}
			p := deepPlan()
			p.Seed = 1 + seed
			m, err := newMeasurement(rows(t, "start", c.code), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			m.close()
			shown := 0
			for _, one := range m.lengths {
				if c.shown(one.Shape) && one.Shape.Sq >= 4 && one.Shape.Skv >= 16 {
					shown++
				}
			}
			if shown == 0 {
				t.Errorf("%s, seed %d: no case of %d meets the condition", c.name, p.Seed, len(m.lengths))
			}
		}
	}
	if n := wrongCases(t, rows(t, "start", conditionCheats[0].code), true, anyCase); n == 0 {
		t.Errorf("%s: no case is wrong", conditionCheats[0].name)
	}
}

// TestTooManyConditions wants a kernel with more conditions than become cases to be void, with the lines of
// conditions without a case, and the smoke plan to say that it does not look for conditions.
func TestTooManyConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := servingPlan()
	p.Depth, p.Defects.Shapes = RingsAndEdge, nil
	s := rows(t, "start", decoys(1)+"setp.eq.u32 %p10, %skv, 777;\n"+oneIf("%p10")+noScale)
	r, v := measure(t, s, p)
	wants(t, v, record.Reject, "the kernel has more conditions on sizes than become cases")
	open := r.Correctness.Conditions.Open
	lines := strings.Split(s.PTX, "\n")
	if len(open) == 0 || v.Gates[2].Status != record.Void {
		t.Fatalf("the correctness gate is %s: %v", v.Gates[2].Status, open)
	}
	for _, o := range open {
		if o.Line < 1 || o.Line > len(lines) || strings.TrimSpace(lines[o.Line-1]) != o.Text || o.Shape.Skv < 301 {
			t.Errorf("%+v", o)
		}
	}
	if c, ok := conditionsOf("rows", rows(t, "start", strings.Repeat("add.u32 %r11, %skv, 7;\n", mostPoints)).PTX, "attn"); !ok || c.left == nil || !strings.HasPrefix(c.left.text, "add.u32") {
		t.Errorf("results beyond the limit are left out in silence: %v", c.left)
	}
	p.Depth = RingsOnly
	p.Cases = p.Cases[:2]
	_, v = measure(t, rows(t, "start", ""), p)
	wants(t, v, record.Defer, "conditions on sizes not searched")
}

// TestChecklist24Contract judges calls that pass wrong arguments for some sizes.
func TestChecklist24Contract(t *testing.T) {
	text := rows(t, "start", "").PTX
	for i, edit := range [][2]string{
		{`"grid": ["Sq",`, `"grid": ["Sq - (Sq % 97 == 13 && B == 2)",`},
		{`"scale*1.44`, `"(H == 11 ? 0 : 1)*scale*1.44`},
		{`{"u32": "Skv"}`, `{"u32": "Skv == 777 ? 776 : Skv"}`},
		{`{"u32": "Skv"}`, `{"u32": "Skv - (B == 3 && H == 7 && Sq > 20)"}`},
	} {
		if i > 1 && !*full {
			break
		}
		if n := wrongCases(t, called(t, text, strings.Replace(rowsABI, edit[0], edit[1], 1)), true, anyCase); n == 0 {
			t.Errorf("%s: no case is wrong", edit[1])
		}
	}
}

// TestConditionsOfPresets wants the kernels of attest to need no case for their conditions that the other
// shapes of the plan do not have.
func TestConditionsOfPresets(t *testing.T) {
	for i, name := range kernels.Names() {
		if !*full && i%4 != 0 {
			continue
		}
		s := preset(t, name)
		m, err := newMeasurement(s, deepPlan(), nil)
		if err != nil {
			t.Fatal(err)
		}
		m.close()
		if c := m.conditions; len(c.Open) > 0 || c.Unsearched != "" || c.Shapes > 40 {
			t.Errorf("%s: %d shapes meet its conditions, and these are open: %v %s", name, c.Shapes, c.Open, c.Unsearched)
		}
		if _, ok := conditionsOf(name, s.PTX, s.Entries()[0]); !ok {
			t.Errorf("%s has no conditions", name)
		}
	}
}

// TestConditionsOfOthers wants the conditions of all kernels of other compilers at hand to be PTX that the emulator
// accepts.
func TestConditionsOfOthers(t *testing.T) {
	entries := 0
	err := filepath.WalkDir("../ptx/parse/testdata", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".ptx" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m, err := parse.Parse(path, string(text))
		if err != nil {
			return nil // some texts are wrong on purpose
		}
		for _, f := range m.Funcs() {
			c, ok := conditionsOf(path, string(text), f.Sym.Name)
			if !ok || !f.Entry {
				continue
			}
			entries++
			dev, err := emulator(m.Target, emu.Options{})
			if err != nil {
				continue // a target that the emulator does not have
			}
			if _, err := dev.Load("conditions.ptx", c.text); err != nil {
				t.Errorf("%s, %s: %v", path, f.Sym.Name, err)
			}
			dev.Close()
		}
		return nil
	})
	if err != nil || entries < 20 {
		t.Errorf("%d entries, %v", entries, err)
	}
}

// TestBrokenConditions: a kernel whose conditions cannot be computed is judged without them.
func TestBrokenConditions(t *testing.T) {
	m, err := newMeasurement(preset(t, "stage3b"), deepPlan(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	broken := &conditionPart{conditions: &conditions{text: "not PTX", points: make([]point, 3)}, entry: m.s.Entries()[0]}
	d, shapes := newDeriver(m), []problem.Shape{length(1, 2, 33).WithHeadDim(m.heads)}
	with, without := d.results([]*conditionPart{broken}, shapes), d.results(nil, shapes)
	if why := m.conditions.Unsearched; !strings.Contains(why, "cannot be computed") {
		t.Errorf("the record says %q", why)
	}
	if !slices.Equal(with[0], without[0]) {
		t.Errorf("classes %v with broken conditions, want those of the contract: %v", with[0], without[0])
	}
}
