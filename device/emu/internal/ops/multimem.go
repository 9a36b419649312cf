package ops

// The emulator is one device, so multicast memory has one copy, and every global address may stand
// for it: a reduction of one value is the value.
func init() {
	build("multimem", func(d *decoder, x *inst) exec {
		switch {
		case x.Has("ld_reduce"):
			return buildLoad(d, x)
		case x.Has("st"):
			return buildStore(d, x)
		}
		return buildAtomic(d, x)
	})
}
