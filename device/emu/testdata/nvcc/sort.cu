// Sorts, histograms and compaction.
#include <cstdint>

// Bitonic sort of a block's keys in shared memory.
extern "C" __global__ void bitonic(uint32_t *keys, int n) {
  extern __shared__ uint32_t s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = keys[i];
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int other = i ^ j;
        if (other > i && (s[i] > s[other]) == ((i & k) == 0)) {
          uint32_t v = s[i];
          s[i] = s[other];
          s[other] = v;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = s[i];
}

// Least significant digit radix sort of one block's signed keys, with values.
extern "C" __global__ void radix(const int32_t *keys, int32_t *sorted, uint32_t *from) {
  extern __shared__ uint32_t s[];
  uint32_t *key = s, *val = s + blockDim.x;
  __shared__ uint32_t zeros[32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;
  key[t] = (uint32_t)keys[t] ^ 0x80000000u;
  val[t] = t;
  __syncthreads();
  for (int bit = 0; bit < 32; bit++) {
    uint32_t k = key[t], v = val[t];
    bool one = k >> bit & 1;
    uint32_t vote = __ballot_sync(~0u, !one);
    uint32_t below = __popc(vote & ((1u << lane) - 1));
    if (lane == 0) zeros[warp] = __popc(vote);
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (int w = 0; w < warps; w++) {
      if (w < warp) before += zeros[w];
      all += zeros[w];
    }
    uint32_t rank = before + below;
    uint32_t to = one ? all + t - rank : rank;
    __syncthreads();
    key[to] = k;
    val[to] = v;
    __syncthreads();
  }
  sorted[t] = (int32_t)(key[t] ^ 0x80000000u);
  from[t] = val[t];
}

extern "C" __global__ void histogram_shared(const uint8_t *in, uint32_t *bins, int n) {
  __shared__ uint32_t mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

extern "C" __global__ void histogram_global(const uint32_t *in, unsigned long long *bins, int *most, int *least, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[in[i] >> 26], (unsigned long long)in[i]);
    atomicMax(most, (int)in[i]);
    atomicMin(least, (int)in[i]);
  }
}

// Keeps the odd keys; the lanes of a warp get their places with one atomic.
extern "C" __global__ void compact(const uint32_t *in, uint32_t *kept, uint32_t *count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint32_t v = in[i];
    if (!(v & 1)) continue;
    uint32_t active = __activemask();
    int lane = threadIdx.x % 32, leader = __ffs(active) - 1;
    uint32_t base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(active));
    base = __shfl_sync(active, base, leader);
    kept[base + __popc(active & ((1u << lane) - 1))] = v;
  }
}

// Odd-even merge of the halves, ranks by binary search.
extern "C" __global__ void merge(const uint32_t *a, const uint32_t *b, uint32_t *out, int na, int nb) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= na + nb) return;
  bool left = i < na;
  uint32_t v = left ? a[i] : b[i - na];
  const uint32_t *other = left ? b : a;
  int lo = 0, hi = left ? nb : na;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (left ? other[mid] < v : other[mid] <= v) lo = mid + 1; else hi = mid;
  }
  out[(left ? i : i - na) + lo] = v;
}
