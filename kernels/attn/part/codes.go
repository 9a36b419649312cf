package part

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// Codes computes a share of the weights without the special function units. The e4m3 code of 2^x is
// 8·(x+7) if x is a whole number, and at most 0.69 less between two whole numbers. So a multiplication
// and an addition of the score give the code, less the mean of this difference. For a sixth of all x the
// rounded code is off by one. It is right for powers of two, so the largest weight of a tile stays exact.
// Weights below 2^-6 come out too small, and those below 2^-7, a 32768th of the largest one, are 0.
//
// A word of four codes takes nine instructions, one less than four exponentials and their conversions.
// Each of these exponentials occupies its special function unit for eight cycles.
type Codes struct {
	// Every computes one word of four weights in this many: 0 computes none.
	Every int
}

// codeOffset is what is added to the logarithm of a weight before it is multiplied by 8: the bias of e4m3
// less an eighth of the mean difference between 8·(x+7) and the code.
const codeOffset = 7 - 0.0573

// word reports whether word w of group i is computed as codes: a lane has four words for each 32 keys. The
// lane's two rows take turns.
func (c Codes) word(i, w int) bool {
	return c.Every > 0 && (5*i+w)%c.Every == c.Every-1
}

// E4M3 returns the weights of the tile's columns [from, to) in e4m3, in the order of [tile.PackE4M3], and the
// last weight before rounding that is not a code. It is for softmaxes with Codes.
func (t *Tile) E4M3(from, to int) (P tile.Bytes8, last build.F32) {
	t.comment(from, to)
	t.K.Comment(fmt.Sprintf("one word in %d as codes: 8·(c·S-c·m%+g)", t.Codes.Every, t.Lift+codeOffset))
	const group = 16 // elements of a lane in 32 columns
	for first := t.elements(from); first < t.elements(to); first += group {
		var words [4]build.B32
		for w := range words {
			at := first + w/2*8 + w%2*2
			if t.Codes.word(first/group, w) {
				words[w] = t.codes(at)
				t.sumCodes(words[w], w%2)
			} else {
				x := t.four(at)
				words[w] = tile.PackE4M3x4(x)
				t.sumFour(x, w%2)
				last = x[3]
			}
		}
		P = append(P, words)
	}
	return P, last
}

// four returns the weights of elements at, at+1, at+4 and at+5, which are in one row.
func (t *Tile) four(at int) (x [4]build.F32) {
	for e, i := range [4]int{at, at + 1, at + 4, at + 5} {
		x[e] = t.weight(i)
	}
	return x
}

// codes returns the word of the same four weights as codes.
func (t *Tile) codes(at int) build.B32 {
	if t.coded == nil {
		for _, shift := range t.shift {
			t.coded = append(t.coded, shift.Add(codeOffset, build.Rn))
		}
	}
	var x [4]build.F32
	for e, i := range [4]int{at, at + 1, at + 4, at + 5} {
		x[e] = t.S.Get(i).FmaRn(t.c, t.coded[i/2%t.S.Slots()])
	}
	return codeWord(t.K, x)
}

// codeWord returns the codes of four weights, the first in the lowest byte. x are the logarithms of the weights
// plus codeOffset. In f16, 1024 + 8·x is rounded to a whole number, which is left in the low byte. A NaN leaves
// the code of a NaN there. The score of a masked key is -∞, and its code 0.
func codeWord(k *build.Kernel, x [4]build.F32) build.B32 {
	const eights, magic = 0x48004800, 0x64006400 // 8 and 8, 1024 and 1024
	pair := func(lo, hi build.F32) build.B32 {
		return build.Cast[build.B32](hi.CvtRnF16x2(lo, build.Relu).FmaRn(k.F16x2(eights), k.F16x2(magic)))
	}
	return pair(x[0], x[1]).Prmt(pair(x[2], x[3]), k.B32(0x6420))
}
