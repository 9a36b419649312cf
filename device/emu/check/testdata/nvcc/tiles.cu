// nvcc -arch=sm_90a
// Tensor copies, clusters that multicast, and pipelines of warps with roles.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda.h>

namespace cg = cooperative_groups;
namespace cde = cuda::device::experimental;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// A tile by tensor copy, doubled in place and stored by tensor copy: without the fence
// the store may miss what threads wrote.
extern "C" __global__ void tile_double(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int tile[8][32];
  __shared__ Barrier bar;
  int t = threadIdx.x;
  if (t == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (t == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, 0, 8 * blockIdx.x, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = t; i < 256; i += blockDim.x) (&tile[0][0])[i] *= 2; // OTHER
#ifndef BUG
  cde::fence_proxy_async_shared_cta();
#endif
  __syncthreads();
  if (t == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&map, 0, 8 * blockIdx.x, &tile); // BUG: proxy-fence
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// The store is started before all threads have written.
extern "C" __global__ void tile_store_early(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int tile[8][32];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += blockDim.x) (&tile[0][0])[i] = i; // OTHER
  cde::fence_proxy_async_shared_cta();
#ifndef BUG
  __syncthreads();
#endif
  if (t == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&map, 0, 8 * blockIdx.x, &tile); // BUG: async-race
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// A block stores to its neighbours and only meets its own threads.
extern "C" __global__ void __cluster_dims__(4) all_to_all(const int *in, int *out) {
  __shared__ int inbox[4];
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank();
  cluster.sync();
  if (threadIdx.x < 4) cluster.map_shared_rank(inbox, threadIdx.x)[rank] = in[rank * 4 + threadIdx.x]; // OTHER
#ifdef BUG
  __syncthreads();
#else
  cluster.sync();
#endif
  if (threadIdx.x < 4) out[rank * 4 + threadIdx.x] = inbox[threadIdx.x]; // BUG: shared-race
#ifdef BUG
  cluster.sync();
#endif
}

// Arrive early, wait late: what is stored between the two is not covered.
extern "C" __global__ void __cluster_dims__(2) split_barrier(const int *in, int *out) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x;
#ifdef BUG
  auto token = cluster.barrier_arrive();
  s[t] = in[blockIdx.x * 32 + t]; // OTHER
#else
  s[t] = in[blockIdx.x * 32 + t];
  auto token = cluster.barrier_arrive();
#endif
  cluster.barrier_wait(std::move(token));
  out[blockIdx.x * 32 + t] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[t]; // BUG: shared-race
  cluster.sync();
}

// Two barriers hand a buffer to and fro between a producer and a consumer warp.
extern "C" __global__ void to_and_fro(const int *in, int *out, int rounds) {
  __shared__ int s[32];
  __shared__ Barrier full, empty;
  auto block = cg::this_thread_block();
  int t = threadIdx.x, lane = t % 32, sum = 0;
  if (t == 0) {
    init(&full, 64);
    init(&empty, 64);
  }
  block.sync();
  if (t < 32) {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
      if (i > 0) {
#ifdef BUG
        auto token = empty.arrive();
        s[lane] = in[i * 32 + lane]; // BUG: shared-race
        empty.wait(std::move(token));
#else
        empty.arrive_and_wait();
        s[lane] = in[i * 32 + lane];
#endif
      } else {
        s[lane] = in[lane];
      }
      (void)full.arrive();
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
      full.arrive_and_wait();
      sum += s[31 - lane]; // OTHER
      if (i + 1 < rounds) (void)empty.arrive();
    }
    out[lane] = sum;
  }
}
