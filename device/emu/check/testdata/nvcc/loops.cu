// nvcc -arch=sm_89
// Loops over tiles, reductions, scans, sorts and queues, by another hand.
#include <cuda_fp16.h>
#include <stdint.h>
#ifdef BUG
#define IFB(x)
#define B(b, o) b
#else
#define IFB(x) x
#define B(b, o) o
#endif
__device__ __forceinline__ uint32_t su(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void cpa16(void *d, const void *s) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(su(d)), "l"(s) : "memory"); } // BUG(gemm_free, gemm_tri): async-race OTHER(gemm_free, gemm_tri)
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void waitg() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void ldm4(uint32_t *r, uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory"); // BUG(gemm_free, gemm_tri): async-race OTHER(gemm_free, gemm_tri)
}
__device__ __forceinline__ void mma(float *c, const uint32_t *a, const uint32_t *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The barrier at the end of the iteration, which frees the buffer, is missing.
extern "C" __global__ void gemm_free(const half *A, float *C, int nk) {
  __shared__ __align__(128) half s[2][32 * 16];
  int t = threadIdx.x, w = t >> 5, l = t & 31;
  float acc[4] = {};
  const half *g = A + blockIdx.x * 32 * 16;
  cpa16(&s[0][t * 8], g + t * 8);
  commit();
  for (int k = 0; k < nk; ++k) {
    if (k + 1 < nk) cpa16(&s[(k + 1) & 1][t * 8], g + (k + 1) * 512 + t * 8);
    commit();
    waitg<1>();
    __syncthreads();
    uint32_t a[4];
    ldm4(a, su(&s[k & 1][((1 - w) * 16 + (l & 15)) * 16 + (l >> 4) * 8]));
    mma(acc, a, a);
    IFB(__syncthreads());
  }
  for (int i = 0; i < 4; ++i) C[blockIdx.x * 256 + t * 4 + i] = acc[i];
}

// Triple buffering with one barrier an iteration; the copy is issued before the barrier.
extern "C" __global__ void gemm_tri(const half *A, float *C, int nk) {
  __shared__ __align__(128) half s[3][32 * 16];
  int t = threadIdx.x, w = t >> 5, l = t & 31;
  float acc[4] = {};
  for (int p = 0; p < 2; ++p) { cpa16(&s[p][t * 8], A + p * 512 + t * 8); commit(); }
  for (int k = 0; k < nk; ++k) {
#ifdef BUG
    if (k + 2 < nk) cpa16(&s[(k + 2) % 3][t * 8], A + (k + 2) * 512 + t * 8);
    commit();
    waitg<2>();
    __syncthreads();
#else
    waitg<1>();
    __syncthreads();
    if (k + 2 < nk) cpa16(&s[(k + 2) % 3][t * 8], A + (k + 2) * 512 + t * 8);
    commit();
#endif
    uint32_t a[4];
    ldm4(a, su(&s[k % 3][((1 - w) * 16 + (l & 15)) * 16 + (l >> 4) * 8]));
    mma(acc, a, a);
  }
  for (int i = 0; i < 4; ++i) C[t * 4 + i] = acc[i];
}

// Attention: softmax row maxima exchanged between warps through shared memory, no barrier before reuse.
extern "C" __global__ void attn_rowmax(const float *q, float *o, int tiles) {
  __shared__ float red[4];
  int t = threadIdx.x;
  float m = -1e30f, sum = 0;
  for (int k = 0; k < tiles; ++k) {
    float v = q[k * 128 + t], x = v;
    for (int d = 16; d; d >>= 1) x = fmaxf(x, __shfl_xor_sync(~0u, x, d));
    if ((t & 31) == 0) red[t >> 5] = x; // BUG: shared-race OTHER
    __syncthreads();
    float n = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3])); // BUG: shared-race OTHER
    sum = sum * __expf(m - n) + __expf(v - n);
    m = n;
    IFB(__syncthreads());
  }
  o[t] = sum;
}
// Layer norm: the second reduction reuses the scratch of the first.
__device__ float block_sum(float x, float *scratch) {
  for (int d = 16; d; d >>= 1) x += __shfl_down_sync(~0u, x, d);
  IFB(__syncthreads());
  if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = x; // BUG(layernorm): shared-race OTHER(layernorm)
  __syncthreads();
  x = threadIdx.x < blockDim.x / 32 ? scratch[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int d = 16; d; d >>= 1) x += __shfl_down_sync(~0u, x, d);
  if (threadIdx.x == 0) scratch[0] = x;
  __syncthreads();
  return scratch[0]; // BUG(layernorm): shared-race OTHER(layernorm)
}

