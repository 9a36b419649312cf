// Half and bfloat16: operators, intrinsics, pairs, conversions, atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

extern "C" __global__ void half_arithmetic(const half *a, half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  half x = a[i], y = a[(i * 7 + 3) % n], z = a[(i * 5 + 1) % n], *o = out + i;
  *o = x + y, o += n;
  *o = x - y, o += n;
  *o = x * y, o += n;
  *o = x / y, o += n;
  *o = __hfma(x, y, z), o += n;
  *o = __hfma_sat(x, y, z), o += n;
  *o = __hfma_relu(x, y, z), o += n;
  *o = __hadd_sat(x, y), o += n;
  *o = __hmax(x, y), o += n;
  *o = __hmin_nan(x, y), o += n;
  *o = __habs(-x), o += n;
  *o = hfloor(x), o += n;
  *o = hrint(x), o += n;
  *o = __float2half(__half2float(x) + __hlt(x, y) + 2 * __hgeu(x, y) + 4 * __heq(x, x)), o += n;
}

extern "C" __global__ void half_functions(const half *a, half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  half x = a[i], *o = out + i;
  *o = hexp(x), o += n;
  *o = hexp2(x), o += n;
  *o = hlog(x), o += n;
  *o = hlog2(x), o += n;
  *o = hsqrt(x), o += n;
  *o = hrsqrt(x), o += n;
  *o = hrcp(x), o += n;
  *o = hsin(x), o += n;
  *o = hcos(x), o += n;
}

extern "C" __global__ void half_pairs(const half2 *a, half2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  half2 x = a[i], y = a[(i * 3 + 1) % n], *o = out + i;
  *o = x + y, o += n;
  *o = __hfma2(x, y, __floats2half2_rn(0.5f, -3)), o += n;
  *o = __hmul2_sat(x, y), o += n;
  *o = __hmax2(x, y), o += n;
  *o = __lows2half2(x, y), o += n;
  *o = __highs2half2(x, y), o += n;
  *o = __lowhigh2highlow(x), o += n;
  *o = __hgt2(x, y), o += n;
  *o = h2sqrt(x), o += n;
  *o = __hcmadd(x, y, x), o += n;
}

extern "C" __global__ void bf16_arithmetic(const __nv_bfloat16 *a, __nv_bfloat16 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat16 x = a[i], y = a[(i * 7 + 3) % n], z = a[(i * 5 + 1) % n], *o = out + i;
  *o = x + y, o += n;
  *o = x - y, o += n;
  *o = x * y, o += n;
  *o = x / y, o += n;
  *o = __hfma(x, y, z), o += n;
  *o = __hfma_relu(x, y, z), o += n;
  *o = __hmax_nan(x, y), o += n;
  *o = __hmin(x, y), o += n;
  *o = __habs(x), o += n;
  *o = -x, o += n;
  *o = hexp(x), o += n;
  *o = hsqrt(x), o += n;
  *o = __float2bfloat16_rz(__bfloat162float(x) * 1.01f), o += n;
}

extern "C" __global__ void conversions(const float *a, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  half h = __float2half_rn(x);
  uint32_t *o = out + i;
  *o = __half_as_ushort(h), o += n;
  *o = __half_as_ushort(__float2half_rz(x)), o += n;
  *o = __half_as_ushort(__float2half_ru(x)), o += n;
  *o = __half_as_ushort(__float2half_rd(x)), o += n;
  *o = __bfloat16_as_ushort(__float2bfloat16_rn(x)), o += n;
  *o = __bfloat16_as_ushort(__float2bfloat16_rd(x)), o += n;
  *o = (uint32_t)__half2int_rn(h), o += n;
  *o = (uint32_t)__half2short_rz(h), o += n;
  *o = __half2uint_ru(h), o += n;
  *o = (uint32_t)__half2ll_rd(h), o += n;
  *o = __half_as_ushort(__int2half_rn((int)i * 37 - 4000)) | (uint32_t)__half_as_ushort(__double2half((double)x)) << 16, o += n;
  *o = (uint32_t)__float2int_rn(x) ^ __float2uint_rz(x), o += n;
  *o = (uint32_t)__float2ll_ru(x) ^ (uint32_t)(__float2ull_rd(x) >> 32), o += n;
  *o = __float_as_uint(__int2float_rd((int)__float_as_uint(x))) ^ __float_as_uint(__ull2float_rz((unsigned long long)__float_as_uint(x) << 17 | 5)), o += n;
}

// A softmax over a row of halves, as in attention.
extern "C" __global__ void softmax(const half *in, half *out, int n) {
  __shared__ float part[32];
  const half *row = in + blockIdx.x * n;
  float most = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, __half2float(row[i]));
  for (int s = 16; s; s /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, s));
  for (int i = threadIdx.x; i < n; i += 32) sum += __expf(__half2float(row[i]) - most);
  part[threadIdx.x] = sum;
  __syncwarp();
  sum = 0;
  for (int i = 0; i < 32; i++) sum += part[i];
  for (int i = threadIdx.x; i < n; i += 32) out[blockIdx.x * n + i] = __float2half(__expf(__half2float(row[i]) - most) / sum);
}

// Small integers, so that the order of the atomics does not matter.
extern "C" __global__ void half_atomics(half *h, half2 *p, __nv_bfloat16 *b, __nv_bfloat162 *q) {
  int i = threadIdx.x;
  atomicAdd(h + i % 3, __int2half_rn(i % 5));
  atomicAdd(p + i % 2, __floats2half2_rn(i % 3, -1));
  atomicAdd(b + i % 3, __int2bfloat16_rn(i % 2));
  atomicAdd(q + i % 2, __floats2bfloat162_rn(1, i % 2));
}
