package attn

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// Operands returns the memory of an attention problem: q, k and v, their scales qs, ks and vs
// if the problem has scales, its sinks, its mask, its bias, its angles, new rows of K and V, the
// lengths and places of its sequences, o, and lse if the problem asks for the log-sum-exp.
func Operands(p problem.Attention) []kernel.Operand {
	p = p.Filled()
	input := func(name, typ string, dims []expr.Expr) kernel.Operand {
		return kernel.Operand{Name: name, Type: typ, Role: kernel.Input, Dims: dims}
	}
	format, q, kv := string(p.Format), dims(p, p.Queries, "H", "Sq", "total_q"), dims(p, p.Keys, "Hkv", "Skv", "total_kv")
	list := []kernel.Operand{input("q", string(p.QueryFormat()), withD(q)), input("k", format, withD(kv)), input("v", format, withDV(p, kv))}
	if p.Appends {
		rows := dims(p, p.Queries, "Hkv", "Sq", "total_q")
		list[1].Role, list[2].Role = kernel.InOut, kernel.InOut
		list = append(list, input("k_new", format, withD(rows)), input("v_new", format, withDV(p, rows)))
	}
	if dq, dkv := scaleDims(p); dq != nil {
		if p.FormatQ == "" {
			list = append(list, input("qs", "f32", dq))
		}
		list = append(list, input("ks", "f32", dkv), input("vs", "f32", dkv))
	}
	if p.Sinks {
		list = append(list, input("sinks", "f32", Exprs("H")))
	}
	if p.Masked {
		keys := "Skv"
		if p.MaskBits {
			keys = "cdiv(Skv, 8)"
		}
		list = append(list, input("mask", "u8", Exprs("B", "Sq", keys)))
	}
	if p.Bias != "" {
		list = append(list, input("bias", string(p.Bias), Exprs("B", "H", "Sq", "Skv")))
	}
	if p.Rope != "" {
		angles := Exprs("max(Sq, Skv)", "D / 2")
		list = append(list, input("rope_cos", "f32", angles), input("rope_sin", "f32", angles))
	}
	list = append(list, batchOperands(p)...)
	list = append(list, kernel.Operand{Name: "o", Type: string(p.Output), Role: kernel.Output, Dims: withDV(p, q)})
	if p.Strided() {
		for i := range list {
			list[i].Strides = Strides(list[i])
		}
	}
	if p.LSE {
		lse := kernel.Operand{Name: "lse", Type: "f32", Role: kernel.Output, Dims: Exprs("B", "H", "Sq")}
		if p.Queries == problem.Packed {
			lse.Dims = Exprs("H", "total_q")
		}
		list = append(list, lse)
	}
	return list
}

// batchOperands returns the operands that say how long the sequences are and where they lie. A
// kernel needs only some of them.
func batchOperands(p problem.Attention) (list []kernel.Operand) {
	add := func(name, meaning string, dims ...string) {
		list = append(list, kernel.Operand{Name: name, Type: "i32", Role: kernel.Input, Dims: Exprs(dims...), Meaning: meaning})
	}
	if p.Queries != problem.Uniform {
		add("cu_seqlens_q", kernel.Offsets, "B + 1")
		add("seqused_q", kernel.Lengths, "B")
	}
	if p.Keys != problem.Uniform {
		add("cu_seqlens_k", kernel.Offsets, "B + 1")
		add("seqused_k", kernel.Lengths, "B")
	}
	if p.Appends {
		add("cache_seqlens", kernel.Lengths, "B")
		if p.Keys == problem.Paged {
			list = append(list, kernel.Operand{Name: "slot_mapping", Type: "i64", Role: kernel.Input, Dims: dims(slots(p), p.Queries, "1", "Sq", "total_q"), Meaning: kernel.Pages})
		}
	}
	if p.Keys == problem.Paged {
		add("page_table", kernel.Pages, "B", "max_pages")
		add("kv_indptr", kernel.Offsets, "B + 1")
		add("kv_indices", kernel.Pages, "kv_pages")
		add("kv_last_page_len", kernel.Lengths, "B")
	}
	return list
}

// slots returns the problem with the layout of slot_mapping, which has no heads.
func slots(p problem.Attention) problem.Attention {
	p.Layout = problem.BSHD
	return p
}

// scaleDims returns the extents of the scales of Q and of K and V, nil if there are none. Scales
// of rows lie like the rows.
func scaleDims(p problem.Attention) (q, kv []expr.Expr) {
	switch p.Scaling {
	case problem.PerHead:
		return Exprs("H"), Exprs("Hkv")
	case problem.PerTensor:
		return Exprs("1"), Exprs("1")
	case problem.PerBatch:
		return Exprs("B", "H"), Exprs("B", "Hkv")
	case problem.PerPage:
		return Exprs("H"), Exprs("pages", "Hkv")
	case problem.PerToken:
		return dims(p, p.Queries, "H", "Sq", "total_q"), dims(p, p.Keys, "Hkv", "Skv", "total_kv")
	case problem.PerBlock:
		return dims(p, problem.Uniform, "H", "cdiv(Sq, scale_block_q)", ""), dims(p, problem.Uniform, "Hkv", "cdiv(Skv, scale_block_kv)", "")
	}
	return nil, nil
}

// dims returns the extents of the rows of a tensor in the problem's layout.
func dims(p problem.Attention, place problem.Placement, heads, rows, total string) []expr.Expr {
	batch := []string{"B"}
	switch place {
	case problem.Packed:
		batch, rows = nil, total
	case problem.Paged:
		batch, rows = []string{"pages"}, "page_size"
	}
	if p.Layout == problem.BSHD {
		return Exprs(append(batch, rows, heads)...)
	}
	return Exprs(append(batch, heads, rows)...)
}

// Strides returns the strides of q, k, v or o in a problem with gaps, and nil for other operands.
func Strides(o kernel.Operand) (list []expr.Expr) {
	if !slices.Contains([]string{"q", "k", "v", "o"}, o.Name) {
		return nil
	}
	inner, gap := "1", 2 // the stride of the extent inside
	list = Exprs(inner)
	for i := len(o.Dims) - 1; i > 0; i-- {
		inner = fmt.Sprintf("(%v)*%s + %s_gap%d", o.Dims[i], inner, o.Name, gap)
		list = slices.Insert(list, 0, expr.Must(inner))
		inner, gap = "("+inner+")", gap-1
	}
	return list
}

// withD adds the columns of Q or K to the extents of rows.
func withD(rows []expr.Expr) []expr.Expr { return append(slices.Clip(rows), expr.Must("D")) }

// withDV adds the columns of V or O to the extents of rows.
func withDV(p problem.Attention, rows []expr.Expr) []expr.Expr {
	return append(slices.Clip(rows), expr.Must(DimV(p)))
}

// DimV returns the name of the head dimension of V and O in expressions. The contracts of kernels with
// one head dimension say D, so that they have the same identity as before DV existed.
func DimV(p problem.Attention) string {
	if p.DV == 0 {
		return "D"
	}
	return "DV"
}

// Exprs parses expressions that the program itself wrote: a mistake in one is a panic.
func Exprs(texts ...string) (list []expr.Expr) {
	for _, t := range texts {
		list = append(list, expr.Must(t))
	}
	return list
}
