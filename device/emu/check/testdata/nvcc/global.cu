// nvcc -arch=sm_80
// Blocks that talk to each other.

__device__ unsigned tickets;

// The last block sums what all have written, without a fence before the ticket.
extern "C" __global__ void last_block(const int *in, volatile int *partial, int *out) {
  __shared__ bool last;
  int t = threadIdx.x, v = in[blockIdx.x * 32 + t];
  for (int i = 16; i > 0; i /= 2) v += __shfl_down_sync(~0u, v, i);
  if (t == 0) {
    ((int *)partial)[blockIdx.x] = v; // OTHER
#ifndef BUG
    __threadfence();
#endif
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
#ifndef BUG
    __threadfence();
#endif
  }
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < gridDim.x; i++) sum += ((int *)partial)[i]; // BUG: global-race
    *out = sum;
  }
}

// A counter of all blocks that is not added to atomically.
extern "C" __global__ void count_global(const int *in, int *count) {
  if (in[blockIdx.x * 32 + threadIdx.x] > 5 && threadIdx.x == 7) {
#ifdef BUG
    ++*count; // BUG: global-race OTHER
#else
    atomicAdd(count, 1);
#endif
  }
}

// A stencil that writes over its own input.
extern "C" __global__ void in_place(int *data, int *other, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  int left = data[max(i - 1, 0)], right = data[min(i + 1, n - 1)]; // OTHER
  __syncthreads();
#ifdef BUG
  data[i] = left + right; // BUG: global-race
#else
  other[i] = left + right;
#endif
}

// A flag between two blocks without fences.
extern "C" __global__ void handover(int *data, volatile int *flag, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42; // OTHER
#ifndef BUG
    __threadfence();
#endif
    *flag = 1;
  } else {
    while (*flag == 0) {}
#ifndef BUG
    __threadfence();
#endif
    *out = data[0]; // BUG: global-race
  }
}

// A lock without fences.
extern "C" __global__ void locked(int *lock, int *value) {
  if (threadIdx.x) return;
  while (atomicCAS(lock, 0, 1)) {}
#ifndef BUG
  __threadfence();
#endif
  *value = *value * 3 + 1; // BUG: global-race OTHER
#ifndef BUG
  __threadfence();
#endif
  atomicExch(lock, 0);
}

__device__ unsigned arrived;

// A barrier of the grid without fences.
extern "C" __global__ void grid_barrier(const int *in, int *mid, int *out) {
  int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
  mid[i] = in[i] + 1; // OTHER
  __syncthreads();
  if (threadIdx.x == 0) {
#ifndef BUG
    __threadfence();
#endif
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned *)&arrived < gridDim.x) {}
#ifndef BUG
    __threadfence();
#endif
  }
  __syncthreads();
  out[i] = mid[(i + 32) % n]; // BUG: global-race
}

// Atomics that are atomic within a block only.
extern "C" __global__ void narrow_scope(const int *in, int *sum) {
#ifdef BUG
  atomicAdd_block(sum, in[blockIdx.x * 32 + threadIdx.x]); // BUG: global-race OTHER
#else
  atomicAdd(sum, in[blockIdx.x * 32 + threadIdx.x]);
#endif
}

// Chained prefix sums: the state is published before the sum.
extern "C" __global__ void look_back(const int *in, int *prefix, volatile int *state, int *out) {
  if (threadIdx.x) return;
  int b = blockIdx.x, sum = in[b];
  if (b > 0) {
    while (state[b - 1] == 0) {}
    __threadfence();
    sum += prefix[b - 1]; // BUG: global-race
  }
#ifdef BUG
  state[b] = 1;
  __threadfence();
  prefix[b] = sum; // OTHER
#else
  prefix[b] = sum;
  __threadfence();
  state[b] = 1;
#endif
  out[b] = sum;
}

// Every block sets the same result by a plain store of another value.
extern "C" __global__ void last_wins(const int *in, int *out) {
  int i = blockIdx.x * 32 + threadIdx.x;
#ifdef BUG
  if (in[i] % 32 == 3) out[0] = i; // BUG: global-race OTHER
#else
  if (in[i] == 3) out[0] = i;
#endif
}

// Warps of a block pass words through global memory without a barrier.
extern "C" __global__ void through_global(int *scratch, int *out) {
  int t = threadIdx.x;
  scratch[t] = t * t; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  out[t] = scratch[63 - t]; // BUG: global-race
}

// A flag that nobody sets.
extern "C" __global__ void wait_for_nobody(volatile int *flag, int *out) {
  if (blockIdx.x == 0) {
#ifndef BUG
    flag[0] = 1;
#endif
  } else if (threadIdx.x == 0) {
    while (flag[0] == 0) {} // BUG: deadlock
  }
  out[blockIdx.x * 32 + threadIdx.x] = 1;
}