extern "C" __global__ void layernorm(const float *x, float *y, int n) {
  __shared__ float scratch[32];
  float v = x[blockIdx.x * n + threadIdx.x];
  float mu = block_sum(v, scratch) / n;
  float var = block_sum((v - mu) * (v - mu), scratch) / n;
  y[blockIdx.x * n + threadIdx.x] = (v - mu) * rsqrtf(var + 1e-5f);
}

// Split-K: partial sums are handed on by a semaphore without a fence.
extern "C" __global__ void splitk(const float *part, float *out, int *lock) {
  int t = threadIdx.x;
  float v = part[blockIdx.x * 32 + t];
  if (t == 0)
    while (atomicAdd(lock, 0) != (int)blockIdx.x) ;
  B(__syncthreads(), (__threadfence(), __syncthreads()));
  out[t] += v; // BUG: global-race OTHER
  B(__syncthreads(), (__threadfence(), __syncthreads()));
  if (t == 0) atomicAdd(lock, 1);
}

// Split-K by PTX: red without .release.
extern "C" __global__ void splitk_ptx(const float *part, float *out, int *lock) {
  int t = threadIdx.x;
  float v = part[blockIdx.x * 32 + t];
  if (t == 0) {
    int got;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(got) : "l"(lock) : "memory");
    while (got != (int)blockIdx.x);
  }
  __syncthreads();
  if (blockIdx.x) v += out[t]; // BUG: global-race
  out[t] = v; // OTHER
  __syncthreads();
  if (t == 0)
#ifdef BUG
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(lock) : "memory");
#else
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(lock) : "memory");
#endif
}

// Persistent kernel: the tile number is broadcast; the loop's second barrier is missing.
extern "C" __global__ void persistent(int *counter, float *out, int tiles) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(counter, 1); // BUG: shared-race OTHER
    __syncthreads();
    int my = tile; // BUG: shared-race OTHER
    IFB(__syncthreads());
    if (my >= tiles) return;
    out[my * 64 + threadIdx.x] = my;
  }
}

// Kogge-Stone in one buffer: read and write need a barrier between.
extern "C" __global__ void kogge(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    int v = t >= d ? s[t - d] : 0; // BUG: shared-race OTHER
    IFB(__syncthreads());
    s[t] += v; // BUG: shared-race OTHER
  }
  out[t] = s[t];
}

// Decoupled look-back: value and flag are stored apart, without a fence.
extern "C" __global__ void lookback(const int *in, int *agg, volatile int *flag, int *out) {
  int t = threadIdx.x, b = blockIdx.x, v = in[b * 32 + t];
  v = __reduce_add_sync(~0u, v);
  if (t == 0) {
    agg[b] = v; // OTHER
    IFB(__threadfence());
    flag[b] = 1;
    int sum = 0;
    for (int p = b - 1; p >= 0; --p) {
      while (!flag[p]) ;
      IFB(__threadfence());
      sum += agg[p]; // BUG: global-race
    }
    out[b] = sum + v;
  }
}

// Look-back with packed status words, stored plainly.
extern "C" __global__ void lookback_packed(const int *in, unsigned long long *st, int *out) {
  int t = threadIdx.x, b = blockIdx.x, v = __reduce_add_sync(~0u, in[b * 32 + t]);
  if (t == 0) {
#ifdef BUG
    st[b] = (1ull << 32) | (unsigned)v; // OTHER
#else
    atomicExch(st + b, (1ull << 32) | (unsigned)v);
#endif
    int sum = 0;
    for (int p = b - 1; p >= 0; --p) {
      unsigned long long x;
      do x = atomicAdd(st + p, 0ull); // BUG: global-race
      while (!(x >> 32));
      sum += (int)x;
    }
    out[b] = sum + v;
  }
}

// Hash table: the slot is tested by a plain load and stored plainly, not by CAS.
extern "C" __global__ void hash_insert(const int *keys, int *table) {
  int key = keys[blockIdx.x * 64 + threadIdx.x] % 40 + 1, h = (key * 7) & 63;
  for (int i = 0; i < 64; ++i, h = (h + 1) & 63) {
#ifdef BUG
    int old = table[h]; // BUG: global-race OTHER
    if (old == 0) table[h] = key; // BUG: global-race OTHER
#else
    int old = atomicCAS(table + h, 0, key);
#endif
    if (old == 0 || old == key) break;
  }
}

