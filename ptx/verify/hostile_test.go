package verify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/finding"
)

// hostile lists programs on which a naive analysis takes quadratic time.
var hostile = []struct {
	name string
	text func(n int) string
}{
	{"early exits that part lanes", func(n int) string {
		var b strings.Builder
		b.WriteString("mov.u32 %r1, %tid.x;\n")
		for i := range n {
			fmt.Fprintf(&b, "setp.eq.u32 %%p1, %%r1, %d;\n@%%p1 bra END;\nadd.s32 %%r%d, %%r1, 1;\n", i, 2+i%60)
		}
		return b.String() + "bar.sync 0;\nEND:\nst.shared.u32 [%r1], %r7;\nret;"
	}},
	{"nested loops", func(n int) string {
		var open, shut strings.Builder
		for i := range n {
			fmt.Fprintf(&open, "L%d: add.s32 %%r1, %%r1, 1;\n", i)
			fmt.Fprintf(&shut, "@%%p1 bra L%d;\n", n-1-i)
		}
		return "mov.u32 %r1, 0;\nsetp.eq.u32 %p1, %r1, 1;\n" + open.String() + shut.String() + "ret;"
	}},
	{"every register live everywhere", func(n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, ".reg .b32 %%x<%d>;\nmov.u32 %%r1, 0;\nsetp.eq.u32 %%p1, %%r1, 1;\n", n)
		for i := range n {
			fmt.Fprintf(&b, "mov.u32 %%x%d, 1;\n@%%p1 bra L%d;\nL%d:\n", i, i, i)
		}
		for i := range n {
			fmt.Fprintf(&b, "add.s32 %%r1, %%r1, %%x%d;\n", i)
		}
		return b.String() + "ret;"
	}},
	{"registers that a guard may leave unwritten", func(n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, ".reg .b32 %%x<%d>;\nmov.u32 %%r1, 0;\nsetp.eq.u32 %%p1, %%r1, 1;\n", n)
		for i := range n {
			fmt.Fprintf(&b, "@%%p1 mov.u32 %%x%d, 1;\nadd.s32 %%r1, %%r1, %%x%d;\n@%%p1 bra L%d;\nL%d:\n", i, i, i, i)
		}
		return b.String() + "ret;"
	}},
	{"names that are not declared", func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "add.s32 %%u%d, %%v%d, 1;\n", i, i)
		}
		return b.String() + "ret;"
	}},
}

// TestHostile checks that the analyses finish. With quadratic time, the largest programs would
// not finish on any machine.
func TestHostile(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			m, _ := kernelOf(t, h.text(10_000))
			start := time.Now()
			Check(m)
			if d := time.Since(start); d > time.Minute {
				t.Errorf("took %v", d)
			}
		})
	}
}

// TestBudgets checks that an analysis that would take quadratic time stops at a budget and marks
// its result as partial.
func TestBudgets(t *testing.T) {
	for _, tt := range []struct {
		n    int
		done bool
	}{{500, true}, {8000, false}} {
		_, f := kernelOf(t, hostile[2].text(tt.n))
		if got := Pressure(f, NewCFG(f)); got.Partial == tt.done {
			t.Errorf("%d registers live everywhere: partial is %v", tt.n, got.Partial)
		}
		_, f = kernelOf(t, hostile[0].text(tt.n))
		u := Uniformity(f, NewCFG(f))
		if u.Partial == tt.done {
			t.Errorf("%d early exits: partial is %v", tt.n, u.Partial)
		}
		if got := u.Reg(register(t, f, "%r1")); got != Varies {
			t.Errorf("%d early exits: %%r1 is %s", tt.n, got)
		}
	}
}

// TestManyFindings wants the findings of a hopeless text to be limited, and one of each severity
// however many there are of the others.
func TestManyFindings(t *testing.T) {
	m, _ := kernelOf(t, "bar.sync 0, 33;\n"+strings.Repeat("add.u32 %r1, %tid.x, 1;\n", 3*mostFindings)+
		"mov.u16 %h1, "+"100000;\n"+"mov.b32 {"+strings.Repeat("%h1, ", mostMessage)+"%h1}, %r1;\nret;")
	count := map[finding.Severity]int{}
	for _, f := range Check(m) {
		count[f.Severity]++
		if len(f.Message) > mostMessage+100 {
			t.Errorf("a message has %d bytes: %.100s", len(f.Message), f.Message)
		}
	}
	if count[finding.Error] != mostFindings || count[finding.Warning] == 0 {
		t.Errorf("found %v", count)
	}
}
