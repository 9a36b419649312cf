package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

const splitDim = 32

// splitEntry computes one part of the keys, with one block per row and part and one thread per
// column. It writes the sum of P·V, the maximum and the sum of P to the workspace.
func splitEntry() *build.Kernel {
	k := build.New("split", ptx.SM80)
	q, kk, v, part := build.ParamGlobal[build.F16](k, "q"), build.ParamGlobal[build.F16](k, "k"), build.ParamGlobal[build.F16](k, "v"), build.ParamGlobal[build.F32](k, "part")
	sq, skv, parts, rows, c := k.ParamU32("sq"), k.ParamU32("skv"), k.ParamU32("parts"), k.ParamU32("rows"), k.ParamF32("c")
	row, col := k.CtaidX(), k.TidX()
	head := row.Div(sq)
	qs := build.SharedArray[build.F32](k, "qs", splitDim)
	qs.At(col).St(q.At(row.MadLo(splitDim, col)).Ld().CvtF32())
	k.SyncThreads()
	m, l, sum := build.NewVar(k.F32(-1e30)), build.NewVar(k.F32(0)), build.NewVar(k.F32(0))
	each := skv.Add(parts).Sub(1).Div(parts)
	first := k.CtaidY().MulLo(each)
	k.Loop(first, first.Add(each).Min(skv), 1, func(j build.U32) {
		at := head.MadLo(skv, j).MulLo(splitDim)
		logit := build.NewVar(k.F32(0))
		k.Loop(0, splitDim, 1, func(i build.U32) {
			logit.Set(qs.At(i).Ld().FmaRn(kk.At(at.Add(i)).Ld().CvtF32(), logit.Get()))
		})
		x := logit.Get().Mul(c)
		most := m.Get().Max(x)
		alpha, p := m.Get().Sub(most).Ex2Approx(), x.Sub(most).Ex2Approx()
		m.Set(most)
		l.Set(l.Get().FmaRn(alpha, p))
		sum.Set(sum.Get().FmaRn(alpha, p.Mul(v.At(at.Add(col)).Ld().CvtF32())))
	})
	to := k.CtaidY().MadLo(rows, row).MulLo(splitDim + 2)
	part.At(to.Add(col)).St(sum.Get())
	k.If(col.SetpEq(0), func() {
		part.At(to.Add(splitDim)).St(m.Get())
		part.At(to.Add(splitDim + 1)).St(l.Get())
	})
	return k
}

// mergeEntry merges the parts of a row.
func mergeEntry() *build.Kernel {
	k := build.New("merge", ptx.SM80)
	part, o, parts, rows := build.ParamGlobal[build.F32](k, "part"), build.ParamGlobal[build.F32](k, "o"), k.ParamU32("parts"), k.ParamU32("rows")
	row, col := k.CtaidX(), k.TidX()
	m, l, sum := build.NewVar(k.F32(-1e30)), build.NewVar(k.F32(0)), build.NewVar(k.F32(0))
	k.Loop(0, parts, 1, func(j build.U32) {
		at := j.MadLo(rows, row).MulLo(splitDim + 2)
		x := part.At(at.Add(splitDim)).Ld()
		most := m.Get().Max(x)
		alpha, w := m.Get().Sub(most).Ex2Approx(), x.Sub(most).Ex2Approx()
		m.Set(most)
		l.Set(l.Get().Mul(alpha).Add(part.At(at.Add(splitDim + 1)).Ld().Mul(w)))
		sum.Set(sum.Get().Mul(alpha).Add(part.At(at.Add(col)).Ld().Mul(w)))
	})
	o.At(row.MadLo(splitDim, col)).St(sum.Get().DivRn(l.Get()))
	return k
}

const splitCall = `{
  "op": "attention", "fixed": {"D": "32", "format": "f16", "output": "f32", "scaling": "none", "layout": "BHSD", "mask": "none", "lse": "false"},
  "supports": ["cross-lengths"], "let": [{"name": "parts", "value": "min(3, cdiv(Skv, 16))"}, {"name": "rows", "value": "B*H*Sq"}],
  "operands": [
    {"name": "q", "type": "f16", "role": "input", "dims": ["B", "H", "Sq", "D"]},
    {"name": "k", "type": "f16", "role": "input", "dims": ["B", "Hkv", "Skv", "D"]},
    {"name": "v", "type": "f16", "role": "input", "dims": ["B", "Hkv", "Skv", "D"]},
    {"name": "part", "type": "f32", "role": "workspace", "dims": ["parts", "rows", "D + 2"]},
    {"name": "o", "type": "f32", "role": "output", "dims": ["B", "H", "Sq", "D"]}
  ],
  "launches": [
    {"entry": "split", "grid": ["rows", "parts"], "block": ["D"], "args": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "part"},
      {"u32": "Sq"}, {"u32": "Skv"}, {"u32": "parts"}, {"u32": "rows"}, {"f32": "scale*1.4426950408889634"}]},
    {"entry": "merge", "grid": ["rows"], "block": ["D"], "args": [{"pointer": "part"}, {"pointer": "o"}, {"u32": "parts"}, {"u32": "rows"}]}
  ],
  "claims": {"p": "f32"}
}`

