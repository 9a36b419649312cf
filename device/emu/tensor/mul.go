package tensor

// MulAdd is d = c + a·b: d and c have a row of n elements for each row of a, one
// element a word (an f16 in the low half). A nil c is zero. d and c may be the
// same slice.
func (f *Float) MulAdd(d []uint32, a *Rows, b *Cols, c []uint32) {
	n, lanes := b.lines, 8
	if f.a.wide() {
		lanes = 4
	}
	var accs [8]float64
	for j := 0; j < n; j += lanes {
		acc := accs[:min(lanes, n-j)]
		for i := range a.lines {
			at := i*n + j
			clear(acc)
			if c != nil && !f.rule.twoPass {
				f.values(acc, c[at:])
			}
			for block := range a.blocks {
				f.block(acc, a, b, i, j, block)
			}
			if c != nil && f.rule.twoPass {
				f.addC(acc, c[at:])
			}
			f.store(d[at:], acc)
		}
	}
}

// values decodes accumulators.
func (f *Float) values(acc []float64, c []uint32) {
	for l := range acc {
		acc[l] = f.value(c[l])
	}
}

func (f *Float) value(c uint32) float64 {
	if f.rule.half {
		return valueF16(c)
	}
	return valueF32(c)
}

// addC is the ordinary addition of c after the products.
func (f *Float) addC(acc []float64, c []uint32) {
	for l := range acc {
		sum := acc[l] + f.value(c[l])
		if f.rule.half {
			acc[l] = valueF16(bitsF16(sum))
		} else {
			acc[l] = float64(float32(sum))
		}
	}
}

func (f *Float) store(d []uint32, acc []float64) {
	for l, x := range acc {
		if f.rule.half {
			d[l] = bitsF16(x)
		} else {
			d[l] = bitsF32(x)
		}
	}
}
