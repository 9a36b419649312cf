package lab

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// quickly returns Quick without ptxas, so that the tests do not depend on it, without derived
// shapes, and with a seed that is always the same.
func quickly() Plan {
	p := Quick()
	p.Depth, p.Seed = Listed, 1
	p.Ask.Ptxas = ""
	p.References = shared
	return p
}

// writer returns a kernel with the parameters of a preset that does not compute attention: body
// writes element i of O, one thread per element.
func writer(t testing.TB, name string, body func(k *build.Kernel, in map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32)) *Subject {
	t.Helper()
	k := build.New("attn", ptx.SM89)
	in := map[string]build.Global[build.U8]{}
	for _, n := range []string{"q", "k", "v"} {
		in[n] = build.ParamGlobal[build.U8](k, n)
	}
	for _, n := range []string{"qs", "ks", "vs"} {
		build.ParamGlobal[build.F32](k, n)
	}
	o := build.ParamGlobal[build.U16](k, "o")
	batch, heads, seq := k.ParamU32("batch"), k.ParamU32("heads"), k.ParamU32("seq")
	k.ParamF32("scale")
	i := k.CtaidX().MadLo(k.NtidX(), k.TidX())
	k.If(i.SetpLt(batch.MulLo(heads).MulLo(seq).MulLo(64)), func() { body(k, in, o, i) })
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	base := preset(t, "stage0")
	call := copyOf(base.Kernel)
	l := &call.Launches[0]
	l.Entry, l.Grid, l.Block, l.Shared = "attn", []expr.Expr{expr.Must("cdiv(B*H*Sq*D, 128)")}, []expr.Expr{expr.Must("128")}, expr.Expr{}
	s, err := External(name, text, call)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// copyOf returns a copy of a kernel whose launches can be changed.
func copyOf(k *kernel.Kernel) *kernel.Kernel {
	c := *k
	c.Launches = slices.Clone(k.Launches)
	for i := range c.Launches {
		c.Launches[i].Args = slices.Clone(c.Launches[i].Args)
	}
	c.Operands = slices.Clone(k.Operands)
	return &c
}

// mutant returns a preset with a changed text or launch.
func mutant(t testing.TB, name string, text func(string) string, call func(*kernel.Launch)) *Subject {
	t.Helper()
	k := copyOf(preset(t, name).Kernel)
	if text != nil {
		changed := text(k.PTX)
		if changed == k.PTX {
			t.Fatalf("%s: there is nothing to change", name)
		}
		k.PTX = changed
	}
	if call != nil {
		call(&k.Launches[0])
	}
	k.Name = "mutant of " + name
	s, err := NewSubject(k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(k *build.Kernel, bits uint16) build.U16 { return k.U16(bits) }

// wrongKernel is a kernel that a gate must reject.
type wrongKernel struct {
	name   string
	make   func(t testing.TB) *Subject
	gate   record.GateName
	why    string
	onCard bool // its outputs are wrong on a GPU too
}

// wrongKernels are wrong kernels. A name begins with the number of the checklist that it belongs to.
func wrongKernels() []wrongKernel {
	type subject = *Subject
	mask := regexp.MustCompile(`setp\.gt\.s32 (%p\d+, %r\d+, \d+;\n\s*selp\.f32 %f\d+, %f\d+, 0fFF800000)`)
	return []wrongKernel{
		{"1 the output is left as it was", func(t testing.TB) subject {
			return writer(t, "nothing", func(k *build.Kernel, _ map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32) {})
		}, "correctness", "never written", false},
		{"2 zeros", func(t testing.TB) subject {
			return writer(t, "zeros", func(k *build.Kernel, _ map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32) {
				o.At(i).St(value(k, 0))
			})
		}, "correctness", "O is zero everywhere", false},
		{"3 a constant", func(t testing.TB) subject {
			return writer(t, "constant", func(k *build.Kernel, _ map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32) {
				o.At(i).St(value(k, 0x2000))
			})
		}, "correctness", "root mean square", false},
		{"6 a block too few", func(t testing.TB) subject {
			return mutant(t, "stage3b", nil, func(l *kernel.Launch) {
				l.Grid = []expr.Expr{expr.Must("max(B*H*cdiv(Sq, 64) - 1, 1)")}
			})
		}, "correctness", "never written", false},
		{"7 inputs are changed", func(t testing.TB) subject {
			return writer(t, "changes v", func(k *build.Kernel, in map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32) {
				in["v"].At(i).St(0)
				o.At(i).St(value(k, 0))
			})
		}, "defects", "the input v is written", true},
		{"8 NaN", func(t testing.TB) subject {
			return writer(t, "nan", func(k *build.Kernel, _ map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32) {
				o.At(i).St(value(k, 0x7fff))
			})
		}, "correctness", "not finite", false},
		{"9 reads beyond the end", func(t testing.TB) subject {
			return mutant(t, "stage3b", nil, func(l *kernel.Launch) { l.Args[9].Value = expr.Must("Sq + 1") })
		}, "defects", "oob-global", true},
		{"9 writes beyond the end", func(t testing.TB) subject {
			return writer(t, "runs on", func(k *build.Kernel, _ map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32) {
				o.At(i.Add(8)).St(value(k, 0))
			})
		}, "defects", "oob-global", true},
		{"1 what is there already is kept", func(t testing.TB) subject {
			return mutant(t, "stage0", func(s string) string {
				return regexp.MustCompile(`st\.global\.b32 (\[%rd\d+(?:\+4)?\]), (%r\d+);`).ReplaceAllString(s,
					"{\n.reg .b32 %old;\n.reg .pred %kept;\nld.global.b32 %old, $1;\nsetp.ne.u32 %kept, %old, 0xffffffff;\nselp.b32 %old, %old, $2, %kept;\nst.global.b32 $1, %old;\n}")
			}, nil)
		}, "defects", "the output o is read", true},
		{"a loop that never ends", func(t testing.TB) subject {
			return writer(t, "endless", func(k *build.Kernel, _ map[string]build.Global[build.U8], o build.Global[build.U16], i build.U32) {
				k.While(func() build.Pred { return k.Pred(true) }, func() {})
			})
		}, "defects", "instructions", false},
		{"a scale of the softmax that is twice too large", func(t testing.TB) subject {
			return mutant(t, "stage2", nil, func(l *kernel.Launch) { l.Args[10].Value = expr.Must("2*scale") })
		}, "correctness", "logits are twice too large", false},
		{"a scale of the softmax that is 2 % too large", func(t testing.TB) subject {
			return mutant(t, "stage2", nil, func(l *kernel.Launch) { l.Args[10].Value = expr.Must("1.02*scale") })
		}, "correctness", "root mean square error on the quantised inputs", false},
		{"the scales of K and V are swapped", func(t testing.TB) subject {
			return mutant(t, "stage3b", nil, func(l *kernel.Launch) { l.Args[4].Pointer, l.Args[5].Pointer = "vs", "ks" })
		}, "correctness", "error", false},
		{"a mask that is off by one", func(t testing.TB) subject {
			return mutant(t, "stage0", func(s string) string { return mask.ReplaceAllString(s, "setp.ge.s32 $1") }, nil)
		}, "correctness", "root mean square error on the quantised inputs", false},
		{"the last tile is left out when it is not full", func(t testing.TB) subject {
			return mutant(t, "stage0", func(s string) string {
				return regexp.MustCompile(`(add\.u32 %r\d+, %r\d+, )63;`).ReplaceAllString(s, "${1}0;")
			}, nil)
		}, "correctness", "is left out", false},
		{"21 a barrier is missing", func(t testing.TB) subject {
			return mutant(t, "stage3b", func(s string) string { return strings.Replace(s, "bar.sync 0;", "", 1) }, nil)
		}, "defects", "race", false},
		{"21 the last tile is not waited for", func(t testing.TB) subject {
			return mutant(t, "stage4", func(s string) string {
				return strings.ReplaceAll(s, "cp.async.wait_group 2;", "cp.async.wait_group 3;")
			}, nil)
		}, "defects", "race", false},
	}
}

// TestWrongKernels wants every wrong kernel that is not on the checklist to be rejected by its
// gate. The tests of the checklist do the same with the others.
func TestWrongKernels(t *testing.T) { judgeWrong(t, 0) }

// judgeWrong judges the wrong kernels of a number. A kernel that the checkers find and whose
// outputs are wrong too must also be rejected without the checkers.
func judgeWrong(t *testing.T, number int) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range wrongKernels() {
		if numberOf(c.name) != number || c.name == "a loop that never ends" && !*full {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			_, v := measure(t, c.make(t), smaller(quickly()))
			wants(t, v, record.Reject, c.why)
			for _, g := range v.Gates {
				if red := g.Status == record.Red || g.Status == record.Void; red != (g.Name == c.gate) {
					t.Errorf("%s is %s, and %s ought to be red", g.Name, g.Status, c.gate)
				}
			}
			for _, why := range v.Gates[2].Reasons {
				if c.why == "never written" && strings.Contains(why, "other bits") {
					t.Errorf("elements that were never written are also said to have other bits: %s", why)
				}
			}
			if v.OK() {
				t.Error("a kernel that was rejected is OK")
			}
			if c.gate == "defects" && c.onCard {
				p := smaller(quickly())
				p.Defects.Shapes = nil
				_, v := measure(t, c.make(t), p)
				wants(t, v, record.Reject, "the correctness gate is red")
			}
		})
	}
}

// numberOf returns the number of the checklist that a name begins with, or 0.
func numberOf(name string) int {
	word, _, _ := strings.Cut(name, " ")
	n, _ := strconv.Atoi(word)
	return n
}

// TestPowerless judges a right kernel on cases that prove nothing.
func TestPowerless(t *testing.T) { judgePowerless(t, 0) }

// judgePowerless judges a right kernel on the cases of a number that prove nothing.
func judgePowerless(t *testing.T, number int) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
	cases := func(list ...Case) Plan {
		p := quickly()
		p.Cases = list
		return p
	}
	for _, c := range []struct {
		name string
		plan Plan
		why  string
	}{
		{"2 outputs smaller than the tolerance", cases(Case{Shape: length(1, 2, 33), Distribution: "tiny"}, Case{Shape: length(1, 2, 33), Seed: 1, Distribution: "tiny"}), "0 kinds of impostors"},
		{"3 all rows of V are equal", cases(Case{Shape: length(1, 2, 33), Distribution: "constant-v"}, Case{Shape: length(1, 2, 33), Seed: 1, Distribution: "constant-v"}), "impostors"},
		{"4 attention of one key is the identity", cases(Case{Shape: length(1, 1, 1), Distribution: "normal"}, Case{Shape: length(1, 1, 1), Seed: 1, Distribution: "normal"}), "impostors"},
		{"5 whole tiles only", cases(Case{Shape: length(1, 2, 64), Distribution: "normal"}, Case{Shape: length(1, 2, 64), Seed: 1, Distribution: "normal"}), "no shape has a partial tile"},
		{"one seed", cases(Case{Shape: length(1, 2, 33), Distribution: "normal"}), "the same seed"},
	} {
		if numberOf(c.name) != number {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r, v := measure(t, preset(t, "stage3b"), c.plan)
			wants(t, v, record.Reject, c.why)
			if v.Gates[2].Status != record.Void {
				t.Errorf("correctness is %s", v.Gates[2].Status)
			}
			if r.Performance != nil {
				t.Error("something was timed after a gate was void")
			}
		})
	}
}

// TestConstantV shows why case 3 is void: equal weights give the right output.
func TestConstantV(t *testing.T) {
	why := gate.Excuse(gate.MeanOfV, problem.Attention{Shape: length(1, 2, 33)}, "constant-v")
	if why == "" {
		t.Error("mean-of-v is said to be caught where all rows of V are equal")
	}
}
