package lab

import (
	"regexp"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestPairMutants judges mutants of hopper-pair that once passed: a mask that is wrong in one column, a
// maximum that is never negative, sums that do not start at zero, and a comparison of maxima the wrong way
// round. Each changes few outputs, by little, or only for some inputs.
func TestPairMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := quickly()
	p.Defects.Shapes, p.Counters, p.KeepGoing = nil, problem.Shape{}, true
	p.Cases = []Case{
		{Shape: length(1, 1, 12), Seed: 1, Distribution: "equal"}, {Shape: length(1, 1, 107), Seed: 2, Distribution: "equal"},
		{Shape: length(1, 2, 80), Seed: 2, Distribution: "negative"}, {Shape: length(1, 1, 33), Seed: 1, Distribution: "zeros"},
		{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 5, Skv: 80, D: 64}, Seed: 2, Distribution: "negative"}, // no row but those of the first row slot
		{Shape: length(1, 2, 33), Seed: 3, Distribution: "normal"}, {Shape: length(1, 2, 400), Seed: 1, Distribution: "steps"},
	}
	const float, predicate = `(%f\d+)`, `(%p\d+)`
	for _, c := range []struct {
		name, pattern, change string
		most                  int // how many matches are changed; 0 is all
		on                    string
	}{
		{"the original", `\.version`, ".version", 0, ""},
		{"a key too few in one column", `setp\.gt\.s32 ` + predicate + `, (%r\d+), 9;`, "setp.gt.s32 $1, $2, 10;", 1, "1,1,12"},
		{"a key too many in one column", `setp\.gt\.s32 ` + predicate + `, (%r\d+), 105;`, "setp.gt.s32 $1, $2, 104;", 1, "1,1,107"},
		{"a maximum that is never negative", `fma\.rn\.f32 ` + float + `, ` + float + `, ` + float + `, 0f41000000;`,
			"max.f32 $2, $2, 0f00000000; fma.rn.f32 $1, $2, $3, 0f41000000;", 0, "negative"},
		{"a maximum of one of two rows that is never negative", `max\.s32 (%r\d+), (%r\d+), (%r\d+);`, "max.relu.s32 $1, $2, $3;", 20, "negative"},
		{"the first value of a sum of weights", `mov\.f32 SUM, 0f00000000;`, "mov.f32 SUM, 0f40800000;", 0, "equal"},
		{"the first value of an output", `mov\.f32 OUT, 0f00000000;`, "mov.f32 OUT, 0f3F800000;", 0, "zeros"},
		{"a comparison of maxima the wrong way round", `setp\.gt\.f32 ` + predicate + `, ` + float + `, 0f42000000;`, "setp.lt.f32 $1, $2, 0f42000000;", 2, "steps"},
	} {
		s := preset(t, "hopper-pair")
		k := *s.Kernel
		named := strings.NewReplacer("SUM", sumOf(k.PTX), "OUT", accumulatorOf(k.PTX))
		pattern := regexp.MustCompile(named.Replace(c.pattern))
		changed := 0
		k.PTX = pattern.ReplaceAllStringFunc(k.PTX, func(found string) string {
			if changed++; c.most > 0 && changed > c.most {
				return found
			}
			return pattern.ReplaceAllString(found, named.Replace(c.change))
		})
		if changed == 0 {
			t.Errorf("%s: the kernel does not have what is to be changed", c.name)
			continue
		}
		s, err := NewSubject(&k)
		if err != nil {
			t.Fatal(err)
		}
		_, v := measure(t, s, p)
		if c.on == "" {
			if v.Gates[2].Status == record.Red {
				t.Errorf("%s: %s", c.name, v.Why)
			}
			continue
		}
		if why := strings.Join(v.Gates[2].Reasons, "\n"); v.Gates[2].Status != record.Red || !strings.Contains(why, c.on) {
			t.Errorf("%s: %s, want it to be wrong on %s:\n%s", c.name, v.Gates[2].Status, c.on, why)
		}
	}
}

// sumOf returns the register with a row's sum of weights. The epilogue adds those of four lanes.
func sumOf(text string) string {
	all := regexp.MustCompile(`shfl\.sync\.bfly\.b32 %f\d+, (%f\d+), 2, 31`).FindAllStringSubmatch(text, -1)
	return all[len(all)-1][1]
}

// accumulatorOf returns the first register to which products are added.
func accumulatorOf(text string) string {
	for _, found := range regexp.MustCompile(`fma\.rn\.f32 (%f\d+), %f\d+, %f\d+, (%f\d+);`).FindAllStringSubmatch(text, -1) {
		if found[1] == found[2] {
			return found[1]
		}
	}
	return "no register"
}
