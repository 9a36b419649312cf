// fp8: conversions in both directions, and a product of rows that are scaled to fp8.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

extern "C" __global__ void to_fp8(const float *a, uint8_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  uint8_t *o = out + i;
  *o = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3), o += n;
  *o = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2), o += n;
  *o = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3), o += n;
  *o = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2), o += n;
  *o = __nv_cvt_halfraw_to_fp8(__float2half(x), __NV_SATFINITE, __NV_E4M3), o += n;
  *o = __nv_cvt_halfraw_to_fp8(__float2half(x), __NV_SATFINITE, __NV_E5M2), o += n;
  *o = __nv_cvt_bfloat16raw_to_fp8(__float2bfloat16(x), __NV_SATFINITE, __NV_E4M3), o += n;
  *o = __nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, __NV_E5M2), o += n;
  __nv_fp8x2_e4m3 pair(make_float2(x, a[(i + 1) % n]));
  *o = (uint8_t)(pair.__x ^ pair.__x >> 8), o += n;
}

extern "C" __global__ void from_fp8(half *out) {
  int i = threadIdx.x;
  __nv_fp8_e4m3 e4;
  __nv_fp8_e5m2 e5;
  e4.__x = e5.__x = (uint8_t)i;
  out[i] = __float2half((float)e4);
  out[256 + i] = (half)e5;
  out[512 + i] = half(__nv_cvt_fp8_to_halfraw((uint8_t)i, __NV_E4M3));
  __nv_fp8x4_e4m3 four;
  four.__x = i * 0x01030507u;
  float4 f = (float4)four;
  out[768 + i] = __float2half(f.x + f.y - f.z * f.w);
}

// Quantises rows by their largest value, multiplies and scales the result.
extern "C" __global__ void quantised_dot(const float *a, const float *b, float *out, int n) {
  __shared__ uint8_t qa[256], qb[256];
  __shared__ float scale[2];
  int t = threadIdx.x;
  const float *ra = a + blockIdx.x * n, *rb = b + blockIdx.x * n;
  if (t < 2) {
    const float *row = t ? rb : ra;
    float most = 0;
    for (int i = 0; i < n; i++) most = fmaxf(most, fabsf(row[i]));
    scale[t] = most / 448.0f;
  }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    qa[i] = __nv_fp8_e4m3(ra[i] / scale[0]).__x;
    qb[i] = __nv_fp8_e4m3(rb[i] / scale[1]).__x;
  }
  __syncthreads();
  float sum = 0;
  for (int i = t; i < n; i += blockDim.x) {
    __nv_fp8_e4m3 x, y;
    x.__x = qa[i], y.__x = qb[i];
    sum += float(x) * float(y);
  }
  for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
  if (t == 0) out[blockIdx.x] = sum * scale[0] * scale[1];
}

// The tensor cores of sm_89.
extern "C" __global__ void mma_fp8(const uint32_t *in, float *out) {
  int t = threadIdx.x;
  float d[4] = {0, 0, 0, 0}, e[4] = {1, 1, 1, 1};
  uint32_t r[6];
  // Exponents are kept away from NaN and far apart.
  for (int i = 0; i < 6; i++) r[i] = in[6 * t + i] & 0xbfbfbfbf;
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  for (int i = 0; i < 4; i++) out[4 * t + i] = d[i], out[128 + 4 * t + i] = e[i];
}
