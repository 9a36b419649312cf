package cache

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// New writes the kernel for a target, from sm_89 on, with its call. It serves every problem with
// the facts of p.
func New(p Problem, t ptx.Target) (*kernel.Kernel, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if t.SM < 89 {
		return nil, fmt.Errorf("%s cannot convert to %s: use a GPU from sm_89 on", t, p.Format)
	}
	heads := problem.Attention{}
	heads.D, heads.DV = p.D, p.DV
	k := build.New(fmt.Sprintf("attn_append_%s_%s_%s", p.Input, p.Format, attn.DimName(heads.Filled())), t)
	if v := (ptx.Version{Major: 8, Minor: 1}); t.SM == 89 && t.MinVersion().Less(v) {
		k.Version(v.Major, v.Minor) // sm_89 has FP8 since PTX 8.1
	}
	k.ReqNTid(threads)
	g, params := newGen(k, p)
	if t.SM >= 90 { // attention that is launched next as a dependent launch starts now, and waits for the end
		k.GriddepcontrolLaunchDependents()
	}
	g.write()
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		return nil, err
	}
	return &kernel.Kernel{
		Name: k.Name(), PTX: text, Op: p.Op(), Fixed: p.Facts(), Operands: operands(p),
		Require: []kernel.Rule{attn.Rule(fmt.Sprintf("tokens*Hkv <= %d && B*Skv*Hkv <= %d && pages*page_size*Hkv <= %d", maxRows, maxRows, maxRows),
			fmt.Sprintf("the new tokens and the cache have at most %d rows of all heads", maxRows))},
		Launches: []kernel.Launch{{
			Entry: k.Name(), Args: params.Args(), Grid: attn.Exprs(fmt.Sprintf("max(cdiv(tokens*Hkv, %d), 1)", warps)), Block: []expr.Expr{expr.Const(threads)},
		}},
	}, nil
}

// operands returns the memory of the kernel.
func operands(p Problem) []kernel.Operand {
	cache := []string{"B", "Hkv", "Skv"}
	switch paged, bshd := p.Keys == problem.Paged, p.Layout == problem.BSHD; {
	case paged && bshd:
		cache = []string{"pages", "page_size", "Hkv"}
	case paged:
		cache = []string{"pages", "Hkv", "page_size"}
	case bshd:
		cache = []string{"B", "Skv", "Hkv"}
	}
	operand := func(name, typ string, role kernel.Role, meaning string, dims ...string) kernel.Operand {
		return kernel.Operand{Name: name, Type: typ, Role: role, Meaning: meaning, Dims: attn.Exprs(dims...)}
	}
	rows := func(columns string) []string { return append(append([]string{}, cache...), columns) }
	list := []kernel.Operand{
		operand("k_new", string(p.Input), kernel.Input, "", "tokens", "Hkv", "D"), operand("v_new", string(p.Input), kernel.Input, "", "tokens", "Hkv", "DV"),
		operand("k", string(p.Format), kernel.InOut, "", rows("D")...), operand("v", string(p.Format), kernel.InOut, "", rows("DV")...),
	}
	if p.strided() {
		for i := range list {
			list[i].Strides = attn.Strides(list[i])
		}
	}
	scales, role := map[problem.Scaling][]string{problem.PerTensor: {"1"}, problem.PerHead: {"Hkv"}, problem.PerToken: cache}[p.Scaling], kernel.Input
	if p.Scaling == problem.PerToken {
		role = kernel.InOut
	}
	list = append(list, operand("ks", "f32", role, "", scales...), operand("vs", "f32", role, "", scales...))
	if p.Rope != "" {
		list = append(list, operand("rope_cos", "f32", kernel.Input, "", "positions", "rope_dim/2"), operand("rope_sin", "f32", kernel.Input, "", "positions", "rope_dim/2"))
	}
	list = append(list, operand("cache_seqlens", "i32", kernel.Input, kernel.Lengths, "B"))
	if p.Tokens == problem.Packed {
		list = append(list, operand("cu_seqlens_k_new", "i32", kernel.Input, kernel.Offsets, "B + 1"))
	}
	if p.Keys == problem.Paged {
		list = append(list, operand("page_table", "i32", kernel.Input, kernel.Pages, "B", "max_pages"))
	}
	return list
}

// gen holds what the parts of the kernel that is being written need.
type gen struct {
	k *build.Kernel
	p Problem

	newK, newV, keys, values     build.Global[build.B8]
	ks, vs, cos, sin             build.Global[build.F32]
	lengths, offsets, pages      build.Global[build.U32]
	batches, heads, fresh        build.U32
	tokens, room, rows, width    build.U32 // room is the keys of a sequence, rows those of a page
	positions, lane, token, head build.U32
	kSteps, vSteps               *steps // nil if the cache is contiguous
}

// steps are the bytes between the parts of a tensor with gaps: sequences or pages, heads, and rows.
type steps struct{ outer, head, row build.U64 }