// Work queue in shared memory: the item is written after the tail is raised.
extern "C" __global__ void queue_tail(int *out) {
  __shared__ int item[32];
  __shared__ int tail;
  if (threadIdx.x == 0) tail = 0;
  __syncthreads();
  int t = threadIdx.x;
  if (t < 32) {
#ifdef BUG
    int at = atomicAdd(&tail, 1);
    item[at] = t * 3; // OTHER
#else
    item[t] = t * 3;
    __threadfence_block();
    atomicAdd(&tail, 1);
#endif
  } else {
    while (atomicAdd(&tail, 0) < 32) ;
    __threadfence_block();
    out[t] = item[t - 32]; // BUG: shared-race
  }
}

// Convolution: the halo on the right is filled by too few threads.
extern "C" __global__ void conv_halo(const float *in, float *out, int n) {
  __shared__ float s[64 + 4];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t + 2] = in[g];
  if (t < 2) s[t] = g >= 2 ? in[g - 2] : 0;
  if (t < B(1, 2)) s[66 + t] = g + 64 < n ? in[g + 64] : 0;
  __syncthreads();
  float r = 0;
#pragma unroll
  for (int i = 0; i < 5; ++i) r += s[t + i]; // BUG: uninit-shared
  out[g] = r;
}

// Transpose with a pitch of 33: the write back transposes within the warp only.
extern "C" __global__ void transpose33(const float *in, float *out) {
  __shared__ float s[32][33];
  for (int j = threadIdx.y; j < 32; j += 8) s[j][threadIdx.x] = in[j * 32 + threadIdx.x]; // BUG: shared-race OTHER
  B(__syncwarp(), __syncthreads());
  for (int j = threadIdx.y; j < 32; j += 8) out[j * 32 + threadIdx.x] = s[threadIdx.x][j]; // BUG: shared-race OTHER
}

// Matrix and vector: rows by warps, lanes past the row leave before the shuffle.
extern "C" __global__ void matvec(const float *m, const float *v, float *y, int n) {
  int row = threadIdx.x >> 5, l = threadIdx.x & 31;
#ifdef BUG
  if (l >= n) return;
  float s = m[row * n + l] * v[l];
#else
  float s = l < n ? m[row * n + l] * v[l] : 0;
#endif
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(B(__activemask(), ~0u), s, d); // BUG: shuffle-inactive
  if (l == 0) y[row] = s; // OTHER
}

// RNG state in shared memory, shared by two threads.
extern "C" __global__ void rng_state(unsigned *out) {
  __shared__ unsigned st[64];
  int t = threadIdx.x;
  st[t] = t * 747796405u + 1;
  __syncthreads();
  unsigned *mine = &st[B(t & 31, t)];
  unsigned x = *mine; // BUG: shared-race
  x ^= x << 13; x ^= x >> 17; x ^= x << 5;
  *mine = x; // BUG: shared-race OTHER
  out[t] = x;
}

// Dynamic shared memory carved by offsets; the arrays overlap by one element.
extern "C" __global__ void carve(const int *in, int *out) {
  extern __shared__ int dyn[];
  int *a = dyn, *b = dyn + B(63, 64);
  int t = threadIdx.x;
  a[t] = in[t]; // BUG: shared-race OTHER
  b[t] = in[t] * 2; // BUG: shared-race OTHER
  __syncthreads();
  out[t] = a[63 - t] + b[63 - t];
}

// A union: the histogram is built over keys that are still read.
extern "C" __global__ void unioned(const int *in, int *out) {
  __shared__ union { int keys[64]; int hist[16]; } u;
  int t = threadIdx.x;
  u.keys[t] = in[t];
  __syncthreads();
  int k = u.keys[63 - t]; // BUG: shared-race OTHER
  IFB(__syncthreads());
  if (t < 16) u.hist[t] = 0; // BUG: shared-race OTHER
  __syncthreads();
  atomicAdd(&u.hist[k & 15], 1);
  __syncthreads();
  out[t] = u.hist[t & 15];
}

// The last block adds up the others' sums: no fence before the ticket.
extern "C" __global__ void last_block(const float *in, float *part, unsigned *ticket, float *out) {
  __shared__ float s[64];
  __shared__ bool last;
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  for (int d = 32; d; d >>= 1) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
  if (t == 0) {
    part[blockIdx.x] = s[0]; // OTHER
    IFB(__threadfence());
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    IFB(__threadfence());
    float r = 0;
    for (int i = 0; i < gridDim.x; ++i) r += part[i]; // BUG: global-race
    *out = r;
  }
}

