package tensor

import (
	"math"

	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// survey computes the exponents, signs and smallest exponents of the rows.
func (r *Rows) survey(kind Kind) {
	if !vector {
		r.surveyPlain(kind)
		return
	}
	s := r.simd()
	s.Large = &r.large[0]
	s.Tiles = int64(len(r.signs))
	if kind.wide() {
		s.Rows16()
	} else {
		s.Rows8()
	}
}

// survey computes the exponents, signs and smallest exponents of the columns.
func (c *Cols) survey(kind Kind) {
	if !vector {
		c.surveyPlain(kind)
		return
	}
	s := c.simd()
	s.Tiles = int64(len(c.signs) / panel)
	if kind.wide() {
		s.Cols16()
	} else {
		s.Cols8()
	}
}

func (x *factor) simd() simd.Survey {
	return simd.Survey{Length: int64(x.length), Val: &x.val[0], Exps: &x.exps[0], Signs: &x.signs[0], Low: &x.low[0], MinExp: int64(1023 + x.minExp)}
}

func (r *Rows) surveyPlain(kind Kind) {
	every, top := uint64(every8), uint64(top8)
	if kind.wide() {
		every, top = every16, top16
	}
	var lanes [maxLength]uint16
	for b := range r.signs {
		val := r.val[b*r.length:][:r.length]
		r.signs[b], r.low[b] = surveyBlock(&lanes, val, r.minExp, kind.bias())
		large, exps := r.large[b*r.length:][:len(val)], r.exps[b*r.length:][:len(val)]
		for e, v := range val {
			large[e] = v * larger
			exps[e] = uint64(lanes[e%maxLength])*every | top
		}
	}
}

func (c *Cols) surveyPlain(kind Kind) {
	perWord, bits := 8, 8
	if kind.wide() {
		perWord, bits = 4, 16
	}
	clear(c.exps)
	var lanes [maxLength]uint16
	var block [maxLength]float64
	for line := range c.signs {
		tile, column := line/panel, line%panel
		from := c.val[tile*c.length*panel+column:]
		for e := range c.length {
			block[e] = from[e*panel]
		}
		signs, low := surveyBlock(&lanes, block[:c.length], c.minExp, kind.bias())
		// The halves are exchanged, so that an AND with the signs of a row gives the negative
		// products.
		c.signs[line], c.low[line] = signs<<32|signs>>32, low
		exps, shift := c.exps[line/perWord*c.length:][:c.length], column%perWord*bits
		for e := range exps {
			exps[e] |= uint64(lanes[e%maxLength]) << (shift & 63)
		}
	}
}

// surveyBlock computes the biased exponents of the elements of a block, the bits of positive
// and negative elements, and the exponent of the smallest element.
func surveyBlock(lanes *[maxLength]uint16, block []float64, minExp, bias int) (signs uint64, low int32) {
	least, most := noneLow, 0
	for i, v := range block[:min(len(block), maxLength)] {
		u := math.Float64bits(v)
		if u<<1 == 0 {
			lanes[i] = 0
			continue
		}
		e := int(u<<1>>53) - 1023
		least, most = min(least, e), max(most, e)
		lanes[i] = uint16(max(e, minExp) + bias)
		signs |= 1 << ((uint64(i) + u>>63<<5) & 63)
	}
	if most == 1024 {
		return signs, noFast
	}
	return signs, int32(least)
}
