package scalar

import (
	"math"
	"math/rand/v2"
)

const recordCount = 4096

// probeRecords returns the operands: a quarter each for f64, f32, the 16-bit formats and
// integers. All probes use all records, because an operand for one type is a random operand
// for another.
func probeRecords() []record {
	rng := rand.New(rand.NewPCG(8, 4))
	pick := func(list []uint64) uint64 { return list[rng.IntN(len(list))] }
	f64s, f32s := oF64.edges(), oF32.edges()
	halves := append(oF16.edges(), oBF16.edges()...)
	ints := edgeInts()
	list := make([]record, recordCount)
	for i := range list {
		for j := range list[i] {
			x, high := rng.Uint64(), rng.Uint64()<<32
			plain := rng.IntN(4) == 0 // some operands are ordinary numbers
			switch i * 4 / recordCount {
			case 0:
				if !plain {
					x = pick(f64s)
				}
			case 1:
				x = high | pick(f32s)
				if plain {
					x = high | uint64(rng.Uint32N(1<<24))<<6 + 0x30000000
				}
			case 2:
				x = high | uint64(rng.Uint32())<<16 | pick(halves)
			case 3:
				x = pick(ints)
				if rng.IntN(3) == 0 {
					x = high | x&0xffffffff // an edge value in each half
				}
			}
			list[i][j] = x
		}
	}
	return list
}

// edgeInts returns the limits of the integer types and small numbers, which are also shift
// counts, positions and lengths.
func edgeInts() (list []uint64) {
	for n := range uint64(70) {
		list = append(list, n)
	}
	for n := range 64 {
		list = append(list, 1<<n, 1<<n-1, -(1 << n), -(1<<n + 1))
	}
	return append(list, 127, 128, 200, 255, 256, 257, 264, 0x100000004, 0x5410, 0x7632, 0xba98fedc, 0x12345678)
}

// edgeRecords returns records for three special cases: results just below the smallest normal
// number, f64 numbers that round to it, and all 16-bit NaNs.
func edgeRecords() []record {
	rng := rand.New(rand.NewPCG(9, 0))
	var list []record
	for len(list) < 900 {
		list = append(list, edgeF32(rng))
	}
	for len(list) < 1024 {
		x := math.Ldexp(1, -126) * (1 + float64(rng.IntN(9)-5)*math.Ldexp(1, -20-rng.IntN(33)))
		list = append(list, record{math.Float64bits(x) | rng.Uint64()&(1<<63), rng.Uint64(), rng.Uint64(), rng.Uint64()})
	}
	for len(list) < 2048 {
		list = append(list, edgeF16(rng))
	}
	for h := range uint64(1 << 16) {
		if mag := h & 0x7fff; mag > 0x7c00 {
			list = append(list, record{h<<48 | h<<16 | h, 0x3c00, 0x3c00, h})
		}
	}
	for len(list) < recordCount {
		list = append(list, record{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()})
	}
	return list
}

// edgeF32 returns operands with a product, a quotient or a reciprocal close to 2^-126, and an
// addend such that the sum is also close to it.
func edgeF32(rng *rand.Rand) record {
	const border = 0x1p-126
	near := func(x float64) uint64 {
		return uint64(math.Float32bits(float32(x))) + uint64(rng.IntN(7)) - 3
	}
	b := uint64(rng.Uint32N(1<<23)) | uint64(67+rng.IntN(120))<<23
	if rng.IntN(3) == 0 {
		b = b>>23<<23 + uint64(rng.IntN(5)) - 2
	}
	y := float64(math.Float32frombits(uint32(b)))
	a, c := near(border/y), uint64(0)
	switch rng.IntN(4) {
	case 0:
		a = near(border * y)
	case 1:
		a = near(0x1p126)
	case 2:
		// The product with the other sign, and twice the limit.
		a |= 1 << 31
		c = near(2 * border)
	}
	flip := func() uint64 { return uint64(rng.IntN(2)) << 31 }
	return record{a ^ flip(), b ^ flip(), c ^ flip(), rng.Uint64()}
}

// edgeF16 is edgeF32 for numbers close to 2^-14.
func edgeF16(rng *rand.Rand) record {
	const border = 0x1p-14
	near := func(x float64) uint64 {
		return uint64(CvtF16F32(math.Float32bits(float32(x)))) + uint64(rng.IntN(5)) - 2
	}
	b := uint64(rng.IntN(1<<10)) | uint64(8+rng.IntN(14))<<10
	a, c := near(border/float64(floatF16(uint16(b)))), uint64(0)
	if rng.IntN(3) == 0 {
		a |= 1 << 15
		c = near(2 * border)
	}
	flip := func() uint64 { return uint64(rng.IntN(2)) << 15 }
	return record{a ^ flip(), b ^ flip(), c ^ flip(), rng.Uint64()}
}
