package tensor

// MulAdd is d = c + a·b: d and c have a row of n elements for each row of a, one
// element a word (an f16 in the low half). A nil c is zero. d and c may be the
// same slice.
func (f *Float) MulAdd(d []uint32, a *Rows, b *Cols, c []uint32) {
	n := b.lines
	for i := range a.lines {
		for j := range n {
			var acc float64
			if c != nil {
				acc = f.valueC(c[i*n+j])
			}
			d[i*n+j] = f.bits(f.dot(acc, a, b, i, j))
		}
	}
}

// dot is one element, every block by the rules.
func (f *Float) dot(c float64, a *Rows, b *Cols, i, j int) float64 {
	acc := c
	if f.rule.twoPass {
		acc = 0
	}
	length := a.depth / a.blocks
	x, y := a.val[i*a.depth:][:a.depth], b.val[j*b.depth:][:b.depth]
	for ; len(x) > 0; x, y = x[length:], y[length:] {
		acc = f.rule.round(f.rule.exact(acc, x[:length], y[:length], a.minExp, b.minExp))
	}
	if f.rule.twoPass {
		acc = f.addC(acc, c)
	}
	return acc
}

// addC is the ordinary addition of c after the products.
func (f *Float) addC(acc, c float64) float64 {
	if f.rule.half {
		return valueF16(bitsF16(acc + c))
	}
	return float64(float32(acc) + float32(c))
}

func (f *Float) valueC(bits uint32) float64 {
	if f.rule.half {
		return valueF16(bits)
	}
	return valueF32(bits)
}

func (f *Float) bits(x float64) uint32 {
	if f.rule.half {
		return bitsF16(x)
	}
	return bitsF32(x)
}
