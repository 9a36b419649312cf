// nvcc -arch=sm_90a
// What is in every textbook, by several hands.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
using B = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

// The scratch memory of a reduction is used again at once.
__device__ __forceinline__ float warpSum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
__device__ __forceinline__ float blockSum(float v, float *scratch) {
  const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  v = warpSum(v);
  if (lane == 0) scratch[wid] = v; // BUG(layernorm): shared-race
  __syncthreads();
  v = (lane < (blockDim.x >> 5)) ? scratch[lane] : 0.f; // OTHER(layernorm)
  v = warpSum(v);
#ifndef BUG
  __syncthreads();
#endif
  return v;
}
extern "C" __global__ void layernorm(const float *__restrict__ x, float *__restrict__ y, int n) {
  __shared__ float scratch[32];
  const float *row = x + blockIdx.x * n;
  float s = 0.f, ss = 0.f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += row[i];
  float mean = blockSum(s, scratch) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float d = row[i] - mean; ss += d * d; }
  float var = blockSum(ss, scratch) / n;
  float r = rsqrtf(var + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = (row[i] - mean) * r;
}

// A histogram whose bins are cleared without a barrier.
extern "C" __global__ void hist256(const unsigned char *data, unsigned *out, int n) {
  __shared__ unsigned h[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    h[i] = 0; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&h[(data[i] * 3) & 255], 1u); // BUG: shared-race
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], h[i]);
}

// The last block to finish adds up; who it is, is told without a barrier.
__device__ unsigned int ticket = 0;
extern "C" __global__ void last_block_sum(const float *in, volatile float *partial, float *out, int n) {
  __shared__ float sm[64];
  __shared__ bool amLast;
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += in[i];
  sm[threadIdx.x] = s;
  __syncthreads();
  for (int k = 32; k > 0; k >>= 1) {
    if (threadIdx.x < k) sm[threadIdx.x] += sm[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sm[0];
    __threadfence();
    unsigned t = atomicInc(&ticket, gridDim.x);
    amLast = (t == gridDim.x - 1); // OTHER
  }
#ifndef BUG
  __syncthreads();
#endif
  if (amLast) { // BUG: shared-race|uninit-shared
    float a = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.f;
    sm[threadIdx.x] = a;
    __syncthreads();
    if (threadIdx.x == 0) {
      float t = 0;
      for (int i = 0; i < blockDim.x; i++) t += sm[i];
      out[0] = t;
      ticket = 0;
    }
  }
}

// The same without a fence before the ticket.
__device__ unsigned int ticket5 = 0;
extern "C" __global__ void last_block_nofence(const float *in, float *partial, float *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x] * 2.f; // OTHER
#ifndef BUG
    __threadfence();
#endif
    last = atomicAdd(&ticket5, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < 32) {
    float v = 0;
    __threadfence();
    for (int i = threadIdx.x; i < gridDim.x; i += 32) v += __ldcg(&partial[i]); // BUG: global-race
    v = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), v, cg::plus<float>());
    if (threadIdx.x == 0) *out = v;
  }
}

// A tile that is transposed without a barrier.
extern "C" __global__ void transpose(const float *in, float *out, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x]; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j]; // BUG: shared-race|uninit-shared
}

// The halo on the right is not loaded.
constexpr int R = 3;
extern "C" __global__ void stencil(const int *in, int *out, int n) {
  __shared__ int t[64 + 2 * R];
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
  t[l] = in[g];
  if (threadIdx.x < R) {
    t[l - R] = g >= R ? in[g - R] : 0;
#ifndef BUG
    t[l + 64] = g + 64 < n ? in[g + 64] : 0;
#endif
  }
  __syncthreads();
  int r = 0;
  for (int o = -R; o <= R; o++)
    r += t[l + o]; // BUG: uninit-shared
  out[g] = r;
}

// A bitonic sort with a barrier in the outer loop only.
extern "C" __global__ void bitonic(unsigned *v) {
  __shared__ unsigned s[128];
  unsigned t = threadIdx.x;
  s[t] = v[t];
  __syncthreads();
  for (unsigned k = 2; k <= 128; k <<= 1) {
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      unsigned x = t ^ j;
      if (x > t) {
        unsigned a = s[t], b = s[x]; // BUG: shared-race OTHER
        bool up = (t & k) == 0;
        if ((a > b) == up) { s[t] = b; s[x] = a; } // BUG: shared-race OTHER
      }
#ifndef BUG
      __syncthreads();
#endif
    }
#ifdef BUG
    __syncthreads();
#endif
  }
  v[t] = s[t];
}

