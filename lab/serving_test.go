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

const servingDim = 16

// servingKernel computes attention as serving systems call it, with one block per row and one
// thread per column. Its functions say where rows lie; a wrong kernel replaces one of them.
type servingKernel struct {
	*build.Kernel
	q, kk, v func(build.U32) build.F32
	o        build.Global[build.F32]
	scale    build.F32 // the scale of the logits, times log2(e)
	qRow     build.U32
	oRow     build.U32
	keys     build.U32                    // the number of keys that the row sees
	key      func(j build.U32) build.U32  // the row of K and V
	dot      func(j build.U32) build.F32  // the product of the row and a key, nil is the usual one
	bias     func(j build.U32) build.F32  // is added to the logit, nil is 0
	logit    func(j build.U32) build.F32  // a factor of the logit, nil is 1
	weight   func(j build.U32) build.F32  // a factor of the row of V, nil is 1
	sees     func(j build.U32) build.Pred // nil sees all keys
	lse      func(m, l build.F32)         // writes the log-sum-exp
	own      func(do func())              // runs what writes the row, if the row counts
}

// emit writes the body of the kernel.
func (s *servingKernel) emit() {
	k, col := s.Kernel, s.TidX()
	m, l, out := build.NewVar(k.F32(-1e30)), build.NewVar(k.F32(0)), build.NewVar(k.F32(0))
	k.Loop(0, s.keys, 1, func(j build.U32) {
		add := func() {
			at := s.key(j).MulLo(servingDim)
			dot := build.NewVar(k.F32(0))
			k.Loop(0, servingDim, 1, func(i build.U32) { dot.Set(s.q(s.qRow.MadLo(servingDim, i)).FmaRn(s.kk(at.Add(i)), dot.Get())) })
			x := dot.Get().Mul(s.scale)
			if s.dot != nil {
				x = s.dot(j).Mul(s.scale)
			}
			if s.logit != nil {
				x = x.Mul(s.logit(j))
			}
			if s.bias != nil {
				x = x.Add(s.bias(j).Mul(1.4426950408889634))
			}
			most := m.Get().Max(x)
			alpha, p := m.Get().Sub(most).Ex2Approx(), x.Sub(most).Ex2Approx()
			m.Set(most)
			l.Set(l.Get().FmaRn(alpha, p))
			if s.weight != nil {
				p = p.Mul(s.weight(j))
			}
			out.Set(out.Get().FmaRn(alpha, p.Mul(s.v(at.Add(col)))))
		}
		if s.sees == nil {
			add()
		} else {
			k.If(s.sees(j), add)
		}
	})
	k.If(l.Get().SetpGt(0), func() { out.Set(out.Get().DivRn(l.Get())) })
	write := func() {
		s.o.At(s.oRow.MadLo(servingDim, col)).St(out.Get())
		if s.lse != nil {
			k.If(col.SetpEq(0), func() { s.lse(m.Get(), l.Get()) })
		}
	}
	if s.own == nil {
		write()
	} else {
		s.own(write)
	}
}

// fault says which part of a serving kernel is wrong.
type fault string

// loadE4M3 declares a pointer to e4m3 and returns a function that loads an element. The bits of
// an e4m3, shifted to those of a float, are 2^-120 of its value.
func loadE4M3(k *build.Kernel, name string) func(build.U32) build.F32 {
	p := build.ParamGlobal[build.U8](k, name)
	return func(at build.U32) build.F32 {
		x := build.Cast[build.B32](p.At(at).Ld().CvtU32())
		return build.Cast[build.F32](x.And(0x80).Shl(24).Or(x.And(0x7f).Shl(20))).Mul(0x1p120)
	}
}

// sequence returns the last sequence that begins at or before a row, and so the one that has it.
func sequence(k *build.Kernel, offsets build.Global[build.U32], batch, row build.U32) build.U32 {
	b := build.NewVar(k.U32(0))
	k.Loop(0, batch, 1, func(i build.U32) { k.If(offsets.At(i).Ld().SetpLe(row), func() { b.Set(i) }) })
	return b.Get()
}

