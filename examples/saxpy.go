package examples

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Saxpy computes y = a·x + y over n elements, one element per thread.
//
// Launch: as many blocks as are needed to cover n elements.
func Saxpy() *build.Kernel {
	k := build.New("saxpy", ptx.SM80)
	x, y := build.ParamGlobal[build.F32](k, "x"), build.ParamGlobal[build.F32](k, "y")
	a, n := k.ParamF32("a"), k.ParamU32("n")

	i := k.CtaidX().MadLo(k.NtidX(), k.TidX()) // i = ctaid.x · ntid.x + tid.x
	k.If(i.SetpLt(n), func() {
		yi := y.At(i)
		yi.St(a.FmaRn(x.At(i).Ld(), yi.Ld()))
	})
	return k
}
