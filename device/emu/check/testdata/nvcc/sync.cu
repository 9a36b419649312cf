// nvcc -arch=sm_80
// Barriers of the block that are missing, or that part of the block misses.

constexpr int T = 16;

// A tiled product: the tiles are read before all threads have loaded them.
extern "C" __global__ void matmul_load(const float *a, const float *b, float *c, int n) {
  __shared__ float as[T][T], bs[T][T];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    as[y][x] = a[row * n + k + x]; // OTHER
    bs[y][x] = b[(k + y) * n + col]; // OTHER
#ifndef BUG
    __syncthreads();
#endif
#pragma unroll 1
    for (int i = 0; i < T; i++)
      sum += as[y][i] * bs[i][x]; // BUG: shared-race
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// A tiled product: the next tiles are loaded while others still multiply.
extern "C" __global__ void matmul_reuse(const float *a, const float *b, float *c, int n) {
  __shared__ float as[T][T], bs[T][T];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    as[y][x] = a[row * n + k + x]; // BUG: shared-race
    bs[y][x] = b[(k + y) * n + col]; // BUG: shared-race
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; i++)
      sum += as[y][i] * bs[i][x]; // OTHER
#ifndef BUG
    __syncthreads();
#endif
  }
  c[row * n + col] = sum;
}

// A transposition through shared memory.
extern "C" __global__ void transpose(const float *in, float *out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x]; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j]; // BUG: shared-race
}

// A tree of sums without a barrier between its levels.
extern "C" __global__ void reduce_tree(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int i = 128; i > 0; i >>= 1) {
    if (t < i)
      s[t] += s[t + i]; // BUG: shared-race OTHER
#ifndef BUG
    __syncthreads();
#endif
  }
#ifdef BUG
  __syncthreads();
#endif
  if (t == 0) out[blockIdx.x] = s[0];
}

// An inclusive scan in place: the sums are written before all were read.
extern "C" __global__ void scan_in_place(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int v = t >= d ? s[t - d] : 0; // OTHER
#ifndef BUG
    __syncthreads();
#endif
    s[t] += v; // BUG: shared-race
    __syncthreads();
  }
  out[t] = s[t];
}

// A stencil with a halo, of which the halo is read too early.
extern "C" __global__ void stencil(const float *in, float *out, int n) {
  __shared__ float s[128 + 2];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x + 1] = in[i]; // OTHER
  if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] : 0.f; // OTHER
  if (threadIdx.x == 127) s[129] = i + 1 < n ? in[i + 1] : 0.f; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  out[i] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2]; // BUG: shared-race
}

// A histogram whose bins are cleared while others already count.
extern "C" __global__ void histogram(const unsigned *in, unsigned *bins) {
  __shared__ unsigned s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = 0; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  atomicAdd(&s[in[blockIdx.x * blockDim.x + threadIdx.x] % 64], 1); // BUG: shared-race
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

// The sum of a row takes the place of its maximum, which others may not have read.
extern "C" __global__ void softmax(const float *in, float *out) {
  __shared__ float s[128], shared;
  int t = threadIdx.x;
  float v = in[blockIdx.x * 128 + t];
  s[t] = v;
  __syncthreads();
  if (t == 0) {
    float m = s[0];
    for (int i = 1; i < 128; i++) m = fmaxf(m, s[i]);
    shared = m;
  }
  __syncthreads();
  float e = __expf(v - shared); // OTHER
  s[t] = e;
#ifndef BUG
  __syncthreads();
#endif
  if (t == 96) {
    float sum = 0;
#ifdef BUG
    for (int i = 96; i < 97; i++) sum += s[i];
#else
    for (int i = 0; i < 128; i++) sum += s[i];
#endif
    shared = sum; // BUG: shared-race
  }
  __syncthreads();
  out[blockIdx.x * 128 + t] = e / shared;
}

__device__ float block_sum(float v, float *partial) {
  for (int i = 16; i > 0; i /= 2) v += __shfl_down_sync(~0u, v, i);
#ifndef BUG
  __syncthreads();
#endif
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v; // BUG(variance): shared-race
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) sum += partial[i]; // OTHER(variance)
  return sum;
}

// Two sums of the block through the same partial sums, with no barrier between.
extern "C" __global__ void variance(const float *in, float *out) {
  __shared__ float partial[4];
  float v = in[threadIdx.x];
  float mean = block_sum(v, partial) / 128;
  float d = v - mean;
  out[threadIdx.x] = block_sum(d * d, partial);
}