// packedKernel has packed sequences in [total,H,D], a causal mask and the log-sum-exp.
func packedKernel(f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	lse, cuq, cuk := build.ParamGlobal[build.F32](k, "lse"), build.ParamGlobal[build.U32](k, "cuq"), build.ParamGlobal[build.U32](k, "cuk")
	batch, heads, hkv, totalQ, skv := k.ParamU32("batch"), k.ParamU32("heads"), k.ParamU32("hkv"), k.ParamU32("total"), k.ParamU32("skv")
	s.scale = k.ParamF32("scale")
	row, h := k.CtaidX(), k.CtaidY()
	hk := h.Div(heads.Div(hkv))
	b := sequence(k, cuq, batch, row)
	begin, first, end := cuq.At(b).Ld(), cuk.At(b).Ld(), cuk.At(b.Add(1)).Ld()
	rows, keys := cuq.At(b.Add(1)).Ld().Sub(begin), end.Sub(first)
	switch f {
	case "the longest length for all":
		keys = skv.Min(cuk.At(batch).Ld().Sub(first))
	case "the keys of the sequence before":
		first = cuk.At(b.Max(1).Sub(1)).Ld()
	case "the offsets of Q for K":
		first = cuq.At(b).Ld().Min(first)
	}
	local := row.Sub(begin)
	s.keys = keys.Min(local.Add(keys).Sub(rows).Add(1))
	switch f {
	case "the mask begins at the first key":
		s.keys = keys.Min(local.Add(1))
	case "one key too few":
		s.keys = s.keys.Max(1).Sub(1)
	}
	s.qRow = row.MadLo(heads, h)
	s.oRow = s.qRow
	s.key = func(j build.U32) build.U32 { return first.Add(j).MadLo(hkv, hk) }
	s.lse = func(m, l build.F32) {
		at := h.MadLo(totalQ, row)
		if f == "the log-sum-exp has another layout" {
			at = row.MadLo(heads, h)
		}
		lse.At(at).St(m.Add(l.Lg2Approx()).Mul(0.6931471805599453))
	}
	s.emit()
	return k
}

const packedABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32", "layout": "BSHD", "causal": true,
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "lse"}, {"pointer": "cu_seqlens_q"}, {"pointer": "cu_seqlens_k"},
    {"u32": "B"}, {"u32": "H"}, {"u32": "Hkv"}, {"u32": "total_q"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["total_q", "H"], "block": ["D"], "require": ["D == 16", "Sq <= Skv", "min_kv > 0"]}`

// pagedKernel has packed queries, and keys in pages [pages,page,Hkv,D] that a table finds.
func pagedKernel(f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	cuq, used, table := build.ParamGlobal[build.U32](k, "cuq"), build.ParamGlobal[build.U32](k, "used"), build.ParamGlobal[build.U32](k, "table")
	batch, heads, hkv, page, width := k.ParamU32("batch"), k.ParamU32("heads"), k.ParamU32("hkv"), k.ParamU32("page"), k.ParamU32("width")
	skv := k.ParamU32("skv")
	s.scale = k.ParamF32("scale")
	row, h := k.CtaidX(), k.CtaidY()
	hk := h.Div(heads.Div(hkv))
	b := sequence(k, cuq, batch, row)
	s.keys = used.At(b).Ld()
	switch f {
	case "the rest of the last page":
		s.keys = s.keys.Add(page).Sub(1).Div(page).MulLo(page)
	case "without the last page":
		s.keys = s.keys.Max(1).Sub(1).Div(page).MulLo(page).Max(s.keys.Min(1))
	case "NaN ends a sequence":
		s.keys = skv
		s.sees = func(j build.U32) build.Pred {
			entry := table.At(b.MadLo(width, j.Div(page))).Ld()
			page := entry.Selp(0, entry.SetpLt(1<<30)).MadLo(page, j.Rem(page))
			x := s.kk(page.MadLo(hkv, hk).MulLo(servingDim))
			return entry.Selp(1<<30, x.SetpEq(x)).SetpLt(1 << 30)
		}
	case "zeros are padding":
		s.sees = func(j build.U32) build.Pred {
			sum := build.NewVar(k.F32(0))
			at := s.key(j).MulLo(servingDim)
			k.Loop(0, servingDim, 1, func(i build.U32) { sum.Set(sum.Get().Max(s.kk(at.Add(i)).Abs())) })
			return sum.Get().SetpGt(0)
		}
	case "the width of the table from the longest length":
		width = skv.Add(page).Sub(1).Div(page)
	}
	s.qRow = row.MadLo(heads, h)
	s.oRow = s.qRow
	s.key = func(j build.U32) build.U32 {
		at := b.MadLo(width, j.Div(page))
		switch f {
		case "pages follow each other":
			return table.At(b.MulLo(width)).Ld().MadLo(page, j).MadLo(hkv, hk)
		case "the pages of the first sequence":
			at = j.Div(page)
		case "the first page only in full batches":
			least := build.NewVar(skv)
			k.Loop(0, batch, 1, func(i build.U32) { least.Set(least.Get().Min(used.At(i).Ld())) })
			first := table.At(b.MulLo(width)).Ld()
			return first.Selp(table.At(at).Ld(), least.Get().SetpEq(skv)).MadLo(page, j.Rem(page)).MadLo(hkv, hk)
		case "the row in the page from its end":
			return table.At(at).Ld().MadLo(page, page.Sub(1).Sub(j.Rem(page))).MadLo(hkv, hk)
		}
		return table.At(at).Ld().MadLo(page, j.Rem(page)).MadLo(hkv, hk)
	}
	s.emit()
	return k
}

const pagedABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32", "layout": "BSHD",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "cu_seqlens_q"}, {"pointer": "seqused_k"}, {"pointer": "page_table"},
    {"u32": "B"}, {"u32": "H"}, {"u32": "Hkv"}, {"u32": "page_size"}, {"u32": "max_pages"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["total_q", "H"], "block": ["D"], "require": ["D == 16"]}`

