package lab

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
)

// tampered returns a preset whose blocks first execute the prologue and last the epilogue.
// variables are declared in its module.
func tampered(t testing.TB, name, variables, prologue, epilogue string) *Subject {
	t.Helper()
	return mutant(t, name, func(s string) string {
		s = strings.Replace(s, ".visible .entry", variables+".visible .entry", 1)
		after := regexp.MustCompile(`ld\.param\.f32 %f\d+, \[scale\];\n`).FindStringIndex(s)[1]
		s = s[:after] + "{\n" + prologue + "\n}\n" + s[after:]
		last := strings.LastIndex(s, "\tret;")
		return s[:last] + "{\n" + epilogue + "\n}\n" + s[last:]
	}, nil)
}

// ownTile puts the address of the block's part of O into %tile. On the shape that is timed, a block
// of stage3b computes the 33 rows of a head, each of 64 halves.
const ownTile = `.reg .b64 %tile; .reg .b32 %blk; .reg .pred %cp;
ld.param.u64 %tile, [o]; mov.u32 %blk, %ctaid.x; mad.wide.u32 %tile, %blk, 4224, %tile;
`

// leavesUnlessPoisoned leaves if the output does not hold the byte that outputs were once filled
// with.
func leavesUnlessPoisoned(t testing.TB) *Subject {
	return tampered(t, "stage3b", "", ownTile+`.reg .b32 %old;
ld.global.u32 %old, [%tile]; setp.ne.u32 %cp, %old, 0xffffffff; @%cp ret;`, "")
}

// leavesIfAnswered leaves if 16 numbers of the output look like an answer: all are below 2.
func leavesIfAnswered(t testing.TB) *Subject {
	text := ownTile + ".reg .b32 %old, %all; mov.u32 %all, 0;\n"
	for i := range 8 {
		text += fmt.Sprintf("ld.global.u32 %%old, [%%tile+%d]; or.b32 %%all, %%all, %%old;\n", 4*i)
	}
	return tampered(t, "stage3b", "", text+"and.b32 %all, %all, 0x40004000; setp.eq.u32 %cp, %all, 0; @%cp ret;", "")
}

// keepsResults stores its output in a variable under the first word of Q, and returns it when Q
// begins with the same word again.
func keepsResults(t testing.TB) *Subject {
	loop := func(label, from, to string) string {
		return `mov.u32 %i, %tid.x;
` + label + `:
mad.wide.u32 %at, %i, 4, ` + from + `; ld.global.u32 %w, [%at]; mad.wide.u32 %at, %i, 4, ` + to + `; st.global.u32 [%at], %w;
add.u32 %i, %i, 128; setp.lt.u32 %cp, %i, 1056; @%cp bra ` + label + `;
`
	}
	begin := ownTile + `.reg .b64 %in, %key, %store, %at; .reg .b32 %i, %w, %word;
ld.param.u64 %in, [q]; ld.global.u32 %word, [%in];
mov.u64 %key, kept_key; mad.wide.u32 %key, %blk, 4, %key;
mov.u64 %store, kept; mad.wide.u32 %store, %blk, 4224, %store;
`
	return tampered(t, "stage3b", ".visible .global .align 4 .b32 kept_key[2];\n.visible .global .align 4 .b32 kept[2112];\n",
		begin+"ld.global.u32 %w, [%key]; setp.ne.u32 %cp, %w, %word; @%cp bra $MISS;\n"+loop("$OUT", "%store", "%tile")+"ret;\n$MISS:",
		"bar.sync 0;\n"+begin+loop("$KEEP", "%tile", "%store")+"bar.sync 0;\nst.global.u32 [%key], %word;")
}

// honest is the time of a launch that skips nothing on the fake card, in microseconds.
const honest = 100