// The fence is of the block's scope only.
extern "C" __global__ void fence_scope(int *data, int *flag, int *out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t; // OTHER
    B(__threadfence_block(), __threadfence());
    __syncwarp();
    if (t == 0) atomicExch(flag, 1);
  } else {
    if (t == 0) while (atomicAdd(flag, 0) == 0) ;
    __syncwarp();
    __threadfence();
    out[t] = data[t]; // BUG: global-race
  }
}

// Lost update: a counter without an atomic.
extern "C" __global__ void lost_update(const int *in, int *cnt) {
  int b = in[blockIdx.x * 64 + threadIdx.x] & 7;
#ifdef BUG
  cnt[b]++; // BUG: global-race OTHER
#else
  atomicAdd(&cnt[b], 1);
#endif
}

// Atomics of the block's scope on memory of several blocks.
extern "C" __global__ void atom_block(int *cnt) {
  B(atomicAdd_block(cnt, 1), atomicAdd(cnt, 1)); // BUG: global-race OTHER
}

// Jacobi in place: reads neighbours that other blocks write.
extern "C" __global__ void jacobi(float *a, float *b) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float l = i > 0 ? a[i - 1] : 0, r = i < 127 ? a[i + 1] : 0; // BUG: global-race OTHER
  B(a, b)[i] = 0.5f * (l + r) + i; // BUG: global-race OTHER
}

// Top-k: the merge reads lists of warps that had no rows.
extern "C" __global__ void topk(const float *in, float *out, int n) {
  __shared__ float best[4][2];
  int t = threadIdx.x, w = t >> 5;
  if (B(w * 32 < n, true)) {
    float a = t < n ? in[t] : -INFINITY;
    for (int d = 16; d; d >>= 1) a = fmaxf(a, __shfl_xor_sync(~0u, a, d));
    if ((t & 31) == 0) best[w][0] = a, best[w][1] = -a;
  }
  __syncthreads();
  if (t == 0) {
    float m = -INFINITY;
    for (int i = 0; i < 4; ++i) m = fmaxf(m, best[i][0]); // BUG: uninit-shared
    out[0] = m;
  }
}

// Bitonic sort in shared memory: the barrier is only in the outer loop.
extern "C" __global__ void bitonic(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = (in[t] * 37) & 63;
  __syncthreads();
  for (int k = 2; k <= 64; k *= 2) {
    for (int j = k / 2; j; j >>= 1) {
      int o = t ^ j;
      if (o > t) {
        int a = s[t], b = s[o]; // BUG: shared-race OTHER
        if ((a > b) == ((t & k) == 0)) { s[t] = b; s[o] = a; } // BUG: shared-race OTHER
      }
      IFB(__syncthreads());
    }
    __syncthreads();
  }
  out[t] = s[t];
}

// Packed bytes: four threads share a word and read-modify-write it.
extern "C" __global__ void pack_bytes(const int *in, unsigned char *out) {
  int t = threadIdx.x;
  unsigned v = in[t] & 255;
#ifdef BUG
  unsigned *w = (unsigned *)out + t / 4;
  *w = (*w & ~(255u << (t % 4 * 8))) | v << (t % 4 * 8); // BUG: global-race OTHER
#else
  out[t] = v;
#endif
}

// half2 store into a padded shared tile with an odd pitch.
extern "C" __global__ void half2_pitch(half2 *out) {
  __shared__ half s[8 * 18];
  constexpr int P = B(17, 18);
  int t = threadIdx.x, r = t >> 3, c = t & 7;
  *(half2 *)&s[r * P + c * 2] = __floats2half2_rn(t, t); // BUG: misaligned
  __syncthreads();
  out[t] = *(half2 *)&s[r * P + c * 2];
}

// Local array indexed past its end.
extern "C" __global__ void local_past(const int *in, int *out, int n) {
  int h[8] = {};
  for (int i = 0; i < 16; ++i) h[(in[threadIdx.x] + i) % (n + B(1, 0))] += i; // BUG: oob-local
  int s = 0;
  for (int i = 0; i < n; ++i) s += h[i] * i;
  out[threadIdx.x] = s;
}

// Local array of which the last element is not set.
extern "C" __global__ void local_unset(const int *in, int *out, int n) {
  int h[8];
#pragma unroll 1
  for (int i = 0; i < n - B(1, 0); ++i) h[(i * 3) & 7] = in[i];
  int s = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) s = s * 3 + h[i]; // BUG: uninit-local
  out[threadIdx.x] = s; // OTHER
}

// An accumulator without a start.
extern "C" __global__ void acc_unset(const float *in, float *out, int n) {
  float acc B(, = 0);
  for (int i = 0; i < n; ++i) acc += in[i * 32 + threadIdx.x]; // OTHER
  out[threadIdx.x] = acc; // BUG: uninit-register
}

