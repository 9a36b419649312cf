// nvcc -arch=sm_80
// Programs as one writes them, each with one thing wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/pipeline>
#include <mma.h>

namespace cg = cooperative_groups;

// A scan of warps by shuffles, then of the warps' sums, which are read too early.
extern "C" __global__ void block_scan(const int *in, int *out) {
  __shared__ int sums[4];
  int t = threadIdx.x, lane = t % 32, w = t / 32, v = in[t];
  for (int d = 1; d < 32; d *= 2) {
    int up = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += up;
  }
  if (lane == 31) sums[w] = v; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  for (int i = 0; i < w; i++)
    v += sums[i]; // BUG: shared-race
  out[t] = v;
}

// Bitonic sort: the pairs of a step may lie in different warps.
extern "C" __global__ void bitonic(unsigned *data) {
  __shared__ unsigned s[128];
  int t = threadIdx.x;
  s[t] = data[t];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        unsigned a = s[t], b = s[other]; // BUG: shared-race OTHER
        if ((a > b) == ((t & k) == 0)) {
          s[t] = b;     // BUG: shared-race OTHER
          s[other] = a; // BUG: shared-race OTHER
        }
      }
#ifdef BUG
      if (j >= 64) __syncthreads();
#else
      __syncthreads();
#endif
    }
  }
#ifdef BUG
  __syncthreads();
#endif
  data[t] = s[t];
}

// Registers fetch the next tile; one barrier a round is too few for one buffer.
extern "C" __global__ void prefetch(const float *in, float *out, int tiles) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float next = in[t], sum = 0;
#pragma unroll 1
  for (int i = 0; i < tiles; i++) {
    s[t] = next; // BUG: shared-race
    __syncthreads();
    if (i + 1 < tiles) next = in[(i + 1) * 64 + t];
    sum += s[(t + 33) % 64]; // OTHER
#ifndef BUG
    __syncthreads();
#endif
  }
  out[t] = sum;
}

// __syncwarp of the wrong half.
extern "C" __global__ void wrong_mask(const int *in, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[t]; // OTHER
#ifdef BUG
  if (t < 16) __syncwarp(0x0000ffff);
  else __syncwarp(0xffff0000);
#else
  __syncwarp();
#endif
  out[t] = s[t ^ 31]; // BUG: shared-race
}

// One lane adds for all that are with it; the bug is a counter that it reads plainly.
extern "C" __global__ void aggregated(const int *in, int *out, int *count) {
  int v = in[blockIdx.x * 32 + threadIdx.x];
  if (v % 3 == 0) {
    auto g = cg::coalesced_threads();
    int first = 0;
    if (g.thread_rank() == 0) {
#ifdef BUG
      first = *count; // BUG: global-race OTHER
      *count = first + g.size(); // BUG: global-race OTHER
#else
      first = atomicAdd(count, g.size());
#endif
    }
    first = g.shfl(first, 0);
    out[first + g.thread_rank()] = v;
  }
}

// A barrier that the threads of a loop leave one after the other.
extern "C" __global__ void leave_loop(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, v = in[t], rounds = 0;
  s[t] = v;
  __syncthreads();
#ifdef BUG
  while (v > 10) {
    __syncthreads(); // BUG: barrier-divergence|deadlock
    v /= 2;
    rounds++;
  }
#else
  while (__syncthreads_or(v > 10)) {
    v /= 2;
    rounds++;
  }
#endif
  out[t] = rounds + s[63 - t];
}

// cuda::atomic_ref: the flag is stored relaxed where it should release.
extern "C" __global__ void message(int *data, int *flag, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 7; // OTHER
#ifdef BUG
    ready.store(1, cuda::memory_order_relaxed);
#else
    ready.store(1, cuda::memory_order_release);
#endif
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    *out = *data; // BUG: global-race
  }
}

