package tensor

import "math"

// oracleDot returns the bits of one element of a product.
func oracleDot(arch Arch, inst Inst, ka, kb, kd Kind, a, b []uint32, c uint32) uint32 {
	r, length := oracleOf(arch, inst, ka, kd)
	if ka.fp8() && arch == Hopper && inst == MMA {
		return oracleHopperFP8(r, ka, kb, kd, a, b, c)
	}
	acc := c
	for k := 0; k < len(a); k += length {
		end := min(k+length, len(a))
		acc = oracleBlock(r, oracleTerms(formats[ka], formats[kb], formats[kd], a[k:end], b[k:end], acc))
	}
	return acc
}

func oracleTerms(fa, fb, fd format, a, b []uint32, c uint32) []term {
	n := fd.decode(c)
	terms := []term{{num: n, nan: n.nan, inf: n.inf}}
	for k := range a {
		terms = append(terms, times(fa.decode(a[k]), fb.decode(b[k])))
	}
	return terms
}

// oracleHopperFP8 multiplies the elements as f16, first those with k mod 4 < 2, then the
// others, and adds c at the end.
func oracleHopperFP8(r oracleRule, ka, kb, kd Kind, a, b []uint32, c uint32) uint32 {
	var x, y [2][]uint32
	for k := range a {
		pass := k / 2 % 2
		x[pass] = append(x[pass], asF16(ka, a[k]))
		y[pass] = append(y[pass], asF16(kb, b[k]))
	}
	acc := uint32(0)
	for pass := range x {
		acc = oracleBlock(r, oracleTerms(formats[F16], formats[F16], formats[kd], x[pass], y[pass], acc))
	}
	if kd == F32 {
		s := math.Float32frombits(acc) + math.Float32frombits(c)
		if s != s {
			return 0x7fffffff
		}
		return math.Float32bits(s)
	}
	return oracleAddF16(acc, c)
}

// asF16 returns an fp8 number as f16.
func asF16(k Kind, bits uint32) uint32 {
	n := formats[k].decode(bits)
	switch {
	case n.nan:
		return 0x7fff
	case n.inf:
		return oracleRule{half: true}.inf(n.neg)
	case n.sig == 0:
		return oracleRule{half: true}.sign(n.neg)
	}
	return oracleRule{half: true}.round(n.units())
}

func oracleAddF16(a, b uint32) uint32 {
	r := oracleRule{half: true}
	x, y := formats[F16].decode(a), formats[F16].decode(b)
	switch {
	case x.nan || y.nan || x.inf && y.inf && x.neg != y.neg:
		return r.nan()
	case x.inf:
		return a
	case y.inf:
		return b
	case x.sig == 0 && y.sig == 0:
		return r.sign(x.neg && y.neg)
	}
	s := x.units()
	return r.round(s.Add(s, y.units()))
}

// oracleOf repeats the table of targets independently of the package.
func oracleOf(arch Arch, inst Inst, ka, kd Kind) (r oracleRule, length int) {
	half := kd == F16
	type key struct {
		arch Arch
		inst Inst
		kind Kind
	}
	kind := ka
	switch ka {
	case BF16:
		kind = F16
	case E5M2:
		kind = E4M3
	}
	row := map[key][3]int{
		{Ampere, MMA, F16}: {8, 24, 23}, {Ampere, WMMA, F16}: {8, 24, 23},
		{Ampere, MMA, TF32}: {4, 24, 23}, {Ampere, WMMA, TF32}: {4, 24, 23},
		{Ada, MMA, F16}: {8, 24, 23}, {Ada, WMMA, F16}: {8, 24, 23},
		{Ada, MMA, TF32}: {4, 24, 23}, {Ada, WMMA, TF32}: {4, 24, 23},
		{Ada, MMA, E4M3}:   {16, 13, 13},
		{Hopper, MMA, F16}: {16, 25, 23}, {Hopper, WMMA, F16}: {16, 25, 23},
		{Hopper, MMA, TF32}: {8, 25, 23}, {Hopper, WMMA, TF32}: {4, 25, 23},
		{Hopper, MMA, E4M3}:  {16, 25, 23},
		{Hopper, WGMMA, F16}: {16, 25, 23}, {Hopper, WGMMA, TF32}: {8, 25, 23},
		{Hopper, WGMMA, E4M3}: {32, 13, 13},
	}[key{arch, inst, kind}]
	if row[0] == 0 {
		panic("the oracle has no such product")
	}
	return oracleRule{keep: row[1], frac: row[2], half: half}, row[0]
}
