// nvcc -arch=sm_90a
// Warpgroups and clusters.
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;

__device__ uint32_t address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// A tile without a swizzle: 8 rows of 16 bytes together, 128 bytes apart along k and
// 256 along m and n.
__device__ uint64_t descriptor(const void *tile) { return address(tile) >> 4 | 0x0000001000080000ull; }

__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define WAIT_FOR(d) asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory")
#define MMA(d, a, b, keep)                                                                   \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"                                    \
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                              \
               : "l"(a), "l"(b), "r"(keep) : "memory")

struct Tiles {
  uint4 a[128], b[16];
};

__device__ void fill(Tiles &s, const uint4 *in) {
  s.a[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 16) s.b[threadIdx.x] = in[threadIdx.x];
}

__device__ void put(float *out, const float *d) {
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}

// Tiles written by stores are multiplied without a proxy fence.
extern "C" __global__ void product_proxy(const uint4 *in, float *out) {
  __shared__ alignas(128) Tiles s;
  s.a[threadIdx.x] = in[threadIdx.x]; // OTHER
  if (threadIdx.x < 16) s.b[threadIdx.x] = in[threadIdx.x]; // OTHER
#ifndef BUG
  fence_async();
#endif
  __syncthreads();
  float d[4] = {};
  FENCE;
  MMA(d, descriptor(s.a), descriptor(s.b), 0); // BUG: proxy-fence
  COMMIT;
  WAIT_FOR(d);
  put(out, d);
}

// The accumulators are stored before the product was waited for.
extern "C" __global__ void product_wait(const uint4 *in, float *out) {
  __shared__ alignas(128) Tiles s;
  fill(s, in);
  fence_async();
  __syncthreads();
  float d[4] = {};
  FENCE;
  MMA(d, descriptor(s.a), descriptor(s.b), 0); // OTHER
  COMMIT;
#ifndef BUG
  WAIT_FOR(d);
#endif
  out[threadIdx.x * 4] = d[0]; // BUG: wgmma-hazard
  out[threadIdx.x * 4 + 1] = d[1]; // BUG: wgmma-hazard
  out[threadIdx.x * 4 + 2] = d[2]; // BUG: wgmma-hazard
  out[threadIdx.x * 4 + 3] = d[3]; // BUG: wgmma-hazard
#ifdef BUG
  WAIT(0);
#endif
}

// No wgmma.fence after the accumulators were set.
extern "C" __global__ void product_fence(const uint4 *in, float *out) {
  __shared__ alignas(128) Tiles s;
  fill(s, in);
  fence_async();
  __syncthreads();
  float d[4];
  for (int i = 0; i < 4; i++) d[i] = out[threadIdx.x * 4 + i];
#ifndef BUG
  FENCE;
#endif
  MMA(d, descriptor(s.a), descriptor(s.b), 1); // BUG: wgmma-hazard
  COMMIT;
  WAIT_FOR(d);
  put(out, d);
}

// The tile is filled again while the product may still read it.
extern "C" __global__ void product_reuse(const uint4 *in, float *out) {
  __shared__ alignas(128) Tiles s;
  fill(s, in);
  fence_async();
  __syncthreads();
  float d[4] = {};
  FENCE;
  MMA(d, descriptor(s.a), descriptor(s.b), 0); // OTHER
  COMMIT;
#ifndef BUG
  WAIT_FOR(d);
  __syncthreads();
#endif
  s.a[threadIdx.x] = in[127 - threadIdx.x]; // BUG: async-race
#ifdef BUG
  WAIT_FOR(d);
#endif
  fence_async();
  __syncthreads();
  FENCE;
  MMA(d, descriptor(s.a), descriptor(s.b), 1);
  COMMIT;
  WAIT_FOR(d);
  put(out, d);
}

// A block reads its neighbour's sum before it is there.
extern "C" __global__ void __cluster_dims__(2) cluster_read(const int *in, int *out) {
  __shared__ int sum;
  auto cluster = cg::this_cluster();
  int v = in[blockIdx.x * 32 + threadIdx.x];
  for (int i = 16; i > 0; i /= 2) v += __shfl_down_sync(~0u, v, i);
  if (threadIdx.x == 0) sum = v; // OTHER
#ifdef BUG
  __syncthreads();
#else
  cluster.sync();
#endif
  int peer = *cluster.map_shared_rank(&sum, cluster.block_rank() ^ 1); // BUG: shared-race
  if (threadIdx.x == 0) out[blockIdx.x] = peer;
  cluster.sync();
}

// A block may be gone when its neighbour reads.
extern "C" __global__ void __cluster_dims__(2) cluster_exit(const int *in, int *out) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[threadIdx.x]; // BUG: shared-race|oob-shared|async-race any
#ifndef BUG
  cluster.sync();
#endif
}

// Bins spread over the cluster that are not added to atomically.
extern "C" __global__ void __cluster_dims__(2) cluster_bins(const unsigned *in, unsigned *out) {
  __shared__ unsigned bins[16];
  auto cluster = cg::this_cluster();
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  cluster.sync();
  unsigned v = in[blockIdx.x * 32 + threadIdx.x] % 32;
  unsigned *bin = cluster.map_shared_rank(bins, v / 16) + v % 16;
#ifdef BUG
  ++*bin; // BUG: shared-race OTHER
#else
  atomicAdd(bin, 1);
#endif
  cluster.sync();
  if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
}