// A warp turns a tile of its own around, without __syncwarp.
extern "C" __global__ void warp_transpose(const int *in, int *out) {
  __shared__ int tile[4][32][2];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  tile[w][lane][0] = in[threadIdx.x * 2]; // OTHER
  tile[w][lane][1] = in[threadIdx.x * 2 + 1]; // OTHER
#ifndef BUG
  __syncwarp();
#endif
  const int *flat = &tile[w][0][0];
  out[w * 64 + lane] = flat[lane]; // BUG: shared-race
  out[w * 64 + 32 + lane] = flat[lane + 32]; // BUG: shared-race
}

// The last levels of a tree rely on warps being in lockstep.
extern "C" __global__ void reduce_last_warp(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32]; // OTHER
#pragma unroll
    for (int i = 16; i > 0; i /= 2) {
#ifndef BUG
      __syncwarp();
#endif
      int v = s[t + i]; // BUG: shared-race
#ifndef BUG
      __syncwarp();
#endif
      if (t < i) s[t] += v; // BUG: shared-race OTHER
    }
    if (t == 0) out[0] = s[0];
  }
}

// Two warps own the same rows and both update their maxima and sums.
extern "C" __global__ void row_owners(const float *scores, float *out) {
  __shared__ float m[16], l[16];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < 16) m[threadIdx.x] = -1e30f, l[threadIdx.x] = 0;
  __syncthreads();
#ifdef BUG
  int first = 0, last = 16;
#else
  int first = w * 8, last = first + 8;
#endif
  for (int row = first; row < last; row++) {
    float v = scores[row * 64 + w * 32 + lane], top = v;
    for (int i = 16; i > 0; i /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, i));
    if (lane == 0) {
      float old = m[row], now = fmaxf(old, top); // BUG: shared-race OTHER
      l[row] = l[row] * __expf(old - now) + 1; // BUG: shared-race OTHER
      m[row] = now; // BUG: shared-race OTHER
    }
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = m[threadIdx.x] + l[threadIdx.x];
}

// A counter in shared memory that is not added to atomically.
extern "C" __global__ void count_shared(const int *in, int *out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (in[threadIdx.x] > 10) {
#ifdef BUG
    count++; // BUG: shared-race OTHER
#else
    atomicAdd(&count, 1);
#endif
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}

// A producer warp and a flag that is volatile, but nothing orders the data.
extern "C" __global__ void flag_shared(const int *in, int *out) {
  __shared__ int data[32];
  __shared__ volatile int ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 32) {
    data[t] = in[t] * 3; // OTHER
    __syncwarp();
    if (t == 0) {
#ifndef BUG
      __threadfence_block();
#endif
      ready = 1;
    }
  } else {
    while (!ready) {}
#ifndef BUG
    __threadfence_block();
#endif
    out[t - 32] = data[63 - t]; // BUG: shared-race
  }
}

// A barrier in a branch that half of each warp takes.
extern "C" __global__ void barrier_in_branch(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
#ifdef BUG
  if (t % 32 < 16) {
    s[t] *= 2;
    __syncthreads(); // BUG: barrier-divergence
  }
#else
  if (t % 32 < 16) s[t] *= 2;
  __syncthreads();
#endif
  out[t] = s[t] + 1;
}

// Lanes go round a loop with a barrier in it as often as their data says.
extern "C" __global__ void barrier_in_loop(const int *in, int *out) {
  __shared__ int s;
  int t = threadIdx.x;
#ifdef BUG
  int n = 1 + t % 3;
#else
  int n = 3;
#endif
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (t == 0) s = in[i];
    __syncthreads(); // BUG: barrier-divergence
    sum += s; // BUG: barrier-divergence
    __syncthreads(); // BUG: barrier-divergence
  }
  out[t] = sum;
}

// Threads past the end leave before the barrier.
extern "C" __global__ void barrier_after_return(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
#ifdef BUG
  if (t >= n) return;
  s[t] = in[t];
  __syncthreads(); // BUG: barrier-divergence any
  out[t] = s[n - 1 - t];
#else
  if (t < n) s[t] = in[t];
  __syncthreads();
  if (t < n) out[t] = s[n - 1 - t];
#endif
}

// A producer fills one buffer again and again, and does not wait for its readers.
extern "C" __global__ void named_barriers(const int *in, int *out, int rounds) {
  __shared__ int s[32];
  int t = threadIdx.x, lane = t % 32, sum = 0;
  for (int i = 0; i < rounds; i++) {
    if (t < 32) {
      s[lane] = in[i * 32 + lane]; // BUG: shared-race
      asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += s[31 - lane]; // OTHER
    }
#ifndef BUG
    asm volatile("bar.sync 2, 64;" ::: "memory");
#endif
  }
  if (t >= 32) out[lane] = sum;
}