// A scan in place without the barrier between read and write.
extern "C" __global__ void scan_hs(const int *in, int *out) {
  extern __shared__ int tmp[];
  int t = threadIdx.x;
  tmp[t] = in[t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int v = t >= d ? tmp[t - d] : 0; // OTHER
#ifndef BUG
    __syncthreads();
#endif
    tmp[t] += v; // BUG: shared-race
    __syncthreads();
  }
  out[t] = tmp[t];
}

// Threads past the end return before the tile is full.
extern "C" __global__ void early_return(const float *a, float *o, int n) {
  __shared__ float s[96];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
  if (i >= n) return;
  s[threadIdx.x] = a[i];
#else
  s[threadIdx.x] = i < n ? a[i] : 0.f;
#endif
  __syncthreads();
  int k = blockDim.x - 1 - threadIdx.x;
  float v = s[k]; // BUG: uninit-shared
  if (i < n) o[i] = v;
}

// A barrier in a branch that splits a warp.
extern "C" __global__ void sync_in_if(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  if (t < n) {
    s[t] *= 2;
#ifdef BUG
    __syncthreads(); // BUG: barrier-divergence
#endif
  }
#ifndef BUG
  __syncthreads();
#endif
  out[t] = s[127 - t] + 1;
} // OTHER

// Dynamic shared memory is carved by elements instead of bytes.
extern "C" __global__ void carve(const float *a, const short *b, float *o, int n, int m) {
  extern __shared__ __align__(16) unsigned char pool[];
  float *fa = (float *)pool;
#ifdef BUG
  short *sb = (short *)(pool + n); // forgot * sizeof(float)
#else
  short *sb = (short *)(pool + n * sizeof(float));
#endif
  for (int i = threadIdx.x; i < n; i += blockDim.x) fa[i] = a[i]; // OTHER
  for (int i = threadIdx.x; i < m; i += blockDim.x)
    sb[i] = b[i]; // BUG: shared-race
  __syncthreads();
  if (threadIdx.x < m && threadIdx.x < n) o[threadIdx.x] = fa[threadIdx.x] + sb[m - 1 - threadIdx.x];
}

// Two phases use a union without a barrier between them.
union Scratch { float f[64]; unsigned u[64]; };
extern "C" __global__ void union_phases(const float *a, const unsigned *b, float *o) {
  __shared__ Scratch sc;
  int t = threadIdx.x;
  sc.f[t] = a[t];
  __syncthreads();
  float left = sc.f[(t + 1) % 64]; // OTHER
#ifndef BUG
  __syncthreads();
#endif
  sc.u[t] = b[t]; // BUG: shared-race
  __syncthreads();
  o[t] = left + (float)sc.u[(t + 63) % 64];
}

// The last warp of a reduction without __syncwarp.
extern "C" __global__ void harris(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t] + in[t + 128];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
#ifdef BUG
    s[t] += s[t + 32];
    s[t] += s[t + 16]; // BUG: shared-race
    s[t] += s[t + 8]; // BUG: shared-race
    s[t] += s[t + 4]; // BUG: shared-race
    s[t] += s[t + 2]; // BUG: shared-race
    s[t] += s[t + 1]; // BUG: shared-race
#else
    int v = s[t] + s[t + 32];
    for (int d = 16; d; d >>= 1) { __syncwarp(); s[t] = v; __syncwarp(); v += s[(t + d) & 31]; }
    __syncwarp();
    s[t] = v;
#endif
  }
  if (t == 0) *out = s[0];
}

// A lock is given back without a fence.
extern "C" __global__ void lock_add(int *lock, int *acc, const int *in) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    acc[0] += in[blockIdx.x]; // BUG: global-race
    acc[1] += 1; // BUG: global-race
#ifndef BUG
    __threadfence();
#endif
    atomicExch(lock, 0);
  }
}

// An index that forgets a dimension of the block.
extern "C" __global__ void block3d(const int *in, int *out) {
  __shared__ int s[4 * 4 * 4];
#ifdef BUG
  int l = threadIdx.x + 4 * threadIdx.y;
#else
  int l = threadIdx.x + 4 * (threadIdx.y + 4 * threadIdx.z);
#endif
  int g = threadIdx.x + 4 * (threadIdx.y + 4 * threadIdx.z);
  s[l] = in[g]; // BUG: shared-race
  __syncthreads();
  out[g] = s[l];
}

