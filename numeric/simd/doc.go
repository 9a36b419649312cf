// Package simd implements the emulator's innermost loops in assembly: the sums of tensor cores,
// and arithmetic and approximate functions on the 32 lanes of a warp. The loops need AVX2, FMA and
// F16C on amd64, and NEON, which every processor has, on arm64.
//
// On amd64, the sums of tensor cores have loops on two rows at a time, too, and for AVX-512 if
// [HasWide] is true. On other processors, [Has] is false, and the callers use their own loops in
// Go. Tests here and in the callers check that all of them give the same bits.
//
// The programs in asm generate the assembly. They are a separate module, so that building the
// emulator does not need the generator. Go's assembler for arm64 does not know some of NEON's
// instructions; those are numbers with the instruction beside them.
package simd

//go:generate go run -C asm . -out ../zsimd_amd64.s
//go:generate go run -C asm ./neon -out ../zsimd_arm64.s
