// Reductions and scans: shuffles, shared memory, warp-wide instructions and a
// grid whose last block adds up the results of the others.
#include <cstdint>

extern "C" __global__ void block_sum(const uint32_t *in, uint32_t *out, int n) {
  extern __shared__ uint32_t part[];
  uint32_t sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

template <typename T> __device__ T warp_sum(T v) {
  for (int s = 16; s > 0; s >>= 1) v += __shfl_down_sync(~0u, v, s);
  return v;
}

template <typename T> __device__ T block_reduce(T v) {
  __shared__ T part[32];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : T(0);
    v = warp_sum(v);
  }
  return v;
}

__device__ unsigned blocks_done;

// out is the sum; scratch has one word per block.
extern "C" __global__ void grid_sum(const uint32_t *in, volatile uint64_t *scratch, uint64_t *out, int n) {
  __shared__ bool last;
  uint64_t sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = block_reduce(sum);
  if (threadIdx.x == 0) {
    scratch[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += scratch[i];
  __syncthreads();
  sum = block_reduce(sum);
  if (threadIdx.x == 0) *out = sum;
}

extern "C" __global__ void float_sum(const float *in, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  sum = block_reduce(sum);
  if (threadIdx.x == 0) out[0] = sum;
}

extern "C" __global__ void double_sum(const double *in, double *out, int n) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  sum = block_reduce(sum);
  if (threadIdx.x == 0) out[0] = sum;
}

// Inclusive scan of a block.
extern "C" __global__ void scan_inclusive(const uint32_t *in, uint32_t *out, int n) {
  __shared__ uint32_t totals[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t carry = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x;
    uint32_t v = i < n ? in[i] : 0;
    for (int s = 1; s < 32; s *= 2) {
      uint32_t below = __shfl_up_sync(~0u, v, s);
      if (lane >= s) v += below;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
      uint32_t t = lane < blockDim.x / 32 ? totals[lane] : 0;
      for (int s = 1; s < 32; s *= 2) {
        uint32_t below = __shfl_up_sync(~0u, t, s);
        if (lane >= s) t += below;
      }
      totals[lane] = t;
    }
    __syncthreads();
    if (warp > 0) v += totals[warp - 1];
    if (i < n) out[i] = v + carry;
    carry += totals[blockDim.x / 32 - 1];
    __syncthreads();
  }
}

// Work-efficient exclusive scan in shared memory, two elements per thread.
extern "C" __global__ void scan_exclusive(const uint32_t *in, uint32_t *out) {
  extern __shared__ uint32_t tree[];
  int t = threadIdx.x, n = 2 * blockDim.x, step = 1;
  tree[2 * t] = in[2 * t];
  tree[2 * t + 1] = in[2 * t + 1];
  for (int d = n / 2; d > 0; d /= 2, step *= 2) {
    __syncthreads();
    if (t < d) tree[step * (2 * t + 2) - 1] += tree[step * (2 * t + 1) - 1];
  }
  if (t == 0) tree[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    step /= 2;
    __syncthreads();
    if (t < d) {
      int a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1;
      uint32_t v = tree[a];
      tree[a] = tree[b];
      tree[b] += v;
    }
  }
  __syncthreads();
  out[2 * t] = tree[2 * t];
  out[2 * t + 1] = tree[2 * t + 1];
}

// Votes, matches and warp-wide reductions with several masks.
extern "C" __global__ void votes(const uint32_t *in, uint32_t *out) {
  int t = threadIdx.x, lane = t % 32;
  uint32_t v = in[t], *o = out + t * 16;
  o[0] = __ballot_sync(~0u, v & 1);
  o[1] = __any_sync(~0u, (v & 0xff) == 0);
  o[2] = __all_sync(~0u, (v & 0xff) != 0);
  o[3] = __match_any_sync(~0u, v & 3);
  int same;
  o[4] = __match_all_sync(~0u, v >> 31, &same);
  o[5] = same;
  o[6] = __reduce_add_sync(~0u, v);
  o[7] = __reduce_max_sync(~0u, v);
  o[8] = __reduce_min_sync(~0u, (int)v);
  o[9] = __reduce_xor_sync(~0u, v);
  o[10] = __reduce_and_sync(~0u, v | 0xffff0);
  o[11] = __reduce_or_sync(~0u, v & 0xff);
  uint32_t mask = __ballot_sync(~0u, v & 2);
  o[12] = o[13] = 0;
  if (v & 2) {
    o[12] = __reduce_add_sync(mask, v & 0xffff);
    o[13] = __match_any_sync(mask, v & 12);
  }
  __syncwarp();
  o[14] = __shfl_xor_sync(~0u, v, 5, 8) + __shfl_sync(~0u, v, lane + 3, 16);
  o[15] = __activemask() + __popc(__match_any_sync(~0u, (unsigned long long)v % 5));
}
