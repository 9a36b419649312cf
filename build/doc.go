// Package build writes kernels in Go, one PTX instruction a call.
//
// A [Kernel] makes values; values compute with each other; the calls are PTX's
// own names in CamelCase without what the Go types already say:
//
//	i := k.CtaidX().MadLo(k.NtidX(), k.TidX()) // mad.lo.u32
//	k.If(i.SetpLt(n), func() {                 // setp.lt.u32
//		y.At(i).St(a.FmaRn(x.At(i).Ld(), y.At(i).Ld()))
//	})
//
// Register types are Go types ([U32], [F32], [F16x2], [Pred] …) and so are the
// state spaces of addresses ([Global], [Shared] …): what PTX would reject for
// its types does not compile in Go. Modifiers that PTX makes mandatory are part
// of the name (fma.rn is FmaRn); those it leaves open come last (Ftz, Sat). The
// constructors are generated from ptx/isa, and each one's comment gives the
// syntax, the least architecture and the least PTX version.
//
// Go's own for and if run while the kernel is written: they unroll and choose.
// Only [Kernel.If], [Kernel.Loop], [Kernel.While] and [Kernel.Switch] emit
// branches, with their bodies as closures. A value made inside such a body is
// unknown outside it; what must live on, or change from one round of a loop to
// the next, is a [Var] with Set.
//
// A misuse does not panic. It is kept with the author's own file and line and
// reported, up to ten at once, by [Kernel.Module], which also runs ptx/verify.
// The same lines travel into the PTX as .loc.
package build

//go:generate go run ../internal/buildgen
