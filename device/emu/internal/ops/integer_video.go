package ops

func init() {
	build("vabsdiff2", func(d *decoder, x *inst) exec { return buildAbsDiff(d, x, 16) })
	build("vabsdiff4", func(d *decoder, x *inst) exec { return buildAbsDiff(d, x, 8) })
}

// buildAbsDiff builds the absolute differences of parts of words, width bits each. The
// results are packed into a word, or added up.
func buildAbsDiff(d *decoder, x *inst, width int) exec {
	if x.Has("add") {
		return op3(d, x, func(a, b, c uint32) uint32 {
			for at := 0; at < 32; at += width {
				c += absDiffAt(a, b, at, width)
			}
			return c
		})
	}
	return op3(d, x, func(a, b, _ uint32) (r uint32) {
		for at := 0; at < 32; at += width {
			r |= absDiffAt(a, b, at, width) << at
		}
		return r
	})
}

func absDiffAt(a, b uint32, at, width int) uint32 {
	part := uint32(1)<<width - 1
	a, b = a>>at&part, b>>at&part
	return max(a, b) - min(a, b)
}
