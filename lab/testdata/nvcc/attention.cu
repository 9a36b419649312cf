// Attention of two kinds that the presets are not, for the gates to judge:
//
//	nvcc -ptx -arch=sm_80 attention.cu
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// f16 as [B,S,H,D] with strides, a warp a row, heads that share K and V, more keys than
// queries or fewer, causal or not, and the logarithms of sums.
extern "C" __global__ void f16_bshd(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int H, int Hkv,
                                    int Sq, int Skv, int D, long long batch, long long row_stride, float scale_log2, int causal) {
  int h = blockIdx.x, b = blockIdx.z, row = blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= Sq)
    return;
  size_t at = b * batch + row * row_stride + h * D + lane;
  size_t kv = ((size_t)b * Skv * Hkv + h / (H / Hkv)) * D + lane;
  float acc[4] = {0, 0, 0, 0}, m = -INFINITY, l = 0;
  int seen = causal ? min(Skv, row + Skv - Sq + 1) : Skv;
  for (int j = 0; j < seen; j++, kv += (size_t)Hkv * D) {
    float x = 0;
    for (int i = 0; i < D / 32; i++)
      x += __half2float(q[at + 32 * i]) * __half2float(k[kv + 32 * i]);
    for (int s = 16; s; s /= 2)
      x += __shfl_xor_sync(~0u, x, s);
    x *= scale_log2;
    float most = fmaxf(m, x), a = exp2f(m - most), p = exp2f(x - most);
    m = most;
    l = l * a + p;
    for (int i = 0; i < D / 32; i++)
      acc[i] = acc[i] * a + p * __half2float(v[kv + 32 * i]);
  }
  for (int i = 0; i < D / 32; i++)
    o[at + 32 * i] = __float2half(acc[i] / l);
  if (lane == 0)
    lse[((size_t)b * H + h) * Sq + row] = (m + log2f(l)) * 0.69314718056f;
}

// bf16, the keys of a row split over blocks: partial sums go to a workspace, and the last
// block of a row, by a counter that starts at zero, adds them up.
extern "C" __global__ void bf16_split(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v, __nv_bfloat16 *o,
                                      float *sums, unsigned *arrived, int Sq, int Skv, float scale) {
  int item = blockIdx.y * Sq + blockIdx.x, lane = threadIdx.x, parts = gridDim.z;
  int share = (Skv + parts - 1) / parts, first = blockIdx.z * share, end = min(Skv, first + share);
  const __nv_bfloat16 *row = q + (size_t)item * 64;
  float a0 = 0, a1 = 0, m = -INFINITY, l = 0;
  for (int j = first; j < end; j++) {
    size_t kv = ((size_t)blockIdx.y * Skv + j) * 64 + lane;
    float x = __bfloat162float(row[lane]) * __bfloat162float(k[kv]) + __bfloat162float(row[lane + 32]) * __bfloat162float(k[kv + 32]);
    for (int s = 16; s; s /= 2)
      x += __shfl_xor_sync(~0u, x, s);
    x *= scale;
    float most = fmaxf(m, x), a = __expf(m - most), p = __expf(x - most);
    m = most;
    l = l * a + p;
    a0 = a0 * a + p * __bfloat162float(v[kv]);
    a1 = a1 * a + p * __bfloat162float(v[kv + 32]);
  }
  float *own = sums + ((size_t)item * parts + blockIdx.z) * 66;
  own[lane] = a0;
  own[lane + 32] = a1;
  if (lane == 0) {
    own[64] = m;
    own[65] = l;
  }
  __threadfence();
  __syncwarp();
  unsigned n = 0;
  if (lane == 0)
    n = atomicAdd(&arrived[item], 1u);
  if (__shfl_sync(~0u, n, 0) != parts - 1)
    return;
  __threadfence();
  const float *all = sums + (size_t)item * parts * 66;
  m = -INFINITY;
  for (int s = 0; s < parts; s++)
    m = fmaxf(m, __ldcg(&all[s * 66 + 64]));
  a0 = a1 = l = 0;
  for (int s = 0; s < parts; s++) {
    float f = __expf(__ldcg(&all[s * 66 + 64]) - m);
    l += f * __ldcg(&all[s * 66 + 65]);
    a0 += f * __ldcg(&all[s * 66 + lane]);
    a1 += f * __ldcg(&all[s * 66 + lane + 32]);
  }
  o[(size_t)item * 64 + lane] = __float2bfloat16(a0 / l);
  o[(size_t)item * 64 + lane + 32] = __float2bfloat16(a1 / l);
}
