// The part of CUDA C++ that clang needs to compile a kernel to PTX on a machine without
// CUDA. attest ptx cuda-header prints this file; use it like this:
//
//   attest ptx cuda-header > attest_cuda.h
//   clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib \
//     -include attest_cuda.h -O2 -gline-tables-only -S -o kernel.ptx kernel.cu
//
// It has qualifiers, vector types, thread indices, barriers, asynchronous copies, shuffles,
// atomics and arithmetic. It has no textures, no host API and no half-precision types. expf, exp2f,
// logf, log2f, sqrtf, rsqrtf and division compute what nvcc -use_fast_math computes.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define ATTEST_FN static __device__ __forceinline__

typedef __SIZE_TYPE__ size_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

#define ATTEST_VECTORS(T, name)                                                        \
  struct name##2 { T x, y; };                                                          \
  struct name##3 { T x, y, z; };                                                       \
  struct name##4 { T x, y, z, w; };                                                    \
  ATTEST_FN name##2 make_##name##2(T x, T y) { return {x, y}; }                        \
  ATTEST_FN name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
ATTEST_VECTORS(int, int)
ATTEST_VECTORS(unsigned, uint)
ATTEST_VECTORS(float, float)
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

#include <__clang_cuda_builtin_vars.h> // threadIdx, blockIdx, blockDim, gridDim, warpSize

ATTEST_FN void __syncwarp(unsigned mask = 0xffffffff) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }
ATTEST_FN void __threadfence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
ATTEST_FN void __threadfence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }

ATTEST_FN size_t __cvta_generic_to_shared(const void *p) { return (size_t)(const void __attribute__((address_space(3))) *)p; }
ATTEST_FN size_t __cvta_generic_to_global(const void *p) { return (size_t)(const void __attribute__((address_space(1))) *)p; }

// cuda_pipeline.h: macros and not functions, so that findings name the caller's line.
#define __pipeline_memcpy_async(shared, global, bytes)                                 \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(shared)), \
               "l"(__cvta_generic_to_global(global)), "n"(bytes) : "memory")
#define __pipeline_commit() asm volatile("cp.async.commit_group;" ::: "memory")
#define __pipeline_wait_prior(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")

#define ATTEST_SHUFFLE(name, mode, clamp)                                              \
  ATTEST_FN unsigned name(unsigned mask, unsigned v, unsigned at, int width = 32) {    \
    unsigned r;                                                                        \
    asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;"                          \
                 : "=r"(r) : "r"(v), "r"(at), "r"((32 - width) << 8 | clamp), "r"(mask)); \
    return r;                                                                          \
  }                                                                                    \
  ATTEST_FN int name(unsigned mask, int v, unsigned at, int width = 32) {              \
    return name(mask, (unsigned)v, at, width);                                         \
  }                                                                                    \
  ATTEST_FN float name(unsigned mask, float v, unsigned at, int width = 32) {          \
    return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(unsigned, v), at, width)); \
  }
ATTEST_SHUFFLE(__shfl_sync, "idx", 31)
ATTEST_SHUFFLE(__shfl_up_sync, "up", 0)
ATTEST_SHUFFLE(__shfl_down_sync, "down", 31)
ATTEST_SHUFFLE(__shfl_xor_sync, "bfly", 31)

ATTEST_FN int atomicAdd(int *p, int v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
ATTEST_FN unsigned atomicAdd(unsigned *p, unsigned v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
ATTEST_FN float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
ATTEST_FN unsigned atomicCAS(unsigned *p, unsigned expected, unsigned v) {
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

#define ATTEST_UNARY(name, op)                                                         \
  ATTEST_FN float name(float x) { float r; asm(op ".f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
ATTEST_UNARY(exp2f, "ex2.approx.ftz")
ATTEST_UNARY(log2f, "lg2.approx.ftz")
ATTEST_UNARY(sqrtf, "sqrt.approx.ftz")
ATTEST_UNARY(rsqrtf, "rsqrt.approx.ftz")
ATTEST_FN float expf(float x) { return exp2f(x * 1.4426950408889634f); }
ATTEST_FN float __expf(float x) { return expf(x); }
ATTEST_FN float logf(float x) { return log2f(x) * 0.6931471805599453f; }
ATTEST_FN float __logf(float x) { return logf(x); }
ATTEST_FN float fabsf(float x) { return __builtin_fabsf(x); }
ATTEST_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
ATTEST_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
ATTEST_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
#define ATTEST_MINMAX(T)                                                               \
  ATTEST_FN T min(T a, T b) { return a < b ? a : b; }                                  \
  ATTEST_FN T max(T a, T b) { return a > b ? a : b; }
ATTEST_MINMAX(int)
ATTEST_MINMAX(unsigned)
ATTEST_FN float min(float a, float b) { return fminf(a, b); }
ATTEST_FN float max(float a, float b) { return fmaxf(a, b); }
#define INFINITY __builtin_inff()
