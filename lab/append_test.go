package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// appendKernel appends one row per sequence to K and V, which have room for Skv rows per head or lie
// in pages, and then computes attention. A block has one head of one sequence.
func appendKernel(paged bool, f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q")}
	caches := []build.Global[build.U16]{build.ParamGlobal[build.U16](k, "k"), build.ParamGlobal[build.U16](k, "v")}
	s.o = build.ParamGlobal[build.F32](k, "o")
	added := []build.Global[build.U16]{build.ParamGlobal[build.U16](k, "k_new"), build.ParamGlobal[build.U16](k, "v_new")}
	before := build.ParamGlobal[build.U32](k, "cache_seqlens")
	heads, skv := k.ParamU32("heads"), k.ParamU32("skv")
	h, b, col := k.CtaidX(), k.CtaidY(), k.TidX()
	old := before.At(b).Ld()
	s.key = func(j build.U32) build.U32 { return b.MadLo(heads, h).MadLo(skv, j) }
	to := s.key(old)
	if paged {
		page, width := k.ParamU32("page"), k.ParamU32("width")
		slots, table := build.ParamGlobal[build.U32](k, "slots"), build.ParamGlobal[build.U32](k, "table")
		s.key = func(j build.U32) build.U32 {
			return table.At(b.MadLo(width, j.Div(page))).Ld().MadLo(heads, h).MadLo(page, j.Rem(page))
		}
		slot := slots.At(b.MulLo(2)).Ld() // the low word of an i64
		to = slot.Div(page).MadLo(heads, h).MadLo(page, slot.Rem(page))
	}
	switch f {
	case "the row before":
		to = s.key(old.Max(1).Sub(1))
	case "another row too":
		caches[0].At(s.key(k.U32(0)).MadLo(servingDim, col)).St(added[0].At(b.MadLo(heads, h).MadLo(servingDim, col)).Ld())
	}
	for i := range caches {
		from := added[i]
		if f == "K for V" {
			from = added[0]
		}
		if f == "V is not written" && i == 1 {
			continue
		}
		caches[i].At(to.MadLo(servingDim, col)).St(from.At(b.MadLo(heads, h).MadLo(servingDim, col)).Ld())
	}
	k.BarSync(0)
	load := func(c build.Global[build.U16]) func(build.U32) build.F32 {
		return func(at build.U32) build.F32 { return build.Cast[build.F16](c.At(at).Ld()).CvtF32() }
	}
	s.kk, s.v = load(caches[0]), load(caches[1])
	s.keys = old.Add(1)
	if f == "without the new row" {
		s.keys = old
	}
	s.scale = k.ParamF32("scale")
	s.qRow = b.MadLo(heads, h)
	s.oRow = s.qRow
	s.emit()
	return k
}

const appendABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "k_new"}, {"pointer": "v_new"}, {"pointer": "cache_seqlens"},
    {"u32": "H"}, {"u32": "Skv"}, PAGESMORE{"f32": "scale*1.4426950408889634"}],
  "grid": ["H", "B"], "block": ["D"], "require": ["D == 16", "H == Hkv", "Sq == 1", "min_kv > 0"]}`

// TestAppend judges kernels that append a row to K and V and then compute attention.
func TestAppend(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, paged := range []bool{false, true} {
		pages := ""
		if paged {
			pages = `{"u32": "page_size"}, {"u32": "max_pages"}, {"pointer": "slot_mapping"}, {"pointer": "page_table"}, `
		}
		call, err := abi.Parse("serve.json", []byte(strings.Replace(appendABI, "PAGESMORE", pages, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(call.Supports, " "); !strings.HasSuffix(got, problem.AppendedKeys) {
			t.Errorf("it supports %s", got)
		}
		for _, f := range []fault{"", "the row before", "another row too", "K for V", "V is not written", "without the new row"} {
			if !*full && paged && f != "" && f != "K for V" {
				continue
			}
			text, err := appendKernel(paged, f).PTX()
			if err != nil {
				t.Fatal(err)
			}
			s, err := External("serve", text, call)
			if err != nil {
				t.Fatal(err)
			}
			p := servingPlan()
			p.KeepGoing = true
			p.Cases = []Case{
				{Shape: problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 1, Skv: 40}, Seed: 1, Distribution: "normal"},
				{Shape: problem.Shape{B: 4, Hq: 2, Hkv: 2, Sq: 1, Skv: 70}, Seed: 2, Distribution: "one-hot"},
				{Shape: problem.Shape{B: 4, Hq: 2, Hkv: 2, Sq: 1, Skv: 33}, Seed: 3, Distribution: "heads"},
			}
			p.Defects.Shapes = []problem.Shape{{B: 3, Hq: 2, Hkv: 2, Sq: 1, Skv: 40}}
			r, v := measure(t, s, p)
			if f == "" {
				wants(t, v, record.Correct, "")
				continue
			}
			wants(t, v, record.Reject, "correctness red")
			if wrong := r.Correctness.Cases[0].CacheWrong; wrong != (f != "without the new row") {
				t.Errorf("paged %v, %s: the cache is wrong: %v", paged, f, wrong)
			}
		}
	}
}
