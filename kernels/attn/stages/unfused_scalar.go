package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// On the scalar path, 16 threads divide the columns and 8 the rows. Each has a few rows and
// columns, so that it uses each value that it loads several times.

const (
	across = 16
	down   = 8
)

// threadXY returns the thread's column and row among the 16×8 threads.
func (g *gen) threadXY() (x, y build.U32) {
	return g.tid.And(across - 1), g.tid.Shr(4)
}

// floats returns n elements of a tile from (row, col) on as f32; n is 8 or 4.
func (g *gen) floats(t tile.Tile[build.F16], row, col build.U32, n int) (fs []build.F32) {
	at := build.SharedAs[build.B32](t.At(row, col), 0)
	var words []build.B32
	if n == 8 {
		v := at.LdV4()
		words = v[:]
	} else {
		v := at.LdV2()
		words = v[:]
	}
	for _, w := range words {
		lo, hi := build.Unpack2[build.F16](w)
		fs = append(fs, lo.CvtF32(), hi.CvtF32())
	}
	return fs
}

// scalarScores computes S = Q·Kᵀ, summed over D in order. A thread has TileM/8 neighbouring
// rows and TileN/16 columns that are 16 apart.
func (s *sharedScores) scalarScores() {
	const step = 8 // the elements of D that are computed at a time: 16 bytes
	g := s.g
	k := g.k
	rows, cols := g.c.TileM/down, g.c.TileN/across
	x, y := g.threadXY()
	row0 := y.MulLo(rows)
	sum := build.Vars(k.F32(0), rows*cols)
	k.Loop(0, g.d, step, func(at build.U32) {
		q := make([][]build.F32, rows)
		for i := range q {
			q[i] = g.floats(s.Q, row0.Add(i), at, step)
		}
		for j := range cols {
			kv := g.floats(s.K, x.Add(across*j), at, step)
			for i := range q {
				acc := sum[i*cols+j]
				for e := range kv {
					acc.Set(q[i][e].FmaRn(kv[e], acc.Get())) // S += q·k
				}
			}
		}
	})
	for i := range rows {
		for j := range cols {
			s.S.At(row0.Add(i), x.Add(across*j)).St(sum[i*cols+j].Get())
		}
	}
}

// scalarOutput has U in registers, summed over the keys in order. A thread has TileM/8
// neighbouring rows and D/16 neighbouring columns.
func (s *sharedScores) scalarOutput() output {
	const step = 4 // keys at a time: 16 bytes of P
	g := s.g
	k := g.k
	rows, cols := g.c.TileM/down, g.d/across
	x, y := g.threadXY()
	row0, col0 := y.MulLo(rows), x.MulLo(cols)
	U := build.Vars(k.F32(0), rows*cols)
	add := func() {
		for i := range rows {
			w := s.factor.At(row0.Add(i)).Ld()
			for j := range cols {
				u := U[i*cols+j]
				u.Set(u.Get().Mul(w, build.Rn))
			}
		}
		k.Loop(0, g.c.TileN, step, func(n build.U32) {
			p := make([][4]build.F32, rows)
			for i := range p {
				p[i] = s.S.At(row0.Add(i), n).LdV4()
			}
			for e := range step {
				v := g.floats(s.V, n.Add(e), col0, cols)
				for i := range p {
					for j := range v {
						u := U[i*cols+j]
						u.Set(p[i][e].FmaRn(v[j], u.Get())) // U += p·v
					}
				}
			}
		})
	}
	return output{add: add, store: func() {
		for i := range rows {
			r := row0.Add(i)
			norm, row := s.norm.At(r).Ld(), g.out.Row(s.it.Head, s.it.Row0.Add(r), col0)
			k.If(row.Exists, func() {
				for j := 0; j < cols; j += 2 {
					a, b := U[i*cols+j].Get().Mul(norm, build.Rn), U[i*cols+j+1].Get().Mul(norm, build.Rn)
					row.To.Plus(j / 2).St(g.out.Pair(a, b))
				}
			})
		}
	}}
}