// Histogram in shared memory that nobody clears.
extern "C" __global__ void hist_unset(const int *in, int *out) {
  __shared__ int h[16];
  int t = threadIdx.x;
  IFB(if (t < 16) h[t] = 0);
  __syncthreads();
  atomicAdd(&h[in[t] & 15], 1); // BUG: uninit-shared
  __syncthreads();
  if (t < 16) out[t] = h[t];
}

// __syncwarp of the wrong half.
extern "C" __global__ void syncwarp_half(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;
    __syncwarp(B(0xffff0000u, 0x0000ffffu)); // BUG: barrier-divergence
    out[t] = s[15 - t];
  } else out[t] = 0;
}

// Each half of the warp waits for itself and reads the other.
extern "C" __global__ void syncwarp_pairs(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t; // OTHER
  __syncwarp(t < 16 ? 0xffffu : 0xffff0000u);
  out[t] = s[t ^ B(16, 8)]; // BUG: shared-race
}

// shfl from a lane that has left.
extern "C" __global__ void shfl_left(const int *in, int *out, int n) {
  int t = threadIdx.x;
  if (t >= n) return;
  unsigned m = (1u << n) - 1;
  int v = __shfl_sync(m, in[t], B(n, n - 1)); // BUG: shuffle-inactive
  out[t] = v; // OTHER
}

// A tail iteration where some lanes are out of the loop, the shuffle inside.
extern "C" __global__ void shfl_tail(const int *in, int *out, int n) {
  int t = threadIdx.x, s = 0;
#ifdef BUG
  for (int i = t; i < n; i += 32) {
    int v = in[i];
    s += __shfl_xor_sync(~0u, v, 16); // BUG: shuffle-inactive
  }
#else
  for (int i = t; i - t < n; i += 32) {
    int v = i < n ? in[i] : 0;
    s += __shfl_xor_sync(~0u, v, 16);
  }
#endif
  out[t] = s; // OTHER
}

// A barrier inside a loop whose trip count depends on the thread.
extern "C" __global__ void bar_loop(const int *in, int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, acc = 0;
#ifdef BUG
  for (int i = t; i < n; i += 64) {
    s[t] = in[i];
    __syncthreads(); // BUG: barrier-divergence
    acc += s[0];
    __syncthreads(); // BUG: barrier-divergence
  }
#else
  for (int b = 0; b < n; b += 64) {
    if (b + t < n) s[t] = in[b + t];
    __syncthreads();
    acc += s[0];
    __syncthreads();
  }
#endif
  out[t] = acc;
} // OTHER

// cp.async of 4 bytes each; the wait is there, the barrier is not.
extern "C" __global__ void cpasync4(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(su(s + t)), "l"(in + t) : "memory"); // BUG: async-race OTHER
  asm volatile("cp.async.wait_all;" ::: "memory");
  IFB(__syncthreads());
  out[t] = s[63 - t]; // BUG: async-race OTHER
}

// cp.async with zero fill; the source size is wrong for the tail.
extern "C" __global__ void cpasync_tail(const float *in, float4 *out, int n) {
  __shared__ float4 s[32];
  int t = threadIdx.x, left = max(0, min(16, (n - t * 4) * 4));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(su(s + t)), "l"(in + B(t * 4, (left ? t * 4 : 0))), "r"(B(16, left)) : "memory"); // BUG: oob-global
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  out[t] = s[31 - t];
}

// Two locks in opposite order.
extern "C" __global__ void abba(int *lock, int *n, int *met) {
  if (threadIdx.x) return;
  int a = B(blockIdx.x, 0), b = 1 - a;
  while (atomicCAS(lock + a, 0, 1)) ;
#ifdef BUG
  atomicExch(met + a, 1);
  while (!atomicAdd(met + b, 0)) ;
#endif
  while (atomicCAS(lock + b, 0, 1)) ; // BUG: deadlock
  __threadfence();
  *n += 1;
  __threadfence();
  atomicExch(lock + b, 0);
  atomicExch(lock + a, 0);
}

// A flag that the compiler may keep in a register: the wait never ends.
extern "C" __global__ void flag_plain(B(, volatile) int *flag, int *out) {
  if (threadIdx.x == 0) { out[1] = 5; __threadfence(); *flag = 1; } // BUG: global-race OTHER
  if (threadIdx.x == 32) {
    while (*flag == 0) ; // BUG: deadlock|global-race OTHER
    __threadfence();
    out[0] = out[1]; // BUG: global-race
  }
}
