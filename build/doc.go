// Package build writes kernels in Go, one PTX instruction per call.
//
//	k := build.New("saxpy", ptx.SM80)
//	x, y := ParamGlobal[F32](k, "x"), ParamGlobal[F32](k, "y")
//	a, n := k.ParamF32("a"), k.ParamU32("n")
//	i := k.CtaidX().MadLo(k.NtidX(), k.TidX()) // mad.lo.u32
//	k.If(i.SetpLt(n), func() {                 // setp.lt.u32
//		y.At(i).St(a.FmaRn(x.At(i).Ld(), y.At(i).Ld()))
//	})
//	text, err := k.PTX()
//
// # Values
//
// A [Kernel] makes values, and the methods of values compute with them. A value is a
// virtual register or a constant; ptxas allocates the real registers. PTX types are Go
// types: [U32], [F32], [F16x2], [Pred]. [Cast] reads a value's bits as another type and
// emits nothing.
//
// Methods have PTX's names in CamelCase, without what the Go types already say.
// Modifiers that PTX makes mandatory are part of the name (fma.rn is FmaRn); optional
// ones are arguments at the end ([Ftz], [Sat]). The methods are generated from the
// instruction table in ptx/isa. Each one's comment gives the syntax, the least
// architecture and the least PTX version.
//
// # Immediates
//
// A Go number may stand wherever the instruction takes an immediate: x.Shr(5), x.Max(0.5),
// k.Loop(0, n, 1, …). Such parameters have the type [Int], [Float] or [Operand], which
// also take a register. The call checks what it gets.
//
// # Control flow
//
// Go's own for and if run while the kernel is written: they unroll and choose. Only
// [Kernel.If], [Kernel.Loop], [Kernel.While], [Kernel.Until] and [Kernel.Switch] emit
// branches, with their bodies as closures. A value made inside such a body is not known
// outside it. State that a loop carries, or that a branch leaves behind, is a [Var] with
// Get and Set.
//
// # Memory
//
// An address has the type of its elements and of its state space: [Global], [Shared],
// [SharedCluster], [Generic]. At and Plus move it, Ld and St access it, Atom and Red are
// atomics. [SharedArray] declares a shared array; the launch decides the size of
// [Kernel.DynamicShared].
//
// # Matrix products
//
// [Kernel.Mma], [Kernel.WmmaMma] and [Kernel.WgmmaMmaAsync] take shape, layouts and types
// as arguments, in an [MmaForm] or a [WgmmaForm]. Their comments list the forms that exist.
// Package build/tile has matrices in registers and in shared memory on top of them.
//
// # Errors and warnings
//
// A misuse does not panic. The kernel keeps it with the author's own file and line, and
// [Kernel.PTX] reports up to ten of them at once, together with what ptx/verify finds to be
// wrong, such as constant indices beyond a shared variable. The author's lines also go into
// the PTX as .loc.
//
// [Kernel.Warnings] returns what the verifier finds doubtful: a program that writes kernels
// should print it. [Kernel.Strict] makes warnings errors, so that nobody can miss them; the
// kernels of this repository use it.
package build

//go:generate go run ../internal/buildgen