// Vectors of four past the end of the data.
extern "C" __global__ void axpy4(const float *__restrict__ x, float *__restrict__ y, float a, int n) {
  int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i * 4 < n; i += stride) {
#ifndef BUG
    if (i * 4 + 3 >= n) {
      for (int k = i * 4; k < n; k++) y[k] += a * x[k];
      continue;
    }
#endif
    float4 v = __ldg((const float4 *)x + i); // BUG: oob-global
    float4 w = ((float4 *)y)[i];
    w.x += a * v.x; w.y += a * v.y; w.z += a * v.z; w.w += a * v.w;
    ((float4 *)y)[i] = w; // BUG: oob-global
  }
}

// Pairs at an odd offset.
extern "C" __global__ void half2_odd(const __half *x, __half *y, int off) {
  int i = threadIdx.x;
#ifdef BUG
  const __half2 *p = reinterpret_cast<const __half2 *>(x + off);
#else
  const __half2 *p = reinterpret_cast<const __half2 *>(x + (off & ~1));
#endif
  __half2 v = p[i]; // BUG: misaligned
  y[2 * i] = __hadd(v.x, v.x);
  y[2 * i + 1] = __hmul(v.y, v.y);
}

// Fragments are loaded before the tile is there.
extern "C" __global__ void wmma_tile(const half *a, const half *b, float *c) {
  __shared__ half sa[16 * 16], sb[16 * 16];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) { sa[i] = a[i]; sb[i] = b[i]; } // OTHER
#ifndef BUG
  __syncthreads();
#endif
  if (threadIdx.x < 32) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    wmma::load_matrix_sync(fa, sa, 16); // BUG: shared-race|uninit-shared
    wmma::load_matrix_sync(fb, sb, 16); // BUG: shared-race|uninit-shared
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  }
}

// ldmatrix with rows past the end of the tile.
extern "C" __global__ void ldm(const half *a, uint32_t *out) {
  __shared__ alignas(16) half s[16 * 16];
  for (int i = threadIdx.x; i < 256; i += 32) s[i] = a[i];
  __syncwarp();
#ifdef BUG
  int row = threadIdx.x % 16 + 8;
#else
  int row = threadIdx.x % 16;
#endif
  uint32_t p = (uint32_t)__cvta_generic_to_shared(s + row * 16 + threadIdx.x / 16 * 8), r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p)); // BUG: oob-shared
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = r[i];
}

// The last tile is not filled.
extern "C" __global__ void nbody(const float4 *p, float4 *o, int n) {
  __shared__ float4 t[32];
  int i = blockIdx.x * 32 + threadIdx.x;
  float4 acc = {0, 0, 0, 0};
  for (int b = 0; b < n; b += 32) {
    int j = b + threadIdx.x;
#ifdef BUG
    if (j < n) t[threadIdx.x] = p[j];
#else
    t[threadIdx.x] = j < n ? p[j] : make_float4(0, 0, 0, 0);
#endif
    __syncthreads();
    for (int k = 0; k < 32; k++) {
      float4 q = t[k]; // BUG: uninit-shared
      acc.x += q.x; acc.y += q.y;
    }
    __syncthreads();
  }
  if (i < n) o[i] = acc;
}

// A product of matrices without the second barrier.
constexpr int T = 8;
extern "C" __global__ void sgemm(const float *A, const float *B_, float *C, int n) {
  __shared__ float a[T][T], b[T][T + 1];
  int r = blockIdx.y * T + threadIdx.y, c = blockIdx.x * T + threadIdx.x;
  float s = 0.f;
#pragma unroll 1
  for (int k = 0; k < n; k += T) {
    a[threadIdx.y][threadIdx.x] = A[r * n + k + threadIdx.x]; // BUG: shared-race
    b[threadIdx.y][threadIdx.x] = B_[(k + threadIdx.y) * n + c]; // BUG: shared-race
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; i++) s += a[threadIdx.y][i] * b[i][threadIdx.x]; // OTHER
#ifndef BUG
    __syncthreads();
#endif
  }
  C[r * n + c] = s;
}

// Tiles of blocks overlap.
extern "C" __global__ void overlap(const int *in, int *out) {
#ifdef BUG
  int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
#else
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#endif
  out[i] = in[i] * 2 + blockIdx.x; // BUG: global-race
}