// TestSplitMerge judges a kernel of two launches with a workspace between them, and the
// same kernel with a merge that forgets a part.
func TestSplitMerge(t *testing.T) {
	var texts []string
	for _, k := range []*build.Kernel{splitEntry(), mergeEntry()} {
		text, err := k.PTX()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	_, second, found := strings.Cut(texts[1], ".visible .entry")
	if !found {
		t.Fatal("the second entry has no .entry")
	}
	text := texts[0] + "\n.visible .entry" + second
	text = strings.Join(withoutLines(text), "\n")
	for _, c := range []struct {
		name, call string
		outcome    record.Outcome
		why        string
	}{
		{"split and merge", splitCall, record.Correct, "no GPU"},
		{"a part is forgotten", strings.Replace(splitCall, `{"pointer": "o"}, {"u32": "parts"}`, `{"pointer": "o"}, {"u32": "max(parts - 1, 1)"}`, 1), record.Reject, "error"},
	} {
		call, err := abi.Parse(c.name, []byte(c.call))
		if err != nil {
			t.Fatal(err)
		}
		s, err := External(c.name, text, call)
		if err != nil {
			t.Fatal(err)
		}
		p := smaller(quickly())
		p.Defects.Shapes, p.Counters = []problem.Shape{length(1, 2, 17), length(1, 1, 40)}, length(1, 1, 33)
		p.Cases = []Case{{Shape: length(2, 2, 17), Seed: 1, Distribution: "normal"}, {Shape: length(1, 2, 50), Seed: 2, Distribution: "one-hot"},
			{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 9, Skv: 33}, Seed: 3, Distribution: "normal"}}
		_, v := measure(t, s, p)
		wants(t, v, c.outcome, c.why)
	}
}

// withoutLines removes the source lines: each module numbers its files itself.
func withoutLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if l := strings.TrimSpace(line); !strings.HasPrefix(l, ".loc") && !strings.HasPrefix(l, ".file") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// splitForHopper returns the entries that split and merge, for GPUs with dependent launches.
func splitForHopper(t *testing.T) string {
	t.Helper()
	split, err := splitEntry().PTX()
	if err != nil {
		t.Fatal(err)
	}
	merge, err := mergeEntry().PTX()
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("sm_80", "sm_90", ".version 7.0", ".version 7.8").Replace(split + merge[strings.Index(merge, ".visible .entry"):])
}

// TestDependentLaunch wants a dependent launch to wait for the launch before it.
func TestDependentLaunch(t *testing.T) {
	text := splitForHopper(t)
	for wait, found := range map[string]bool{"": true, "\tgriddepcontrol.wait;\n": false} {
		for _, dependent := range []bool{false, true} {
			at := strings.LastIndex(text, "\tld.param")
			call, err := abi.Parse("split.json", []byte(splitCall))
			if err != nil {
				t.Fatal(err)
			}
			call.Launches[1].Dependent = dependent
			s, err := External("split", text[:at]+wait+text[at:], call)
			if err != nil {
				t.Fatal(err)
			}
			if got := suspects(s); (len(got) > 0) != (found && dependent) {
				t.Errorf("wait %q, dependent %v: %v", wait, dependent, got)
			}
		}
	}
}

// TestWaitTooLate runs a merge that reads a partial result before it waits for the launch that writes it, one that
// reads the result after the wait, and one that is not a dependent launch.
func TestWaitTooLate(t *testing.T) {
	text := splitForHopper(t)
	const early = "{ .reg .b64 %at; .reg .b32 %x; ld.param.u64 %at, [PART]; ld.global.u32 %x, [%at]; }\n"
	const write = "{ .reg .b64 %at; ld.param.u64 %at, [PART]; st.global.u32 [%at], 0; }\n"
	part := text[strings.LastIndex(text, ".entry merge"):]
	part = strings.TrimSuffix(strings.Fields(part[strings.Index(part, ".param"):])[2], ",")
	at := strings.LastIndex(text, "\tld.param.u64")
	at = strings.LastIndex(text[:at], "\tld.param.u64")
	for _, c := range []struct {
		name, code string
		dependent  bool
		found      bool
	}{
		{"a read before the wait", early + "griddepcontrol.wait;\n", true, true},
		{"a write before the wait", write + "griddepcontrol.wait;\n", true, true},
		{"a read after the wait", "griddepcontrol.wait;\n" + early, true, false},
		{"a launch that is not dependent", early + "griddepcontrol.wait;\n", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, err := abi.Parse("split.json", []byte(splitCall))
			if err != nil {
				t.Fatal(err)
			}
			call.Launches[1].Dependent = c.dependent
			s, err := External("split", text[:at]+strings.ReplaceAll(c.code, "PART", part)+text[at:], call)
			if err != nil {
				t.Fatal(err)
			}
			p := onlyDefects()
			p.Depth, p.Defects.Shapes, p.Defects.PerShape = Listed, []problem.Shape{length(1, 2, 17)}, 1
			r, _ := measure(t, s, p)
			found := slices.ContainsFunc(r.Defects.Found, func(f record.Found) bool { return strings.Contains(f.Message, "before griddepcontrol.wait") })
			if found != c.found {
				t.Errorf("found %v", r.Defects.Found)
			}
		})
	}
}