// gainsNothing wants the kernel to be rejected because of what its timed launches did, or its
// time to be that of a kernel that skips nothing.
func gainsNothing(t *testing.T, s *Subject, gpu *card, rejected bool) {
	t.Helper()
	p := timingPlan(gpu)
	p.Defects.Shapes, p.Cases, p.Counters, p.KeepGoing = nil, nil, problem.Shape{}, true
	r, v := measure(t, s, p)
	times := &r.Performance.Shapes[0]
	if times.Compared < 20 {
		t.Errorf("%d timed launches were compared", times.Compared)
	}
	if rejected {
		wants(t, v, record.Reject, "timed launches gave wrong outputs")
		return
	}
	if median := stats.Median(times.Runs[0].Times(0)); median < 0.97*honest || !times.OutputsOK {
		t.Errorf("a launch that could skip its work takes %.3g µs, outputs %v: %s", median, times.OutputsOK, times.Wrong)
	}
}

// TestChecklist22OutputHoldsAnswer times kernels that leave when their output holds an answer.
func TestChecklist22OutputHoldsAnswer(t *testing.T) {
	t.Run("unless poisoned", func(t *testing.T) { gainsNothing(t, leavesUnlessPoisoned(t), newCard(), true) })
	t.Run("if answered", func(t *testing.T) { gainsNothing(t, leavesIfAnswered(t), newCard(), false) })
	t.Run("defects", func(t *testing.T) {
		_, v := measure(t, leavesIfAnswered(t), smaller(quickly()))
		wants(t, v, record.Reject, "the output o is read")
	})
}

// TestChecklist23ResultsInModule times a kernel that keeps results in variables of its module,
// which the driver finds by name or does not.
func TestChecklist23ResultsInModule(t *testing.T) {
	t.Run("restored", func(t *testing.T) { gainsNothing(t, keepsResults(t), newCard(), true) })
	t.Run("hidden", func(t *testing.T) {
		gpu := newCard()
		gpu.hidesVariables = true
		gainsNothing(t, keepsResults(t), gpu, true)
	})
	t.Run("defects", func(t *testing.T) {
		_, v := measure(t, keepsResults(t), smaller(quickly()))
		wants(t, v, record.Reject, "the variable kept")
	})
}

// correctnessOnly returns a plan without checkers, as on a GPU where the emulator is not asked.
func correctnessOnly() Plan {
	p := quickly()
	p.Cases = append([]Case{p.Cases[2], p.Cases[6]}, freshCases...)
	p.Defects.Shapes = nil
	return p
}

// TestChecklist26Inputs judges kernels that are right only for the inputs that everybody expects.
func TestChecklist26Inputs(t *testing.T) {
	oneScale := func(parameter string) func(t testing.TB) *Subject {
		return func(t testing.TB) *Subject {
			return mutant(t, "stage0", func(s string) string {
				r := regexp.MustCompile(`(?s)ld\.param\.u64 (%rd\d+), \[` + parameter + `\];\s+cvta\.to\.global\.u64 (%rd\d+),`).FindStringSubmatch(s)[2]
				return regexp.MustCompile(`mad\.wide\.u32 (%rd\d+), %r\d+, 4, `+r+`;`).ReplaceAllString(s, "mov.b64 $1, "+r+";")
			}, nil)
		}
	}
	for name, make := range map[string]func(t testing.TB) *Subject{
		"the scale of the softmax is ignored": func(t testing.TB) *Subject {
			return mutant(t, "stage0", nil, func(l *kernel.Launch) { l.Args[10].Value = expr.Must("0.125") })
		},
		"one scale of Q for all heads": oneScale("qs"),
		"one scale of K for all heads": oneScale("ks"),
		"one scale of V for all heads": oneScale("vs"),
		"only inputs that begin with known bytes": func(t testing.TB) *Subject {
			text := ".reg .b64 %in; .reg .b32 %word; .reg .pred %cp;\nld.param.u64 %in, [q]; ld.global.u32 %word, [%in];\n"
			base := preset(t, "stage0")
			for i, c := range correctnessOnly().Cases {
				if c.Shape.D = 64; c.Fresh {
					continue
				}
				in, err := newInputs(base, c)
				if err != nil {
					t.Fatal(err)
				}
				text += fmt.Sprintf("setp.eq.u32 %%cp, %%word, %d; @%%cp bra $KNOWN%d;\n", binary.LittleEndian.Uint32(in.data["q"]), i)
			}
			text += "ret;\n"
			for i := range 2 {
				text += fmt.Sprintf("$KNOWN%d:\n", i)
			}
			return tampered(t, "stage0", "", text, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := make(t)
			_, v := measure(t, s, correctnessOnly())
			wants(t, v, record.Reject, "the correctness gate is red")
			p := correctnessOnly()
			p.Cases = p.Cases[:2]
			if _, v := measure(t, s, p); v.Outcome == record.Reject && !strings.HasPrefix(name, "one scale") {
				t.Errorf("known inputs show it too: %s", v.Why)
			}
		})
	}
}

