package scalar

import (
	"math/rand/v2"
	"testing"
)

// The benchmarks run over the 32 lanes of a warp and report the time of one lane.

const lanes = 32

// warp holds ordinary numbers: exponents within ±8 of one, any sign and fraction.
type warp struct{ d, a, b, c [lanes]uint32 }

func newWarp() *warp {
	rng := rand.New(rand.NewPCG(1, 2))
	w := new(warp)
	for i := range lanes {
		for _, x := range []*uint32{&w.a[i], &w.b[i], &w.c[i]} {
			*x = rng.Uint32()&0x807fffff | (119+rng.Uint32N(16))<<23
		}
	}
	return w
}

func perLane(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lanes, "ns/lane")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkAddF32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = AddF32(w.a[i], w.b[i])
		}
	}
	perLane(b)
}

func BenchmarkMulF32Ftz(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = FtzF32(MulF32(FtzF32(w.a[i]), FtzF32(w.b[i])))
		}
	}
	perLane(b)
}

func BenchmarkFmaF32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = FmaF32(w.a[i], w.b[i], w.c[i])
		}
	}
	perLane(b)
}

func BenchmarkFmaF32Rm(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = FmaF32R(RM, w.a[i], w.b[i], w.c[i])
		}
	}
	perLane(b)
}

func BenchmarkDivF32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = DivF32(w.a[i], w.b[i])
		}
	}
	perLane(b)
}

func BenchmarkSqrtF32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = SqrtF32(w.a[i] & 0x7fffffff)
		}
	}
	perLane(b)
}

func BenchmarkMaxF32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = MaxF32(w.a[i], w.b[i])
		}
	}
	perLane(b)
}

func BenchmarkFmaF16(b *testing.B) {
	w := newWarp()
	for i := range lanes {
		w.a[i], w.b[i], w.c[i] = uint32(CvtF16F32(w.a[i])), uint32(CvtF16F32(w.b[i])), uint32(CvtF16F32(w.c[i]))
	}
	for b.Loop() {
		for i := range lanes {
			w.d[i] = uint32(FmaF16(uint16(w.a[i]), uint16(w.b[i]), uint16(w.c[i])))
		}
	}
	perLane(b)
}

func BenchmarkFmaBF16(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = uint32(FmaBF16(uint16(w.a[i]>>16), uint16(w.b[i]>>16), uint16(w.c[i]>>16)))
		}
	}
	perLane(b)
}

func BenchmarkCvtF16F32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = uint32(CvtF16F32(w.a[i]))
		}
	}
	perLane(b)
}

func BenchmarkCvtE4M3F32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = uint32(CvtE4M3F32(w.a[i]))
		}
	}
	perLane(b)
}

func BenchmarkPrmtB32(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = PrmtB32(w.a[i], w.b[i], 0x5410)
		}
	}
	perLane(b)
}

func BenchmarkLop3(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		for i := range lanes {
			w.d[i] = Lop3(w.a[i], w.b[i], w.c[i], 0x96)
		}
	}
	perLane(b)
}

func BenchmarkFmaF64(b *testing.B) {
	w := newWarp()
	var a, d [lanes]uint64
	for i := range lanes {
		a[i] = CvtF64F32(w.a[i])
	}
	for b.Loop() {
		for i := range lanes {
			d[i] = FmaF64(a[i], a[i^1], a[i^3])
		}
	}
	perLane(b)
}
