// nvcc -arch=sm_80
// Copies that go on while threads compute: cp.async by the intrinsics, by
// cuda::pipeline, cuda::barrier and cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>

namespace cg = cooperative_groups;

// Read without a wait.
extern "C" __global__ void no_wait(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4); // OTHER
  __pipeline_commit();
#ifndef BUG
  __pipeline_wait_prior(0);
#endif
  out[t] = s[t]; // BUG: async-race
#ifdef BUG
  __pipeline_wait_prior(0);
#endif
}

// A wait for a thread's own copies, and no barrier before those of others are read.
extern "C" __global__ void no_barrier(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4); // OTHER
  __pipeline_commit();
  __pipeline_wait_prior(0);
#ifndef BUG
  __syncthreads();
#endif
  out[t] = s[63 - t]; // BUG: async-race|shared-race
}

// Two buffers: the last tile is read although its copy may still be under way.
extern "C" __global__ void last_tile(const int *in, int *out, int tiles) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], 4);
  __pipeline_commit();
#pragma unroll 1
  for (int i = 0; i < tiles; i++) {
    if (i + 1 < tiles) {
      __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[(i + 1) * 64 + t], 4); // OTHER
      __pipeline_commit();
    }
#ifdef BUG
    __pipeline_wait_prior(1);
#else
    if (i + 1 < tiles) __pipeline_wait_prior(1);
    else __pipeline_wait_prior(0);
#endif
    __syncthreads();
    sum += s[i % 2][63 - t]; // BUG: async-race
    __syncthreads();
  }
  out[t] = sum;
}

// Two buffers: the next tile is fetched over the one that others still read.
extern "C" __global__ void overwritten(const int *in, int *out, int tiles) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], 4);
  __pipeline_commit();
#pragma unroll 1
  for (int i = 0; i < tiles; i++) {
    if (i + 1 < tiles)
      __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[(i + 1) * 64 + t], 4); // BUG: async-race
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[i % 2][63 - t]; // OTHER
#ifndef BUG
    __syncthreads();
#endif
  }
  out[t] = sum;
}

// cuda::pipeline of one thread: consumer_wait is left out.
extern "C" __global__ void thread_pipeline(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[t], &in[t], cuda::aligned_size_t<4>(4), pipe); // OTHER
  pipe.producer_commit();
#ifndef BUG
  pipe.consumer_wait();
#endif
  out[t] = s[t]; // BUG: async-race
#ifdef BUG
  pipe.consumer_wait();
#endif
  pipe.consumer_release();
}

// cuda::pipeline of one thread in two stages: without a barrier others' words may
// not have come.
extern "C" __global__ void staged_pipeline(const int *in, int *out, int tiles) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[0][t], &in[t], cuda::aligned_size_t<4>(4), pipe); // OTHER
  pipe.producer_commit();
#pragma unroll 1
  for (int i = 1; i <= tiles; i++) {
    pipe.producer_acquire();
    if (i < tiles) cuda::memcpy_async(&s[i % 2][t], &in[i * 64 + t], cuda::aligned_size_t<4>(4), pipe); // OTHER
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<1>(pipe);
#ifndef BUG
    __syncthreads();
#endif
    sum += s[(i - 1) % 2][63 - t]; // BUG: async-race|shared-race
    __syncthreads();
    pipe.consumer_release();
  }
  out[t] = sum;
}

// cuda::barrier: copies arrive at it, and readers must wait for it.
extern "C" __global__ void barrier_copy(const int *in, int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&s[t], &in[t], cuda::aligned_size_t<4>(4), bar); // OTHER
#ifdef BUG
  auto token = bar.arrive();
  out[t] = s[63 - t]; // BUG: async-race
  bar.wait(std::move(token));
#else
  bar.arrive_and_wait();
  out[t] = s[63 - t];
#endif
}

// cuda::barrier: initialised for more threads than arrive.
extern "C" __global__ void barrier_count(const int *in, int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
#ifdef BUG
  if (t == 0) init(&bar, blockDim.x + 1);
#else
  if (t == 0) init(&bar, blockDim.x);
#endif
  __syncthreads();
  s[t] = in[t];
  bar.arrive_and_wait(); // BUG: deadlock
  out[t] = s[63 - t];
}

// cuda::barrier: used before its initialisation is known to all.
extern "C" __global__ void barrier_init(const int *in, int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x); // OTHER
#ifndef BUG
  __syncthreads();
#endif
  s[t] = in[t];
  bar.arrive_and_wait(); // BUG: mbarrier-misuse|shared-race
  out[t] = s[63 - t];
}

// cuda::barrier: stores after the arrival that should publish them.
extern "C" __global__ void barrier_late(const int *in, int *out) {
  __shared__ int s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
#ifdef BUG
  auto token = bar.arrive();
  s[t] = in[t]; // OTHER
#else
  s[t] = in[t];
  auto token = bar.arrive();
#endif
  bar.wait(std::move(token));
  out[t] = s[63 - t]; // BUG: shared-race
}

// Cooperative groups: cg::wait is left out.
extern "C" __global__ void group_copy(const int *in, int *out) {
  __shared__ __align__(16) int s[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, cuda::aligned_size_t<16>(sizeof(s))); // OTHER
#ifndef BUG
  cg::wait(block);
#endif
  out[threadIdx.x] = s[63 - threadIdx.x]; // BUG: async-race
#ifdef BUG
  cg::wait(block);
#endif
}

// Cooperative groups: tiles of 16 threads that read what another tile wrote.
extern "C" __global__ void group_tiles(const int *in, int *out) {
  __shared__ int s[64];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int t = threadIdx.x;
  s[t] = in[t]; // OTHER
#ifdef BUG
  tile.sync();
#else
  block.sync();
#endif
  out[t] = s[t ^ 16] + tile.thread_rank(); // BUG: shared-race
}