// Neighbours are updated in place.
extern "C" __global__ void jacobi(float *u, float *v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) {
#ifdef BUG
    u[i] = 0.5f * (u[i - 1] + u[i + 1]); // BUG: global-race
#else
    v[i] = 0.5f * (u[i - 1] + u[i + 1]);
#endif
  }
}

// A flag is read with memory_order_relaxed.
extern "C" __global__ void sh_atomic(int *out) {
  __shared__ int data;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> f;
  if (threadIdx.x == 0) f.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) {
    data = out[1]; // OTHER
    f.store(1, cuda::memory_order_release);
  } else if (threadIdx.x == 32) {
#ifdef BUG
    while (f.load(cuda::memory_order_relaxed) != 1) {}
#else
    while (f.load(cuda::memory_order_acquire) != 1) {}
#endif
    *out = data; // BUG: shared-race
  }
}

// A queue whose items are published without a fence.
extern "C" __global__ void queue(int *q, int *head, int *ready, int *out) {
  if (blockIdx.x == 0) {
    int s = atomicAdd(head, 1);
    q[s] = threadIdx.x + 1; // OTHER
#ifndef BUG
    __threadfence();
#endif
    atomicExch(&ready[s], 1);
  } else {
    int s = threadIdx.x;
    while (atomicAdd(&ready[s], 0) == 0) __nanosleep(20);
    __threadfence();
    out[s] = q[s]; // BUG: global-race
  }
}

// Doubles at an odd word.
extern "C" __global__ void shared_mis(const double *in, double *out) {
  __shared__ alignas(8) char pool[8 * 33];
#ifdef BUG
  double *d = reinterpret_cast<double *>(pool + 4);
#else
  double *d = reinterpret_cast<double *>(pool + 8);
#endif
  asm volatile("" : "+l"(d));
  d[threadIdx.x] = in[threadIdx.x]; // BUG: misaligned
  __syncwarp();
  out[threadIdx.x] = d[31 - threadIdx.x];
}

// Lanes skip the barriers of a round of the loop.
extern "C" __global__ void rounds(const int *in, int *out, int n) {
  __shared__ int s[64];
  int acc = 0;
  for (int i = 0; i < n; i++) {
#ifdef BUG
    if (in[threadIdx.x] % 3 == i) continue;
#endif
    s[threadIdx.x] = in[threadIdx.x] + i;
    __syncthreads(); // BUG: barrier-divergence|deadlock
    acc += s[63 - threadIdx.x];
    __syncthreads(); // BUG: barrier-divergence|deadlock
  }
  out[threadIdx.x] = acc;
}

// A copy of the whole block is not waited for.
extern "C" __global__ void async_size(const int *in, int *out, int n) {
  __shared__ alignas(16) int a[32];
  __shared__ alignas(16) int b[32];
  auto g = cg::this_thread_block();
  __shared__ B bar;
  if (g.thread_rank() == 0) init(&bar, g.size());
  b[threadIdx.x] = 1;
  g.sync();
  cuda::memcpy_async(g, a, in, cuda::aligned_size_t<16>(128), bar); // OTHER
#ifdef BUG
  (void)bar.arrive();
#else
  bar.arrive_and_wait();
#endif
  out[threadIdx.x] = a[31 - threadIdx.x] + b[31 - threadIdx.x]; // BUG: async-race|shared-race
}

// A reduction over a block whose size is no power of two.
template <class Op> __device__ int block_reduce(int *s, int n, Op op) {
  for (int w = 64; w > 0; w >>= 1) {
#ifdef BUG
    if (threadIdx.x < w)
#else
    if (threadIdx.x < w && threadIdx.x + w < n)
#endif
      s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + w]); // BUG(red_odd): uninit-shared
    __syncthreads();
  }
  return s[0];
}
extern "C" __global__ void red_odd(const int *in, int *out) {
  __shared__ int s[128];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int r = block_reduce(s, blockDim.x, [](int a, int b) { return a > b ? a : b; });
  if (threadIdx.x == 0) *out = r;
}

// One step too many.
extern "C" __global__ void ptr_walk(const int *in, int *out, int n) {
  const int *p = in + threadIdx.x;
  int s = 0;
#ifdef BUG
  for (int k = 0; k <= n; k++)
#else
  for (int k = 0; k < n; k++)
#endif
    s += p[k * 32]; // BUG: oob-global
  out[threadIdx.x] = s;
}