// newGen declares the parameters.
func newGen(k *build.Kernel, p Problem) (*gen, *attn.Params) {
	params := attn.NewParams(k)
	g := &gen{k: k, p: p}
	g.newK, g.newV, g.keys, g.values = params.Bytes("k_new"), params.Bytes("v_new"), params.Bytes("k"), params.Bytes("v")
	g.ks, g.vs = params.Floats("ks"), params.Floats("vs")
	if p.Rope != "" {
		g.cos, g.sin = params.Floats("rope_cos"), params.Floats("rope_sin")
		g.positions = params.U32("positions", "positions")
	}
	g.lengths = params.Words("cache_seqlens")
	if p.Tokens == problem.Packed {
		g.offsets, g.batches = params.Words("cu_seqlens_k_new"), params.U32("batches", "B")
	} else {
		g.fresh = params.U32("fresh", "Snew")
	}
	if p.Keys == problem.Paged {
		g.pages, g.rows, g.width = params.Words("page_table"), params.U32("pageRows", "page_size"), params.U32("tableWidth", "max_pages")
	}
	if p.strided() {
		g.kSteps, g.vSteps = newSteps(params, p, "k"), newSteps(params, p, "v")
	}
	g.heads, g.tokens, g.room = params.U32("heads", "Hkv"), params.U32("tokens", "tokens"), params.U32("room", "Skv")
	return g, params
}

// newSteps declares the strides of a tensor.
func newSteps(params *attn.Params, p Problem, tensor string) *steps {
	head, row := 1, 2
	if p.Layout == problem.BSHD {
		head, row = row, head
	}
	one := func(name string, axis int) build.U64 {
		return params.U64(tensor+name, fmt.Sprintf("%s.stride%d", tensor, axis))
	}
	return &steps{one("Outer", 0), one("Head", head), one("Row", row)}
}

// write writes the body: a warp appends one row of K and one of V.
func (g *gen) write() {
	k := g.k
	tid := k.TidX()
	g.lane = tid.And(31)
	row := k.CtaidX().MadLo(warps, tid.Shr(5))
	g.token = row.Div(g.heads)
	g.head = row.Sub(g.token.MulLo(g.heads))
	k.If(g.token.SetpLt(g.tokens), func() {
		halves := g.p.Rope == problem.RotateHalves
		x, y := g.load(g.newK, g.p.D, halves), g.load(g.newV, g.p.dimV(), false) // their latency is that of finding their place
		batch, inSequence, exists := g.sequence()
		position := g.lengths.At(batch).Ld().Add(inSequence)
		fits := position.SetpLt(g.room)
		if g.p.Tokens == problem.Packed {
			fits = fits.And(exists)
		}
		if g.p.Rope != "" {
			fits = fits.And(position.SetpLt(g.positions))
		}
		k.If(fits, func() {
			at := g.place(batch, position)
			to := g.number(at)
			if g.p.Rope != "" {
				g.rotate(x, position)
			}
			ks, vs := g.scale(g.ks, to, x), g.scale(g.vs, to, y)
			g.store(g.address(g.keys, at, g.p.D, g.kSteps), x, ks, halves)
			g.store(g.address(g.values, at, g.p.dimV(), g.vSteps), y, vs, false)
		})
	})
}

// sequence returns the sequence of the warp's token, and the token's number in it. In packed
// tokens, the sequence is the number of sequences that end before the token. A token behind the last
// sequence does not exist: a CUDA graph is captured for the most tokens of any step.
func (g *gen) sequence() (batch, inSequence build.U32, exists build.Pred) {
	k := g.k
	if g.p.Tokens != problem.Packed {
		batch = g.token.Div(g.fresh)
		return batch, g.token.Sub(batch.MulLo(g.fresh)), exists
	}
	ended := build.NewVar(k.U32(0))
	k.Loop(g.lane, g.batches, 32, func(b build.U32) {
		ended.Set(ended.Get().Add(k.U32(1).Selp(0, g.offsets.At(b.Add(1)).Ld().SetpLe(g.token))))
	})
	before := ended.Get().ReduxSyncAdd(k.FullMask())
	batch = before.Min(g.batches.Sub(1))
	return batch, g.token.Sub(g.offsets.At(batch).Ld()), before.SetpLt(g.batches)
}

// cacheRow is a row of the cache: that of a position in a sequence or page.
type cacheRow struct{ outer, position build.U32 }

// place returns the row of the cache for a position of a sequence.
func (g *gen) place(batch, position build.U32) cacheRow {
	if g.p.Keys != problem.Paged {
		return cacheRow{batch, position}
	}
	n := position.Div(g.rows)
	return cacheRow{g.pages.At(batch.MadLo(g.width, n)).Ld(), position.Sub(n.MulLo(g.rows))}
}

// number returns the number of a row of the warp's head among all rows.
func (g *gen) number(at cacheRow) build.U32 {
	rows := g.room
	if g.p.Keys == problem.Paged {
		rows = g.rows
	}
	if g.p.Layout == problem.BSHD {
		return at.outer.MadLo(rows, at.position).MadLo(g.heads, g.head)
	}
	return at.outer.MadLo(g.heads, g.head).MadLo(rows, at.position)
}

// address returns the address of a row with d columns of the warp's head.
func (g *gen) address(cache build.Global[build.B8], at cacheRow, d int, s *steps) build.U64 {
	if s == nil {
		return cache.Addr().Add(g.number(at).MulWide(d))
	}
	return cache.Addr().Add(at.outer.CvtU64().MulLo(s.outer)).Add(g.head.CvtU64().MulLo(s.head)).Add(at.position.CvtU64().MulLo(s.row))
}
