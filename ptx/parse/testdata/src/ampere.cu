// Asynchronous copies, matrix fragments, half and bfloat16, cooperative groups.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

__global__ void gemm(const half *a, const half *b, float *c, int ld) {
  __shared__ half tile[2][16 * 16];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < ld; k += 16) {
    __pipeline_memcpy_async(&tile[0][threadIdx.x * 8], a + k + threadIdx.x * 8, 16);
    __pipeline_memcpy_async(&tile[1][threadIdx.x * 8], b + k + threadIdx.x * 8, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    wmma::load_matrix_sync(fa, tile[0], 16);
    wmma::load_matrix_sync(fb, tile[1], 16);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, ld, wmma::mem_row_major);
}

__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void fragments(float *out) {
  __shared__ __align__(128) unsigned tile[512];
  unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 4), a[4], b[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2+16];" : "=r"(b[0]), "=r"(b[1]) : "r"(at));
  float d[4] = {};
  for (int i = 0; i < 3; i++) mma(d, a, b);
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

__global__ void halves(half2 *h, __nv_bfloat162 *g) {
  half2 v = __hfma2(h[0], h[1], __float2half2_rn(0.5f));
  v = h2exp2(__hmax2(v, h[2]));
  __nv_bfloat162 w = __hmul2(g[0], __floats2bfloat162_rn(1.5f, -2.0f));
  h[threadIdx.x] = __hadd2_sat(v, h[3]);
  g[threadIdx.x] = __hadd2(w, g[1]);
}

__global__ void groups(int *out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int v = out[block.thread_rank()];
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  auto active = cg::coalesced_threads();
  if (tile.thread_rank() == 0) atomicMax(out, v + active.size());
  out[1] = __reduce_add_sync(0xffffffffu, v) + __match_any_sync(0xffffffffu, v);
  block.sync();
  __nanosleep(20);
}
