package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// maxProductColumns is the widest product that wgmma computes.
const maxProductColumns = 256

// columnRange is a range of columns of T and O.
type columnRange struct{ from, n int }

// products returns the columns of each product with V. The last product includes the columns
// of row sums and what ProductColumns does not divide.
func (c Config) products(dv int) (list []columnRange) {
	all, each := c.columns(dv), c.ProductColumns
	if each == 0 {
		return []columnRange{{0, all}}
	}
	for from := 0; from+each <= dv; from += each {
		list = append(list, columnRange{from, each})
	}
	last := &list[len(list)-1]
	last.n = all - last.from
	return list
}

// widestProduct returns the columns of the last product, which has the most.
func (c Config) widestProduct(dv int) int {
	list := c.products(dv)
	return list[len(list)-1].n
}

// inFlight returns how many products with V run at the same time. Together they have as many
// accumulators as 128 columns need: S has as many, and is not in use then.
func (c Config) inFlight(dv int) int {
	const columns = 128
	if c.ProductColumns == 0 {
		return 1
	}
	return min(max(columns/c.ProductColumns, 1), len(c.products(dv)))
}

// registersOfT returns the registers per thread of all products in flight.
func (c Config) registersOfT(dv int) int { return c.inFlight(dv) * c.widestProduct(dv) / 2 }

func (g *gen) productAccumulators() (T []*tile.Frag) {
	for range g.c.inFlight(g.dv) {
		T = append(T, g.wg.Accumulator(g.c.widestProduct(g.dv)))
	}
	return T
}

// addProduct computes O = O + w·P·V, or O = w·O + P·V without TileMaxima, with V in a slot of
// its ring. It calls done when the last product has read V. The first products start together. Each later product starts
// when the columns of an earlier one have been added to O, into the same accumulator.
func (a *consumer) addProduct(P tile.Bytes8, slot build.U32, w []build.F32, done func()) {
	g, wg := a.g, a.wg
	list := g.c.products(g.dv)
	T := func(i int) *tile.Frag { return a.T[i%len(a.T)].Columns(0, list[i].n) }
	start := func(i int) {
		wg.Fence()
		V := a.V.At(slot)
		wg.MMAFromRegisters(T(i), "T = P·V", ptx.E4M3, P, float8(g.p), V.RowRange(list[i].from, list[i].n), false)
		wg.Commit()
	}
	for i := range a.T {
		start(i)
	}
	for i, columns := range list {
		wg.Wait(min(len(a.T), len(list)-i) - 1)
		if i == len(list)-1 {
			done()
		}
		O := a.O.Columns(columns.from, columns.n)
		if g.c.TileMaxima {
			O.AddScaled(g.k, T(i), w)
		} else {
			O.ScaleAdd(g.k, w, T(i))
		}
		if next := i + len(a.T); next < len(list) {
			start(next)
		}
	}
}