// listedKernel has one full sequence of queries per batch, and keys in pages [pages,Hkv,page,D]
// that a list finds.
func listedKernel(f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	indptr, indices, last := build.ParamGlobal[build.U32](k, "indptr"), build.ParamGlobal[build.U32](k, "indices"), build.ParamGlobal[build.U32](k, "last")
	heads, hkv, sq := k.ParamU32("heads"), k.ParamU32("hkv"), k.ParamU32("sq")
	s.scale = k.ParamF32("scale")
	const page = 16
	row := k.CtaidX()
	b, h := row.Div(sq.MulLo(heads)), row.Div(sq).Rem(heads)
	hk := h.Div(heads.Div(hkv))
	first := indptr.At(b).Ld()
	pages := indptr.At(b.Add(1)).Ld().Sub(first)
	s.keys = pages.Max(1).Sub(1).MadLo(page, last.At(b).Ld())
	if f == "the last page is full" {
		s.keys = pages.MulLo(page)
	}
	s.qRow, s.oRow = row, row
	s.key = func(j build.U32) build.U32 {
		return indices.At(first.Add(j.Div(page))).Ld().MadLo(hkv, hk).MadLo(page, j.Rem(page))
	}
	s.emit()
	return k
}

const listedABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "kv_indptr"}, {"pointer": "kv_indices"}, {"pointer": "kv_last_page_len"},
    {"u32": "H"}, {"u32": "Hkv"}, {"u32": "Sq"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 16", "page_size == 16"]}`

// scaledKernel has padded sequences in [B,H,S,D] and scales of blocks of rows, [B,H,blocks]. With
// blocks of one row the scales are by token.
func scaledKernel(blockQ, blockKV int, f fault) *build.Kernel {
	k := build.New("serve", ptx.SM89)
	s := &servingKernel{Kernel: k, q: loadE4M3(k, "q"), kk: loadE4M3(k, "k"), v: loadE4M3(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	qs, ks, vs := build.ParamGlobal[build.F32](k, "qs"), build.ParamGlobal[build.F32](k, "ks"), build.ParamGlobal[build.F32](k, "vs")
	usedQ, usedK := build.ParamGlobal[build.U32](k, "usedq"), build.ParamGlobal[build.U32](k, "usedk")
	heads, hkv, sq, skv := k.ParamU32("heads"), k.ParamU32("hkv"), k.ParamU32("sq"), k.ParamU32("skv")
	s.scale = k.ParamF32("scale")
	row := k.CtaidX()
	head := row.Div(sq)
	b, local := head.Div(heads), row.Rem(sq)
	headKV := head.Div(heads.Div(hkv)) // the scale of each head, [B,Hkv]
	s.qRow, s.oRow, s.keys = row, row, usedK.At(b).Ld()
	s.key = func(j build.U32) build.U32 { return headKV.MadLo(skv, j) }
	blocks := func(n build.U32, of int) build.U32 { return n.Add(of - 1).Div(of) }
	block := func(j build.U32) build.U32 { return j.Div(blockKV) }
	if f == "the block before" {
		block = func(j build.U32) build.U32 { return j.Div(blockKV).Max(1).Sub(1) }
	}
	ofQ := qs.At(head.MadLo(blocks(sq, blockQ), local.Div(blockQ))).Ld()
	if f == "the scales of the first sequence" {
		headKV = headKV.Rem(hkv)
	}
	if f == "the first block of Q" {
		ofQ = qs.At(head.MulLo(blocks(sq, blockQ))).Ld()
	}
	s.logit = func(j build.U32) build.F32 { return ofQ.Mul(ks.At(headKV.MadLo(blocks(skv, blockKV), block(j))).Ld()) }
	s.weight = func(j build.U32) build.F32 {
		if f == "the scale of K for V" {
			return ks.At(headKV).Ld()
		}
		if f == "one scale of V" {
			return vs.At(headKV.MulLo(blocks(skv, blockKV))).Ld()
		}
		return vs.At(headKV.MadLo(blocks(skv, blockKV), j.Div(blockKV))).Ld()
	}
	s.own = func(do func()) { k.If(local.SetpLt(usedQ.At(b).Ld()), do) }
	s.emit()
	return k
}

const scaledABI = `{"entry": "serve", "format": "e4m3", "output": "f32", "p": "f32", SCALING,
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "qs"}, {"pointer": "ks"}, {"pointer": "vs"},
    {"pointer": "seqused_q"}, {"pointer": "seqused_k"}, {"u32": "H"}, {"u32": "Hkv"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 16"]}`

// maskBufferKernel has a mask in memory.
func maskBufferKernel(f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	mask, heads, sq, skv := build.ParamGlobal[build.U8](k, "mask"), k.ParamU32("heads"), k.ParamU32("sq"), k.ParamU32("skv")
	s.scale = k.ParamF32("scale")
	row := k.CtaidX()
	head := row.Div(sq)
	b := head.Div(heads)
	if f == "the mask of the first sequence" {
		b = b.Min(0)
	}
	s.qRow, s.oRow, s.keys = row, row, skv
	s.key = func(j build.U32) build.U32 { return head.MadLo(skv, j) }
	s.sees = func(j build.U32) build.Pred {
		if f == "the mask of the next key" {
			j = j.Add(1).Min(skv.Sub(1))
		}
		return mask.At(b.MadLo(sq, row.Rem(sq)).MadLo(skv, j)).Ld().CvtU32().SetpNe(0)
	}
	s.emit()
	return k
}

const maskBufferABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "mask"}, {"u32": "H"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 16", "H == Hkv"]}`

// TestServing judges kernels as serving systems call them: sequences of different lengths, keys in
// pages, scales of tokens and blocks, a mask in memory. Each right kernel passes, and each wrong
// one is rejected.
func TestServing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		name, call, supports string
		kernel               func(fault) *build.Kernel
		faults               []fault
	}{
		{"packed", packedABI, "ragged", packedKernel, []fault{
			"the longest length for all", "the keys of the sequence before", "the offsets of Q for K", "the mask begins at the first key", "one key too few", "the log-sum-exp has another layout"}},
		{"paged", pagedABI, "ragged paged", pagedKernel, []fault{
			"the rest of the last page", "without the last page", "the width of the table from the longest length", "pages follow each other", "the pages of the first sequence", "the row in the page from its end"}},
		{"listed pages", listedABI, "ragged paged", listedKernel, []fault{"the last page is full"}},
		{"scales by token", strings.Replace(scaledABI, "SCALING", `"scaling": "per-token"`, 1), "ragged",
			func(f fault) *build.Kernel { return scaledKernel(1, 1, f) }, []fault{"the block before", "the first block of Q", "one scale of V"}},
		{"scales by block", strings.Replace(scaledABI, "SCALING", `"scaling": "per-block", "scale_block": [16, 8]`, 1), "ragged",
			func(f fault) *build.Kernel { return scaledKernel(16, 8, f) }, []fault{"the block before", "the first block of Q", "one scale of V"}},
		{"scales by sequence and head", strings.Replace(scaledABI, "SCALING", `"scaling": "per-batch"`, 1), "ragged",
			func(f fault) *build.Kernel { return scaledKernel(1<<20, 1<<20, f) }, []fault{"the scales of the first sequence", "the scale of K for V"}},
		{"bias in f16", strings.Replace(biasABI, "TYPE", "f16", 1), "bias",
			func(f fault) *build.Kernel { return biasKernel(loadF16, f) }, []fault{"the bias of the first head", "the bias before the scale", "no bias"}},
		{"bias in f32", strings.Replace(biasABI, "TYPE", "f32", 1), "bias",
			func(f fault) *build.Kernel { return biasKernel(loadF32, f) }, []fault{"the bias of the next key", "the bias of the first sequence"}},
		{"rotated halves", strings.Replace(ropeABI, "HOW", "halves", 1), "rope",
			func(f fault) *build.Kernel { return ropeKernel(problem.RotateHalves, f) }, []fault{"pairs", "queries begin at 0", "K is not rotated"}},
		{"rotated pairs", strings.Replace(ropeABI, "HOW", "pairs", 1), "rope",
			func(f fault) *build.Kernel { return ropeKernel(problem.RotatePairs, f) }, []fault{"halves", "the position of the next key"}},
		{"mask in memory", maskBufferABI, "mask", maskBufferKernel, []fault{"the mask of the first sequence", "the mask of the next key"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, err := abi.Parse("serve.json", []byte(c.call))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(call.Supports, " "); !strings.HasSuffix(got, c.supports) {
				t.Errorf("it supports %s", got)
			}
			if !*full {
				c.faults = c.faults[:min(len(c.faults), 2)]
			}
			for _, f := range append([]fault{""}, c.faults...) {
				text, err := c.kernel(f).PTX()
				if err != nil {
					t.Fatal(err)
				}
				s, err := External("serve", text, call)
				if err != nil {
					t.Fatal(err)
				}
				r, v := measure(t, s, servingPlan())
				want := record.Reject
				if f == "" {
					want = record.Correct
				}
				if v.Outcome != want {
					t.Errorf("%q: %s: %s", f, v.Outcome, v.Why)
				}
				if one := r.Correctness; f == "" && strings.HasPrefix(c.supports, "ragged") && (one == nil || one.Cases[0].Batch.LengthsKV == "") {
					t.Error("the record does not have the lengths")
				}
			}
		})
	}
}

func servingPlan() Plan {
	p := quickly()
	p.Cases = []Case{
		{Shape: problem.Square(2, 2, 12, 0), Seed: 1, Distribution: "normal"},
		{Shape: problem.Shape{B: 3, Hq: 2, Hkv: 2, Sq: 4, Skv: 70}, Seed: 2, Distribution: "normal"},
		{Shape: problem.Shape{B: 4, Hq: 2, Hkv: 2, Sq: 17, Skv: 24}, Seed: 3, Distribution: "uniform"},
		{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 10, Skv: 33}, Seed: 4, Distribution: "one-hot"},
	}
	p.Defects.Shapes, p.Defects.PerShape, p.Counters = []problem.Shape{problem.Square(1, 2, 5, 0)}, 2, problem.Shape{}
	return p
}
