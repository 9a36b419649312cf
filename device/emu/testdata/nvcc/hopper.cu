// sm_90: bulk and tensor copies, barriers with transactions, clusters and the
// shared memory of other blocks, warps of different roles.
#include <cstdint>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

struct __align__(64) TensorMap { char opaque[128]; };

__device__ __forceinline__ uint32_t shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void expect(uint64_t *b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(b)) : "memory"); }
__device__ __forceinline__ void wait(uint64_t *b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(shared(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void init_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk(void *to, const void *from, int bytes, uint64_t *b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)), "l"(from), "r"(bytes), "r"(shared(b)) : "memory");
}

// A ring of four stages: one warp loads, three warps compute.
extern "C" __global__ void ring(const uint32_t *in, uint32_t *out, int tiles) {
  __shared__ __align__(128) uint32_t stage[4][96];
  __shared__ __align__(8) uint64_t full[4], empty[4];
  int warp = threadIdx.x / 32, t = threadIdx.x - 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; i++) init(&full[i], 1), init(&empty[i], 96);
    init_done();
  }
  __syncthreads();
  if (warp == 0) {
    if (threadIdx.x == 0)
      for (int i = 0; i < tiles; i++) {
        if (i >= 4) wait(&empty[i % 4], (i / 4 - 1) & 1);
        expect(&full[i % 4], 384);
        bulk(stage[i % 4], in + 96 * i, 384, &full[i % 4]);
      }
    return;
  }
  uint32_t sum = 0;
  for (int i = 0; i < tiles; i++) {
    wait(&full[i % 4], i / 4 & 1);
    sum = sum * 9 + stage[i % 4][95 - t];
    arrive(&empty[i % 4]);
  }
  out[t] = sum;
}

// The copy engine loads, the kernel reverses, the copy engine stores and adds.
extern "C" __global__ void bulk_out(const uint32_t *in, uint32_t *out, uint32_t *sums) {
  __shared__ __align__(128) uint32_t a[256], b[256];
  __shared__ __align__(8) uint64_t bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 1), init_done();
  __syncthreads();
  if (t == 0) expect(&bar, 1024), bulk(a, in + 256 * blockIdx.x, 1024, &bar);
  wait(&bar, 0);
  for (int i = t; i < 256; i += blockDim.x) b[i] = a[255 - i];
  fence_async();
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 256 * blockIdx.x), "r"(shared(b)), "r"(1024) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(sums), "r"(shared(b)), "r"(1024) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

__device__ __forceinline__ void tensor2(void *to, const TensorMap &map, int x, int y, uint64_t *b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(shared(to)), "l"(&map), "r"(shared(b)), "r"(x), "r"(y) : "memory");
}

// A tile of 32 by 8 words is loaded and stored elsewhere, partly out of bounds.
extern "C" __global__ void tensor_copy(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to, uint32_t *raw) {
  __shared__ __align__(1024) uint32_t tile[256];
  __shared__ __align__(8) uint64_t bar;
  int t = threadIdx.x, x = blockIdx.x * 32 + 4, y = blockIdx.y * 8;
  if (t == 0) init(&bar, 1), init_done();
  __syncthreads();
  if (t == 0) expect(&bar, 1024), tensor2(tile, from, x, y, &bar);
  wait(&bar, 0);
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  for (int i = t; i < 256; i += blockDim.x) raw[256 * block + i] = tile[i], tile[i] += 1;
  fence_async();
  __syncthreads();
  if (t == 0)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;"
                 ::"l"(&to), "r"(shared(tile)), "r"(x), "r"(y) : "memory");
}

// Each block of a cluster of four adds up its part and reads the other sums.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const uint32_t *in, uint32_t *out) {
  __shared__ uint32_t part, all[128];
  cg::cluster_group cluster = cg::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, in[blockIdx.x * blockDim.x + t]);
  cluster.sync();
  uint32_t sum = 0;
  for (int r = 0; r < 4; r++) sum = sum * 3 + *cluster.map_shared_rank(&part, (rank + r) % 4);
  cluster.map_shared_rank(all, (rank + 1) % 4)[t] = sum + t;
  cluster.sync();
  out[blockIdx.x * blockDim.x + t] = all[t] + rank * 1000000;
}

// A histogram spread over the shared memory of a cluster.
extern "C" __global__ void cluster_histogram(const uint8_t *in, uint32_t *bins, int n) {
  __shared__ uint32_t mine[128];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) atomicAdd(cluster.map_shared_rank(mine, in[i] / 128) + in[i] % 128, 1);
  cluster.sync();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) bins[cluster.block_rank() * 128 + i] = mine[i];
}

// A copy of one block goes to both blocks; each signals when it has read.
extern "C" __global__ void __cluster_dims__(2, 1, 1) multicast(const uint32_t *in, uint32_t *out, int rounds) {
  __shared__ __align__(128) uint32_t tile[128];
  __shared__ __align__(8) uint64_t full, empty;
  cg::cluster_group cluster = cg::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) init(&full, 1), init(&empty, 2), init_done();
  cluster.sync();
  uint32_t sum = rank;
  for (int r = 0; r < rounds; r++) {
    if (t == 0) {
      expect(&full, 512);
      if (r > 0) wait(&empty, (r - 1) & 1);
      // Each block loads one half for both.
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                   ::"r"(shared(tile + 64 * rank)), "l"(in + 128 * r + 64 * rank), "r"(256), "r"(shared(&full)), "h"((uint16_t)3) : "memory");
    }
    wait(&full, r & 1);
    sum = sum * 5 + tile[t] + tile[127 - t];
    __syncthreads();
    if (t < 2)
      asm volatile("{\n.reg .b32 a;\nmapa.shared::cluster.u32 a, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [a];\n}" ::"r"(shared(&empty)), "r"(t) : "memory");
  }
  out[blockIdx.x * blockDim.x + t] = sum;
  cluster.sync();
}

// Remote stores that complete a barrier of the other block.
extern "C" __global__ void __cluster_dims__(2, 1, 1) remote_stores(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t inbox[64];
  __shared__ __align__(8) uint64_t bar;
  cg::cluster_group cluster = cg::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) init(&bar, 1), init_done(), expect(&bar, 256);
  cluster.sync();
  asm volatile("{\n.reg .b32 a, b;\nmapa.shared::cluster.u32 a, %0, %2;\nmapa.shared::cluster.u32 b, %1, %2;\n"
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [a], %3, [b];\n}"
               ::"r"(shared(&inbox[63 - t])), "r"(shared(&bar)), "r"(rank ^ 1), "r"(in[blockIdx.x * 64 + t]) : "memory");
  wait(&bar, 0);
  out[blockIdx.x * 64 + t] = inbox[t];
  cluster.sync();
}

// An elected lane, packed votes, reductions and stmatrix, as in kernels for sm_90.
extern "C" __global__ void odds_and_ends(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t s[128];
  int t = threadIdx.x;
  uint32_t v = in[t], elected;
  asm volatile("{\n.reg .pred p;\n.reg .b32 r;\nelect.sync r|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(shared(s + 4 * t)), "r"(v), "r"(v + 1), "r"(v ^ 0xffff), "r"(in[t + 32]) : "memory");
  __syncwarp();
  for (int i = 0; i < 4; i++) out[4 * t + i] = s[4 * t + i] + elected;
}
