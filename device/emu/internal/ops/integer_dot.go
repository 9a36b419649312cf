package ops

import "github.com/GOATnote-Inc/attest/numeric/scalar"

func init() {
	build("dp4a", func(d *decoder, x *inst) exec { return buildDot(d, x, scalar.Dp4a) })
	build("dp2a", func(d *decoder, x *inst) exec {
		if x.Has("hi") {
			return buildDot(d, x, scalar.Dp2aHi)
		}
		return buildDot(d, x, scalar.Dp2aLo)
	})
}

// buildDot builds a dot product of parts of words. The last two modifiers are the types of
// the parts.
func buildDot(d *decoder, x *inst, fn func(a, b, c uint32, signedA, signedB bool) uint32) exec {
	signedA, signedB := x.Mod("atype") == "s32", x.Mod("btype") == "s32"
	return op3(d, x, func(a, b, c uint32) uint32 { return fn(a, b, c, signedA, signedB) })
}
