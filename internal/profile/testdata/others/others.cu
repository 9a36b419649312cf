// Kernels in CUDA that predictions are validated with.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;

// C = A B by tiles of 16 x 16 in shared memory.
extern "C" __global__ void __launch_bounds__(256) sgemm_tiled(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float as[16][16], bs[16][16];
  unsigned tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (unsigned k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// C = A B by tiles of 64 x 64; each of 256 threads computes 4 x 4.
extern "C" __global__ void __launch_bounds__(256) sgemm_registers(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float as[16][64], bs[16][64];
  unsigned t = threadIdx.x, row = blockIdx.y * 64, col = blockIdx.x * 64;
  unsigned tr = t / 16 * 4, tc = t % 16 * 4;
  float acc[4][4] = {};
  for (unsigned k = 0; k < n; k += 16) {
    float4 x = *(const float4*)&a[(row + t / 4) * n + k + t % 4 * 4];
    as[t % 4 * 4 + 0][t / 4] = x.x; as[t % 4 * 4 + 1][t / 4] = x.y; as[t % 4 * 4 + 2][t / 4] = x.z; as[t % 4 * 4 + 3][t / 4] = x.w;
    *(float4*)&bs[t / 16][t % 16 * 4] = *(const float4*)&b[(k + t / 16) * n + col + t % 16 * 4];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) {
      float4 u = *(float4*)&as[i][tr], v = *(float4*)&bs[i][tc];
      float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int r = 0; r < 4; r++)
#pragma unroll
        for (int s = 0; s < 4; s++) acc[r][s] += us[r] * vs[s];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; r++) *(float4*)&c[(row + tr + r) * n + col + tc] = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
}

// C = A B with tensor cores: 64 x 64 per block of 4 warps, factors from global memory through shared memory.
extern "C" __global__ void __launch_bounds__(128) hgemm_wmma(const half* a, const half* b, float* c, unsigned n) {
  __shared__ __align__(16) half as[64][40], bs[32][72];
  unsigned t = threadIdx.x, w = t / 32, row = blockIdx.y * 64, col = blockIdx.x * 64, wr = w / 2 * 32, wc = w % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
  for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[i][j], 0.0f);
  for (unsigned k = 0; k < n; k += 32) {
    for (unsigned i = t; i < 64 * 4; i += 128) *(uint4*)&as[i / 4][i % 4 * 8] = *(const uint4*)&a[(row + i / 4) * n + k + i % 4 * 8];
    for (unsigned i = t; i < 32 * 8; i += 128) *(uint4*)&bs[i / 8][i % 8 * 8] = *(const uint4*)&b[(k + i / 8) * n + col + i % 8 * 8];
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
      for (int i = 0; i < 2; i++) wmma::load_matrix_sync(fa[i], &as[wr + i * 16][kk], 40);
      for (int j = 0; j < 2; j++) wmma::load_matrix_sync(fb[j], &bs[kk][wc + j * 16], 72);
      for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)
    wmma::store_matrix_sync(&c[(row + wr + i * 16) * n + col + wc + j * 16], acc[i][j], n, wmma::mem_row_major);
}

// One warp per row of 1024.
extern "C" __global__ void __launch_bounds__(128) softmax_warp(const float* x, float* o, unsigned n) {
  unsigned row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float v[32], m = -1e30f, s = 0;
#pragma unroll
  for (int i = 0; i < 32; i++) { v[i] = x[row * n + i * 32 + lane]; m = fmaxf(m, v[i]); }
#pragma unroll
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
#pragma unroll
  for (int i = 0; i < 32; i++) { v[i] = __expf(v[i] - m); s += v[i]; }
#pragma unroll
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  float r = 1 / s;
#pragma unroll
  for (int i = 0; i < 32; i++) o[row * n + i * 32 + lane] = v[i] * r;
}

// Attention with D = 64 in f32: a thread has one query; keys and values go through shared memory.
extern "C" __global__ void __launch_bounds__(128) attention_f32(const float* q, const float* k, const float* v, float* o, unsigned n) {
  __shared__ float ks[32][64], vs[32][64];
  unsigned t = threadIdx.x, base = blockIdx.y * n * 64, row = blockIdx.x * 128 + t;
  float qr[64], acc[64], m = -1e30f, l = 0;
#pragma unroll
  for (int d = 0; d < 64; d += 4) {
    float4 x = *(const float4*)&q[base + row * 64 + d];
    qr[d] = x.x; qr[d + 1] = x.y; qr[d + 2] = x.z; qr[d + 3] = x.w;
    acc[d] = acc[d + 1] = acc[d + 2] = acc[d + 3] = 0;
  }
  for (unsigned j = 0; j < n; j += 32) {
    for (unsigned i = t; i < 32 * 16; i += 128) {
      ((float4*)ks)[i] = *(const float4*)&k[base + j * 64 + i * 4];
      ((float4*)vs)[i] = *(const float4*)&v[base + j * 64 + i * 4];
    }
    __syncthreads();
    for (int i = 0; i < 32; i++) {
      float s = 0;
#pragma unroll
      for (int d = 0; d < 64; d++) s += qr[d] * ks[i][d];
      s *= 0.125f * 1.4427f;
      float top = fmaxf(m, s), p = exp2f(s - top), shrink = exp2f(m - top);
      l = l * shrink + p; m = top;
#pragma unroll
      for (int d = 0; d < 64; d++) acc[d] = acc[d] * shrink + p * vs[i][d];
    }
    __syncthreads();
  }
  float r = 1 / l;
#pragma unroll
  for (int d = 0; d < 64; d++) o[base + row * 64 + d] = acc[d] * r;
}

extern "C" __global__ void __launch_bounds__(256) transpose_conflicts(const float* x, float* o, unsigned n) {
  __shared__ float t[32][32];
  unsigned c = threadIdx.x, r = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (unsigned i = r; i < 32; i += 8) t[i][c] = x[(by + i) * n + bx + c];
  __syncthreads();
  for (unsigned i = r; i < 32; i += 8) o[(bx + i) * n + by + c] = t[c][i];
}

extern "C" __global__ void __launch_bounds__(256) transpose_padded(const float* x, float* o, unsigned n) {
  __shared__ float t[32][33];
  unsigned c = threadIdx.x, r = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (unsigned i = r; i < 32; i += 8) t[i][c] = x[(by + i) * n + bx + c];
  __syncthreads();
  for (unsigned i = r; i < 32; i += 8) o[(bx + i) * n + by + c] = t[c][i];
}

extern "C" __global__ void __launch_bounds__(256) reduce_serial(const float* x, float* o, unsigned rounds) {
  __shared__ float s[256];
  float sum = 0;
  for (unsigned i = 0; i < rounds; i++) sum += x[(blockIdx.x * rounds + i) * 256 + threadIdx.x];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < 256; i++) all += s[i];
    o[blockIdx.x] = all;
  }
}

extern "C" __global__ void __launch_bounds__(256) reduce_tree(const float* x, float* o, unsigned rounds) {
  __shared__ float s[256];
  float sum = 0;
  for (unsigned i = 0; i < rounds; i++) sum += x[(blockIdx.x * rounds + i) * 256 + threadIdx.x];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned d = 128; d; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}