// cuda::atomic_ref of the scope of a block, between blocks.
extern "C" __global__ void scoped(int *data, int *flag, int *out) {
#ifdef BUG
  cuda::atomic_ref<int, cuda::thread_scope_block> ready(*flag);
#else
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
#endif
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 7; // OTHER
    ready.store(1, cuda::memory_order_release); // BUG: global-race OTHER
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {} // BUG: global-race OTHER
    *out = *data; // BUG: global-race
  }
}

// A pipeline that the block shares, one warp producing: the consumers do not wait.
extern "C" __global__ void shared_pipeline(const int *in, int *out, int tiles) {
  __shared__ int s[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  int t = threadIdx.x, lane = t % 32, sum = 0;
  auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (t < 32) {
#pragma unroll 1
    for (int i = 0; i < tiles; i++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[i % 2][lane], &in[i * 32 + lane], cuda::aligned_size_t<4>(4), pipe); // OTHER
      pipe.producer_commit();
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < tiles; i++) {
#ifndef BUG
      pipe.consumer_wait();
#endif
      sum += s[i % 2][31 - lane]; // BUG: async-race
#ifdef BUG
      pipe.consumer_wait();
#endif
      pipe.consumer_release();
    }
    out[lane] = sum;
  }
}

// Tensor cores by wmma: the tile of A is loaded while others still fill it.
extern "C" __global__ void wmma_tile(const half *a, const half *b, float *c) {
  using namespace nvcuda;
  __shared__ half as[16 * 16], bs[16 * 32];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) as[i] = a[i]; // OTHER
  for (int i = t; i < 512; i += 64) bs[i] = b[i]; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, as, 16); // BUG: shared-race
  wmma::load_matrix_sync(fb, bs + t / 32 * 16, 32); // BUG: shared-race
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c + t / 32 * 16, fc, 32, wmma::mem_row_major);
}

// Sums of tiles of 8 by cg::reduce, gathered without a barrier of the block.
extern "C" __global__ void gathered(const int *in, int *out) {
  __shared__ int sums[8];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int sum = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum; // OTHER
#ifdef BUG
  tile.sync();
#else
  block.sync();
#endif
  if (threadIdx.x < 8) out[threadIdx.x] = sums[threadIdx.x]; // BUG: shared-race
}

// The maximum of floats by compare and swap; the bug is a plain store of it.
extern "C" __global__ void float_max(const float *in, int *out) {
  float v = in[blockIdx.x * 32 + threadIdx.x];
#ifdef BUG
  if (v > __int_as_float(*(volatile int *)out)) // BUG: global-race OTHER
    *out = __float_as_int(v); // BUG: global-race OTHER
#else
  int old = *(volatile int *)out;
  while (__int_as_float(old) < v) {
    int seen = atomicCAS(out, old, __float_as_int(v));
    if (seen == old) break;
    old = seen;
  }
#endif
}

// The last of the blocks resets the count with a plain store, which it may, having
// taken the last ticket; the bug is that it leaves out the fences.
extern "C" __global__ void retire(const int *in, int *partial, unsigned *count, int *out) {
  __shared__ bool last;
  int t = threadIdx.x;
  int sum = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), in[blockIdx.x * 32 + t], cg::plus<int>());
  if (t == 0) {
    partial[blockIdx.x] = sum; // OTHER
#ifndef BUG
    __threadfence();
#endif
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
#ifndef BUG
    __threadfence();
#endif
    int all = 0;
    if (t < gridDim.x) all = partial[t]; // BUG: global-race
    out[t] = all;
    if (t == 0) *count = 0;
  }
}

// Rows of a shared tile that are one word too short: columns run into the next row.
extern "C" __global__ void row_too_short(const int *in, int *out) {
#ifdef BUG
  __shared__ int s[8][7];
#else
  __shared__ int s[8][8];
#endif
  int x = threadIdx.x % 8, y = threadIdx.x / 8;
  s[y][x] = in[threadIdx.x]; // BUG: shared-race|oob-shared OTHER
  __syncthreads();
  out[threadIdx.x] = s[x][y]; // BUG: oob-shared
}
