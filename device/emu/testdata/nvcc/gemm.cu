// Matrix products: naive, tiled, and on tensor cores with wmma and mma.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void naive(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

// A product with alpha and beta, and with edges that do not fill a tile.
extern "C" __global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta) {
  __shared__ float ta[8][9], tb[8][9];
  int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += 8) {
    int ka = t + threadIdx.x, kb = t + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = i < m && ka < k ? a[i * k + ka] : 0;
    tb[threadIdx.y][threadIdx.x] = kb < k && j < n ? b[kb * n + j] : 0;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 8; e++) sum += ta[threadIdx.y][e] * tb[e][threadIdx.x];
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = alpha * sum + beta * c[i * n + j];
}

extern "C" __global__ void doubles(const double *a, const double *b, double *c, int n) {
  int i = threadIdx.y, j = threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

// 32x32x32 with wmma, one tile per warp.
extern "C" __global__ void wmma_half(const half *a, const half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.5f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * 32 + k, 32);
    wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * 32 + k, 32);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
  wmma::store_matrix_sync(c + blockIdx.y * 16 * 32 + blockIdx.x * 16, fc, 32, wmma::mem_row_major);
}

// f16 accumulators, a tall tile, a store by columns.
extern "C" __global__ void wmma_tall(const half *a, const half *b, half *c) {
  wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::col_major> fa;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 32, 8, 16, half> fc;
  wmma::fill_fragment(fc, __float2half(0.25f));
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 8);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 32, wmma::mem_col_major);
}

extern "C" __global__ void wmma_bytes(const int8_t *a, const int8_t *b, int *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::fill_fragment(fc, 7);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_double(const double *a, const double *b, double *c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
  wmma::fill_fragment(fc, 1.0);
  wmma::load_matrix_sync(fa, a + 32, 4);
  wmma::load_matrix_sync(fb, b + 64, 4);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}

extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 8);
  wmma::load_matrix_sync(fb, b, 16);
  for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  for (int i = 0; i < fb.num_elements; i++) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

// bf16 with shared memory, ldmatrix and mma.
extern "C" __global__ void mma_bf16(const float *a, const float *b, float *c) {
  __shared__ __align__(16) __nv_bfloat16 sa[16][24], sb[16][8];
  for (int i = threadIdx.x; i < 256; i += 32) sa[i / 16][i % 16] = __float2bfloat16(a[i]);
  for (int i = threadIdx.x; i < 128; i += 32) sb[i / 8][i % 8] = __float2bfloat16(b[i]);
  __syncwarp();
  uint32_t ra[4], rb[2];
  float d[4] = {0, 1, 2, 3};
  int t = threadIdx.x;
  uint32_t pa = (uint32_t)__cvta_generic_to_shared(&sa[t % 16][t / 16 * 8]), pb = (uint32_t)__cvta_generic_to_shared(&sb[t % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  float *o = c + t / 4 * 8 + t % 4 * 2;
  o[0] = d[0], o[1] = d[1], o[64] = d[2], o[65] = d[3];
}

// Bytes and single bits, whose products are exact.
extern "C" __global__ void mma_integers(const uint32_t *in, int *out) {
  int t = threadIdx.x, d[4] = {1, 2, 3, 4}, e[4] = {0, 0, 0, 0};
  const uint32_t *a = in + 4 * t, *b = in + 256 + 2 * t;
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; i++) out[4 * t + i] = d[i], out[128 + 4 * t + i] = e[i];
}
