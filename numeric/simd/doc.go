// Package simd implements the emulator's innermost loops in assembly, for amd64 processors
// with AVX2 and FMA: the sums of tensor cores, and f32 arithmetic on the 32 lanes of a warp.
// The sums of tensor cores have loops for AVX-512, too, if [HasWide] is true. On other
// processors, [Has] is false and the callers use their own loops in Go. Tests of the callers
// check that all of them give the same bits.
//
// The program in asm generates the assembly. It is a separate module, so that building the
// emulator does not need the generator.
package simd

//go:generate go run -C asm . -out ../zsimd_amd64.s
