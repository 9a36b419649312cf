package ref

import (
	"cmp"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/problem"
)

// Rows picks n rows of a problem, or all rows if there are not more. In the first and the last
// head it picks the first and the last row and rows at the edges of tiles, where kernels
// often have mistakes. It picks the others at random. The same problem, number and seed give
// the same rows, in order.
func Rows(p problem.Attention, n int, seed uint64) []Row {
	if n >= p.Rows() {
		return allRows(p)
	}
	s, lengths := p.Shape, p.QueryLengths()
	picked := map[Row]bool{}
	add := func(r Row) {
		if len(picked) < n && r.S >= 0 && r.S < lengths[r.B] {
			picked[r] = true
		}
	}
	for _, i := range []int{0, s.Sq - 1, s.Sq / 64 * 64, 31, 32, 63, 64, 127, 128} {
		add(Row{0, 0, i})
		add(Row{s.B - 1, s.Hq - 1, i})
	}
	for b, rows := range lengths {
		if p.LengthsQ != "" {
			add(Row{b, 0, rows - 1})
		}
	}
	anywhere := newStream(seed, 0)
	for i := uint64(0); len(picked) < n; i++ {
		at := int(anywhere.at(i) % uint64(s.Q().Rows()))
		add(Row{at / s.Sq / s.Hq, at / s.Sq % s.Hq, at % s.Sq})
	}
	rows := make([]Row, 0, n)
	for r := range picked {
		rows = append(rows, r)
	}
	sorted.By(rows, func(a, b Row) int {
		return cmp.Or(a.B-b.B, a.H-b.H, a.S-b.S)
	})
	return rows
}
