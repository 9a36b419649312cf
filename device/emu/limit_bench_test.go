package emu

import "testing"

// BenchmarkLimit measures the arithmetic of the other benchmarks without the emulator: Go
// loops over the lanes of a warp, and a product of matrices. Its results are upper limits for
// the results of the other benchmarks on the same processor.
func BenchmarkLimit(b *testing.B) {
	b.Run("u32", limitU32)
	b.Run("fma", limitFma)
	b.Run("product", limitProduct)
}

func limitU32(b *testing.B) {
	var x, y, z [32]uint32
	for b.Loop() {
		for l := range x {
			x[l] = (x[l]*y[l] + z[l] + y[l]) ^ z[l]
		}
	}
	b.ReportMetric(3*32*float64(b.N)/1e6/b.Elapsed().Seconds(), "Minst/s")
}

func limitFma(b *testing.B) {
	var x, y, z [32]float32
	for b.Loop() {
		for l := range x {
			x[l] = x[l]*y[l] + z[l]
		}
	}
	b.ReportMetric(32*float64(b.N)/1e6/b.Elapsed().Seconds(), "Minst/s")
}

// limitProduct computes a product with the shape of a warp's part of a wgmma. It computes
// four sums at a time, which is enough to keep the adder busy.
func limitProduct(b *testing.B) {
	const m, n, k = 16, 128, 32
	var x [m][k]float32
	var y [n][k]float32
	var d [m][n]float32
	for b.Loop() {
		for i := range m {
			for j := 0; j < n; j += 4 {
				p, q, r, s := d[i][j], d[i][j+1], d[i][j+2], d[i][j+3]
				for e, v := range x[i] {
					p, q, r, s = p+v*y[j][e], q+v*y[j+1][e], r+v*y[j+2][e], s+v*y[j+3][e]
				}
				d[i][j], d[i][j+1], d[i][j+2], d[i][j+3] = p, q, r, s
			}
		}
	}
	b.ReportMetric(2*m*n*k*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
}
