package tensor

import "github.com/GOATnote-Inc/attest/numeric/simd"

// If all terms of a block are truncated to 13 bits below the largest exponent, as wgmma does
// for fp8 factors, the sum fits in an f32, and the loop of package simd computes twice as many
// columns at a time as in f64. The method is that of fast.go with these differences:
//
//   - The sum starts at 1.5·2^23 units. A term is less than 2^15 units, and a block has 32.
//   - ε is 2^-18. Factors have four bits, so that the larger factor is exact in an f32.
//   - A fused multiply-add that rounds towards zero gives the floor of the exact sum. No term
//     is therefore too small.
//
// Blocks with an infinity or a NaN, and accumulators for which the unit or the sum is not a
// normal f32, are computed by the f64 path.
const largerNarrow = 1 + 0x1p-18

// narrowFactor is a decoded factor: values, exponents and signs of each line of 32 elements.
// For columns, the elements of eight columns are side by side.
type narrowFactor struct {
	loaded  bool
	special bool      // an element is an infinity or a NaN
	words   []uint32  // the packed elements, for the f64 path
	wide    bool      // the factor has also been decoded to f64
	val     []float32 // for rows, multiplied by 1+ε
	exps    []uint64  // as in factor, but without the top bits of lanes
	// For rows two words per row, for columns sixteen per panel: the bits of the negative
	// elements, then the bits of the elements that are not zero.
	signs []uint32
}

// narrow reports whether a factor with that number of lines, which must be a multiple of
// even, can be multiplied in f32.
func (f *Float) narrow(lines, even, k int) bool {
	return vector && lines%even == 0 && k == maxLength && f.rule.keep == 13 && f.rule.length == maxLength && !f.rule.half
}

// narrowTable holds, for each fp8, its value, its biased exponent or 0 for a zero, and
// whether it is an infinity or a NaN.
type narrowTable struct {
	val, larger [256]float32
	exp         [256]uint8
	special     [256]bool
}

var narrowTables = map[Kind]*narrowTable{E4M3: newNarrowTable(&valuesE4M3, E4M3), E5M2: newNarrowTable(&valuesE5M2, E5M2)}

func newNarrowTable(values *[256]float64, k Kind) *narrowTable {
	t := &narrowTable{}
	for i, v := range values {
		t.val[i], t.larger[i], t.special[i] = float32(v), float32(v*largerNarrow), special(v)
		if v != 0 && !t.special[i] {
			t.exp[i] = uint8(exponent(v, kindInfo[k].minExp) + bias8)
		}
	}
	return t
}

func (x *narrowFactor) begin(words []uint32, elements, signs int) {
	x.words = append(x.words[:0], words...)
	x.wide, x.special = false, false
	x.val, x.signs = resize(x.val, elements), resize(x.signs, signs)
}

func (x *narrowFactor) loadRows(kind Kind, m int, words []uint32) {
	t := narrowTables[kind]
	x.begin(words, m*maxLength, 2*m)
	x.exps = resize(x.exps, m*maxLength)
	for i := range m {
		val, exps := (*[maxLength]float32)(x.val[i*maxLength:]), (*[maxLength]uint64)(x.exps[i*maxLength:])
		var negative, some uint32
		for e := range val {
			b := uint8(words[i*maxLength/4+e/4] >> (e % 4 * 8))
			val[e], exps[e] = t.larger[b], uint64(t.exp[b])*every8
			negative |= uint32(b>>7) << e
			if t.exp[b] != 0 {
				some |= 1 << e
			}
			x.special = x.special || t.special[b]
		}
		x.signs[2*i], x.signs[2*i+1] = negative, some
	}
}

func (x *narrowFactor) loadCols(kind Kind, n int, words []uint32) {
	t := narrowTables[kind]
	x.begin(words, n*maxLength, 2*n)
	x.exps = resize(x.exps, n/panel*maxLength)
	for p := range n / panel {
		val, exps := (*[maxLength * panel]float32)(x.val[p*maxLength*panel:]), (*[maxLength]uint64)(x.exps[p*maxLength:])
		from, signs := words[p*panel*maxLength/4:], (*[2 * panel]uint32)(x.signs[p*2*panel:])
		*signs = [2 * panel]uint32{}
		for e := range maxLength {
			var lanes uint64
			for l := range panel {
				b := uint8(from[l*maxLength/4+e/4] >> (e % 4 * 8))
				val[e*panel+l] = t.val[b]
				lanes |= uint64(t.exp[b]) << (8 * l)
				signs[l] |= uint32(b>>7) << e
				if t.exp[b] != 0 {
					signs[panel+l] |= 1 << e
				}
				x.special = x.special || t.special[b]
			}
			exps[e] = lanes
		}
	}
}

// widen decodes factors to f64 that have been decoded only for the narrow loop.
func (f *Float) widen(a *Rows, b *Cols) {
	if x := &a.narrow; x.loaded && !x.wide {
		f.decodeA(a, a.lines, maxLength, x.words)
		x.wide = true
	}
	if x := &b.narrow; x.loaded && !x.wide {
		f.decodeB(b, b.lines, maxLength, x.words)
		x.wide = true
	}
}

// mulAddNarrow computes the product in f32. It reports false, without a result, if a factor
// has an infinity or a NaN.
func (f *Float) mulAddNarrow(d []uint32, a *Rows, b *Cols, c []uint32) bool {
	if a.narrow.special || b.narrow.special {
		return false
	}
	n := b.lines
	for p := 0; p < n/panel; p += 2 {
		for i := 0; i < a.lines; {
			at := i*n + p*panel
			s := simd.Narrow{
				Pairs: int64(a.lines-i) / 2,
				AExps: &a.narrow.exps[i*maxLength], X: &a.narrow.val[i*maxLength], ASigns: (*[2]uint32)(a.narrow.signs[2*i:]),
				BExps: &b.narrow.exps[p*maxLength], Y: &b.narrow.val[p*maxLength*panel], BSigns: (*[2 * panel]uint32)(b.narrow.signs[p*2*panel:]),
				C: &zeroC[0], D: &d[at], DStep: int64(4 * n),
			}
			if c != nil {
				s.C, s.CStep = &c[at], s.DStep
			}
			s.Run()
			if i += 2 * int(s.Done); i < a.lines {
				f.widen(a, b)
				f.mulAddPanel(d, a, b, c, p, i, i+2)
				f.mulAddPanel(d, a, b, c, p+1, i, i+2)
				i += 2
			}
		}
	}
	return true
}
