package tensor

// MulAdd computes d = c + a·b: d and c have one row of n elements for each row of a, one
// element per word (an f16 is in the low half). A nil c means zero. d and c may be the same
// slice. Products with the same factors must not run at the same time, because the factors hold
// working memory.
func (f *Float) MulAdd(d []uint32, a *Rows, b *Cols, c []uint32) {
	if vector && a.narrow.loaded && b.narrow.loaded && f.mulAddNarrow(d, a, b, c) {
		return
	}
	f.widen(a, b)
	for p := range (b.lines + panel - 1) / panel {
		f.mulAddPanel(d, a, b, c, p, 0, a.lines)
	}
}

// mulAddPanel computes the elements of the rows from first to last-1 in panel p.
func (f *Float) mulAddPanel(d []uint32, a *Rows, b *Cols, c []uint32, p, first, last int) {
	for i := first + f.sweep(d, a, b, c, p, first, last); i < last; i += f.sweep(d, a, b, c, p, i, last) {
		f.mulAddRow(d, a, b, c, p, i)
		i++
	}
}

// mulAddRow computes the elements of row i and panel p.
func (f *Float) mulAddRow(d []uint32, a *Rows, b *Cols, c []uint32, p, i int) {
	n := b.lines
	width := min(panel, n-p*panel)
	at := i*n + p*panel
	var w tile
	if c != nil && !f.rule.twoPass {
		f.values(w.acc[:width], c[at:at+width])
	}
	for t := range a.blocks {
		f.add(&w, a, b, i, p, t)
	}
	if c != nil && f.rule.twoPass {
		f.addC(w.acc[:width], c[at:at+width])
	}
	f.store(d[at:at+width], w.acc[:width])
}

// values decodes accumulators.
func (f *Float) values(acc []float64, c []uint32) {
	acc = acc[:len(c)]
	if f.rule.half {
		for l, bits := range c {
			acc[l] = valueF16(bits)
		}
		return
	}
	for l, bits := range c {
		acc[l] = valueF32(bits)
	}
}

// addC adds c after the products, with an ordinary addition.
func (f *Float) addC(acc []float64, c []uint32) {
	var add [panel]float64
	f.values(add[:], c)
	for l := range c {
		if sum := acc[l] + add[l]; f.rule.half {
			acc[l] = valueF16(bitsF16(sum))
		} else {
			acc[l] = float64(float32(sum))
		}
	}
}

func (f *Float) store(d []uint32, acc []float64) {
	d = d[:len(acc)]
	if f.rule.half {
		for l, x := range acc {
			d[l] = bitsF16(x)
		}
		return
	}
	for l, x := range acc {
		d[l] = bitsF32(x)
	}
}
