package decode

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// strides are the distances in bytes between the parts of a tensor that is not contiguous.
type strides struct {
	outer build.U64 // from sequence to sequence or from page to page, if they are not packed
	head  build.U64
	row   build.U32 // from row to row of a head
}

// strideUnit is the number of elements of which all gaps are multiples: K and V are copied in units of 16
// bytes.
const strideUnit = unitBytes

// mostStride is the most elements from row to row. It keeps the distance of rows in bytes in 32 bits.
const mostStride = 1 << 30

// strideParams declares the strides of all tensors.
func (g *gen) strideParams(params *attn.Params) {
	if !g.p.Strided() {
		return
	}
	declare := func(tensor string, place problem.Placement, bytes int) *strides {
		value := func(axis int) string { return fmt.Sprintf("%s.stride%d*%d", tensor, axis, bytes) }
		s, axis := &strides{}, 0
		if place != problem.Packed {
			s.outer = params.U64(tensor+"Outer", value(axis))
			axis++
		}
		head, row := axis, axis+1
		if g.p.Layout == problem.BSHD {
			head, row = row, head
		}
		s.head, s.row = params.U64(tensor+"Head", value(head)), params.U32(tensor+"Row", value(row))
		return s
	}
	g.qSteps, g.oSteps = declare("q", g.p.Queries, g.p.QueryFormat().Bytes()), declare("o", g.p.Queries, g.p.Output.Bytes())
	g.kSteps, g.vSteps = declare("k", g.p.Keys, 1), declare("v", g.p.Keys, 1)
}

// strideRules returns the limits on the gaps of a problem.
func strideRules(p problem.Attention) (list []kernel.Rule) {
	if !p.Strided() {
		return nil
	}
	for _, t := range []struct{ tensor, heads, columns string }{{"q", "H", "D"}, {"k", "Hkv", "D"}, {"v", "Hkv", attn.DimV(p)}, {"o", "H", attn.DimV(p)}} {
		gap := func(i int) string { return fmt.Sprintf("%s_gap%d", t.tensor, i) }
		list = append(list, attn.Rule(fmt.Sprintf("%s %% %d == 0 && %s %% %d == 0 && %s %% %d == 0", gap(0), strideUnit, gap(1), strideUnit, gap(2), strideUnit),
			fmt.Sprintf("the strides of %s must be multiples of %d elements", t.tensor, strideUnit)))
		if p.Layout == problem.BSHD {
			list = append(list, attn.Rule(fmt.Sprintf("%s*(%s + %s) + %s <= %d", t.heads, t.columns, gap(2), gap(1), mostStride),
				fmt.Sprintf("the rows of %s are at most %d elements apart", t.tensor, mostStride)))
		}
	}
	return list
}

// origin returns the offset of row 0 of a head in bytes: of a packed sequence that starts after some
// rows, of a sequence of the batch, or, if in pages, of page 0.
func (s *strides) origin(place problem.Placement, batch, start, head build.U32) build.U64 {
	at := head.CvtU64().MulLo(s.head)
	switch place {
	case problem.Packed:
		return at.Add(start.MulWide(s.row))
	case problem.Paged:
		return at
	}
	return batch.CvtU64().MadLo(s.outer, at)
}

// queryOffset returns where a query row lies in Q or in O, in bytes. Rows of contiguous tensors have
// the given size.
func (g *gen) queryOffset(it item, r row, s *strides, bytes int) build.U64 {
	if s == nil {
		return g.place(it, r).MulWide(bytes)
	}
	return s.origin(g.p.Queries, it.batch, it.startQ, r.head).Add(r.token.MulWide(s.row))
}
