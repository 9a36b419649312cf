package merge

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// New writes the kernel for a target with its call. It serves every problem with the facts of
// p. The operands are parts_o [parts,rows,D], parts_lse [parts,rows], o [rows,D] and lse
// [rows].
func New(p Problem, t ptx.Target) (*kernel.Kernel, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	k := build.New(fmt.Sprintf("attn_merge_%s_%s", p.Input, p.Output), t)
	k.ReqNTid(threads)
	params := attn.NewParams(k)
	g := gen{k: k, p: p, partsO: params.Bytes("parts_o"), partsLSE: params.Floats("parts_lse"), o: params.Bytes("o")}
	if p.LSE {
		g.lse = params.Floats("lse")
	}
	g.parts, g.rows, g.d = params.U32("parts", "parts"), params.U32("rows", "rows"), params.U32("d", "D")
	if p.bshd() {
		g.heads, g.queries = params.U32("heads", "heads"), params.U32("queries", "S")
	}
	g.write()
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		return nil, err
	}
	operand := func(name string, typ problem.Format, role kernel.Role, dims ...string) kernel.Operand {
		return kernel.Operand{Name: name, Type: string(typ), Role: role, Dims: attn.Exprs(dims...)}
	}
	operands := []kernel.Operand{
		operand("parts_o", p.Input, kernel.Input, "parts", "rows", "D"), operand("parts_lse", problem.F32, kernel.Input, "parts", "rows"),
		operand("o", p.Output, kernel.Output, "rows", "D"),
	}
	if p.LSE {
		operands = append(operands, operand("lse", problem.F32, kernel.Output, "rows"))
	}
	return &kernel.Kernel{
		Name: k.Name(), PTX: text, Op: p.Op(), Fixed: p.Facts(), Operands: operands,
		Require: []kernel.Rule{
			attn.Rule(fmt.Sprintf("D %% %d == 0", columns), fmt.Sprintf("the head dimension must be a multiple of %d", columns)),
			attn.Rule(fmt.Sprintf("parts*rows <= %d && rows*D <= %d", maxRows, maxRows), fmt.Sprintf("there are at most %d rows of all parts and %d outputs: divide the rows", maxRows, maxRows)),
		},
		Launches: []kernel.Launch{{
			Entry: k.Name(), Args: params.Args(), Grid: attn.Exprs(fmt.Sprintf("cdiv(rows*(D/%d), %d)", columns, threads)),
			Block: []expr.Expr{expr.Const(threads)},
		}},
		Claims: map[string]string{"accumulator": "f32"},
	}, nil
}

// gen holds what the parts of the kernel that is being written need.
type gen struct {
	k              *build.Kernel
	p              Problem
	partsO, o      build.Global[build.B8]
	partsLSE, lse  build.Global[build.F32]
	parts, rows, d build.U32
	heads, queries build.U32 // only with the layout BSHD
}

// write writes the body: a thread merges four columns of a row.
func (g *gen) write() {
	k := g.k
	perRow := g.d.Shr(2)
	thread := k.CtaidX().MadLo(threads, k.TidX())
	row := thread.Div(perRow)
	column := thread.Sub(row.MulLo(perRow)).MulLo(columns)
	k.If(row.SetpLt(g.rows), func() {
		sum := g.sumOf(row)
		reference, l, o := part.SumParts(k, g.parts, func(i build.U32) part.Partial {
			at := i.MadLo(g.rows, row)
			if !g.p.bshd() {
				return g.load(at, at, column)
			}
			return g.load(at, i.MadLo(g.rows, sum), column)
		})
		norm, lse := (&part.Softmax{K: k}).Normalise(k.F32(1), []build.F32{reference}, []build.F32{l}, true)
		for e := range o {
			o[e] = o[e].Mul(norm[0], build.Rn)
		}
		g.store(row, column, o)
		if g.p.LSE {
			k.If(column.SetpEq(0), func() { g.lse.At(sum).St(lse[0]) })
		}
	})
}

// sumOf returns the place of a row's LSE.
func (g *gen) sumOf(row build.U32) build.U32 {
	if !g.p.bshd() {
		return row
	}
	token := row.Div(g.heads)
	batch := token.Div(g.queries)
	head, query := row.Sub(token.MulLo(g.heads)), token.Sub(batch.MulLo(g.queries))
	return batch.MadLo(g.heads, head).MadLo(g.queries, query)
}

// load loads four columns of a row of a part, and the LSE at sum. The O of a part without keys becomes 0.
func (g *gen) load(row, sum, column build.U32) part.Partial {
	k := g.k
	lse := g.partsLSE.At(sum).Ld()
	seen := lse.SetpGtu(tile.NegInf(k)) // true for NaN too
	x := part.Partial{Reference: lse.Mul(-math.Log2E, build.Rn), L: k.F32(1).Selp(0, seen)}
	at := g.at(g.partsO, g.p.Input, row, column)
	if g.p.Input == problem.F32 {
		x.O = build.GlobalAt[build.F32](at).LdV4()
	} else {
		words := build.GlobalAt[build.B32](at).LdV2()
		x.O = [4]build.F32{g.half(words[0], 0), g.half(words[0], 1), g.half(words[1], 0), g.half(words[1], 1)}
	}
	for e := range x.O {
		x.O[e] = x.O[e].Selp(0, seen)
	}
	return x
}

// half returns one of two numbers of two bytes. A bf16 is the upper half of an f32.
func (g *gen) half(word build.B32, i int) build.F32 {
	if g.p.Input == problem.BF16 {
		if i == 0 {
			return build.Cast[build.F32](word.Shl(16))
		}
		return build.Cast[build.F32](word.And(0xffff0000))
	}
	lo, hi := build.Unpack2[build.F16](word)
	if i == 0 {
		return lo.CvtF32()
	}
	return hi.CvtF32()
}

// store writes four columns of a row of O.
func (g *gen) store(row, column build.U32, o [4]build.F32) {
	at := g.at(g.o, g.p.Output, row, column)
	if g.p.Output == problem.F32 {
		build.GlobalAt[build.F32](at).StV4(o)
		return
	}
	out := part.Output{K: g.k, Type: map[problem.Format]ptx.Type{problem.F16: ptx.F16, problem.BF16: ptx.BF16}[g.p.Output]}
	build.GlobalAt[build.B32](at).StV2([2]build.B32{out.Pair(o[0], o[1]), out.Pair(o[2], o[3])})
}

// at returns the address of a column of a row.
func (g *gen) at(of build.Global[build.B8], f problem.Format, row, column build.U32) build.U64 {
	return of.Addr().Add(row.MulWide(g.d).Add(column.CvtU64()).MulLo(f.Bytes()))
}