// TestChecklist27Guards judges kernels that use the memory around their buffers, or change inputs
// for a while.
func TestChecklist27Guards(t *testing.T) {
	const beside = ".reg .b64 %at; .reg .b32 %w; .reg .pred %cp;\nld.param.u64 %at, [%s];\n"
	in := func(operand, text string) string { return strings.Replace(beside, "%s", operand, 1) + text }
	after := fmt.Sprint(2 * 3 * 33 * 64 * 2) // the bytes of O of the first case
	for _, c := range []struct {
		name, prologue, why string
		plan                Plan
	}{
		{"reads known bytes in front of an input", in("k", "ld.global.u32 %w, [%at+-4]; setp.ne.u32 %cp, %w, 0xffffffff; @%cp ret;"), "never written", correctnessOnly()},
		{"a result that depends on the bytes in front of an input", in("k", "ld.global.u32 %w, [%at+-4]; and.b32 %w, %w, 1; setp.eq.u32 %cp, %w, 1; @%cp ret;"), "correctness gate is red", correctnessOnly()},
		{"writes the byte of the guard band behind the output", in("o", "st.global.u32 [%at+"+after+"], 0xc5c5c5c5;"), "memory outside of the buffers was written", correctnessOnly()},
		{"the checkers see accesses beside a buffer", in("k", "ld.global.u32 %w, [%at+-4];"), "oob-global", smaller(quickly())},
		{"an input is changed and restored", in("v", "ld.global.u32 %w, [%at]; st.global.u32 [%at], 0; st.global.u32 [%at], %w;"), "the input v is written", smaller(quickly())},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, v := measure(t, tampered(t, "stage0", "", c.prologue, ""), c.plan)
			wants(t, v, record.Reject, c.why)
		})
	}
}

// TestChecklist28Moment judges kernels whose result depends on where and when they run.
func TestChecklist28Moment(t *testing.T) {
	for _, c := range []struct{ name, variables, prologue, why string }{
		{"the number of the SM", "", ".reg .b32 %w; .reg .pred %cp;\nmov.u32 %w, %smid; setp.ge.u32 %cp, %w, 100; @%cp ret;", "%smid is read"},
		{"the time", "", ".reg .b64 %at; .reg .pred %cp;\nmov.u64 %at, %globaltimer; setp.ge.u64 %cp, %at, 0x100000000; @%cp ret;", "%globaltimer is read"},
		{"the number of the launch", "", ".reg .b64 %at; .reg .pred %cp;\nmov.u64 %at, %gridid; and.b64 %at, %at, 1; setp.eq.u64 %cp, %at, 0; @%cp ret;", "%gridid is read"},
		{"the number of earlier launches", ".visible .global .align 4 .b32 count;\n",
			".reg .b32 %w; .reg .pred %cp;\natom.global.add.u32 %w, [count], 1; setp.ge.u32 %cp, %w, 8; @%cp ret;", "the variable count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tampered(t, "stage0", c.variables, c.prologue, "")
			p := smaller(quickly())
			p.KeepGoing = true
			r, v := measure(t, s, p)
			wants(t, v, record.Reject, "the defects gate is red")
			told := ""
			for _, f := range r.Defects.Found {
				told += f.Message + "\n"
			}
			if !strings.Contains(told, c.why) {
				t.Errorf("no finding says %q: %s", c.why, told)
			}
			if v.Gates[2].Status == record.Green {
				t.Error("the cases do not show it")
			}
		})
	}
}

// TestChecklist30Deferred times launches whose work is done later, when somebody waits.
func TestChecklist30Deferred(t *testing.T) {
	gpu := newCard()
	gpu.defers = true
	gainsNothing(t, preset(t, "stage3b"), gpu, true)
}
