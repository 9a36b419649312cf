// nvcc -arch=sm_90a
// Barriers in shared memory, copies, products and clusters, by several hands.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda.h>
#include <stdint.h>
namespace cg = cooperative_groups;
__device__ __forceinline__ uint32_t sa(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
struct Bar { uint64_t w;
  __device__ void init(int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sa(&w)), "r"(n) : "memory"); } // BUG(mbar_reinit): mbarrier-misuse
  __device__ void expect(int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(&w)), "r"(n) : "memory"); }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(&w)) : "memory"); } // BUG(over_arrive): mbarrier-misuse
  __device__ bool test(int ph) { int ok; asm volatile("{ .reg .pred P1; mbarrier.try_wait.parity.shared::cta.b64 P1, [%1], %2; selp.b32 %0, 1, 0, P1; }" : "=r"(ok) : "r"(sa(&w)), "r"(ph) : "memory"); return ok; } // BUG(mbar_parity): shared-race|deadlock
  __device__ void wait(int ph) { while (!test(ph)) {} }
};
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void wg_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ uint64_t desc(const void *p) { // no swizzle, K-major 8x8 cores: LBO 128, SBO 256
  uint64_t a = sa(p);
  return ((a & 0x3ffff) >> 4) | ((uint64_t)(128 >> 4) << 16) | ((uint64_t)(256 >> 4) << 32);
}
__device__ __forceinline__ void wgmma_m64n8k16(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b)); // BUG(wg_cpasync): proxy-fence // OTHER(wg_refill)
}
// element (r, k) of a K-major operand of 16 columns: cores of 8 rows x 16 bytes
__device__ __forceinline__ int core(int r, int k) { return (r / 8) * 128 + (k / 8) * 64 + (r % 8) * 8 + k % 8; }

// Results are used before the wait.
extern "C" __global__ void wg_nowait(const __half *A, const __half *B, float *D) {
  __shared__ alignas(128) __half sA[64 * 16], sB[8 * 16];
  int t = threadIdx.x;
  for (int i = t; i < 64 * 16; i += 128) sA[core(i / 16, i % 16)] = A[i];
  sB[core(t / 16, t % 16)] = B[t];
  fence_async();
  __syncthreads();
  float d[4] = {};
  wg_fence();
  wgmma_m64n8k16(d, desc(sA), desc(sB));
  wg_commit();
#ifndef BUG
  wg_wait<0>();
#endif
  for (int i = 0; i < 4; i++)
    D[t * 4 + i] = d[i]; // BUG: wgmma-hazard
  wg_wait<0>();
}

// A factor is overwritten while the product reads it.
extern "C" __global__ void wg_refill(const __half *A, const __half *B, float *D, int n) {
  __shared__ alignas(128) __half sA[64 * 16], sB[8 * 16];
  int t = threadIdx.x;
  sB[core(t / 16, t % 16)] = B[t];
  float d[4] = {};
  for (int k = 0; k < n; k++) {
    for (int i = t; i < 64 * 16; i += 128) sA[core(i / 16, i % 16)] = A[i]; // BUG: async-race
    fence_async();
    __syncthreads();
    wg_fence();
    wgmma_m64n8k16(d, desc(sA), desc(sB));
    wg_commit();
#ifdef BUG
    wg_wait<1>();
#else
    wg_wait<0>();
#endif
    __syncthreads();
  }
  wg_wait<0>();
  for (int i = 0; i < 4; i++) D[t * 4 + i] = d[i];
}

// cp.async brings a factor, and no proxy fence follows.
extern "C" __global__ void wg_cpasync(const __half *A, const __half *B, float *D) {
  __shared__ alignas(128) __half sA[64 * 16], sB[8 * 16];
  int t = threadIdx.x;
  // one 16-byte core row a thread
  int r = t / 2, k = (t % 2) * 8;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sa(sA + core(r, k))), "l"(A + r * 16 + k) : "memory"); // OTHER
  if (t < 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sa(sB + core(r, k))), "l"(B + r * 16 + k) : "memory"); // OTHER
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#ifndef BUG
  fence_async();
#endif
  __syncthreads();
  float d[4] = {};
  wg_fence();
  wgmma_m64n8k16(d, desc(sA), desc(sB));
  wg_commit();
  wg_wait<0>();
  for (int i = 0; i < 4; i++) D[t * 4 + i] = d[i];
}

// No wgmma.fence after the accumulator is loaded.
extern "C" __global__ void wg_first_fence(const __half *A, const __half *B, float *D) {
  __shared__ alignas(128) __half sA[64 * 16], sB[8 * 16];
  int t = threadIdx.x;
  for (int i = t; i < 64 * 16; i += 128) sA[core(i / 16, i % 16)] = A[i];
  sB[core(t / 16, t % 16)] = B[t];
  fence_async();
  __syncthreads();
  float d[4];
  for (int i = 0; i < 4; i++) d[i] = D[t * 4 + i];
#ifndef BUG
  wg_fence();
#endif
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(desc(sA)), "l"(desc(sB))); // BUG: wgmma-hazard
  wg_commit();
  wg_wait<0>();
  for (int i = 0; i < 4; i++) D[t * 4 + i] = d[i];
}

// A block reads what another one pushed without a barrier of the cluster.
extern "C" __global__ void __cluster_dims__(2) dsmem_push(const int *in, int *out) {
  __shared__ int inbox[64];
  cg::cluster_group c = cg::this_cluster();
  int *peer = c.map_shared_rank(inbox, c.block_rank() ^ 1);
  c.sync();
  peer[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x]; // OTHER
#ifdef BUG
  __syncthreads();
#else
  c.sync();
#endif
  out[blockIdx.x * 64 + threadIdx.x] = inbox[63 - threadIdx.x]; // BUG: shared-race|uninit-shared
#ifdef BUG
  c.sync();
#endif
}

// A block ends while another reads its shared memory.
extern "C" __global__ void __cluster_dims__(2) dsmem_exit(const int *in, int *out) {
  __shared__ int box[64];
  cg::cluster_group c = cg::this_cluster();
  box[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  c.sync();
  int v = c.map_shared_rank(box, c.block_rank() ^ 1)[threadIdx.x]; // BUG: shared-race
  out[blockIdx.x * 64 + threadIdx.x] = v;
#ifndef BUG
  c.sync();
#endif
}

// Fewer bytes are expected than the tensor copy brings.
extern "C" __global__ void tma_bytes(const __grid_constant__ CUtensorMap map, float *out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ Bar bar;
  if (threadIdx.x == 0) { bar.init(1); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
  __syncthreads();
  if (threadIdx.x == 0) {
#ifdef BUG
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(&bar.w)), "n"(8 * 32 * 2) : "memory"); // BUG: mbarrier-misuse
#else
    bar.expect(sizeof(tile));
#endif
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(sa(tile)), "l"(&map), "r"(0), "r"(blockIdx.x * 8), "r"(sa(&bar.w)) : "memory");
  }
  bar.wait(0);
  out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x / 32][threadIdx.x % 32];
}

// No proxy fence before a tensor store.
extern "C" __global__ void tma_store(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) float tile[8][32];
  tile[threadIdx.x / 32][threadIdx.x % 32] = threadIdx.x; // OTHER
#ifndef BUG
  fence_async();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0), "r"(0), "r"(sa(tile)) : "memory"); // BUG: proxy-fence
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// No barrier after the initialisation.
extern "C" __global__ void mbar_nosync(const int *in, int *out) {
  __shared__ Bar bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) bar.init(64);
#ifndef BUG
  __syncthreads();
#endif
  s[threadIdx.x] = in[threadIdx.x];
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(&bar.w)) : "memory"); // BUG: shared-race|mbarrier-misuse
  bar.wait(0);
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// The second wait is for the first phase.
extern "C" __global__ void mbar_parity(const int *in, int *out) {
  __shared__ Bar bar;
  __shared__ int s[2][64];
  int t = threadIdx.x;
  if (t == 0) bar.init(64);
  __syncthreads();
  s[0][t] = in[t];
  bar.arrive();
  bar.wait(0);
  int v = s[0][63 - t];
  s[1][t] = v + 1; // OTHER
  bar.arrive();
#ifdef BUG
  bar.wait(0);
#else
  bar.wait(1);
#endif
  out[t] = s[1][63 - t]; // BUG: shared-race|deadlock
}

// All lanes arrive where one of each warp is awaited.
extern "C" __global__ void over_arrive(const int *in, int *out) {
  __shared__ Bar bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) bar.init(2);
  __syncthreads();
  s[t] = in[t];
#ifdef BUG
  bar.arrive();
#else
  __syncwarp();
  if (t % 32 == 0) bar.arrive();
#endif
  bar.wait(0);
  out[t] = s[63 - t];
}

// Initialised again for every tile.
extern "C" __global__ void mbar_reinit(const int *in, int *out, int n) {
  __shared__ Bar bar;
  __shared__ int s[64];
  int t = threadIdx.x;
#ifndef BUG
  if (t == 0) bar.init(64);
  __syncthreads();
#endif
  int acc = 0;
  for (int i = 0; i < n; i++) {
#ifdef BUG
    if (t == 0) bar.init(64);
    __syncthreads();
    int ph = 0;
#else
    int ph = i & 1;
#endif
    s[t] = in[i * 64 + t];
    bar.arrive();
    bar.wait(ph);
    acc += s[63 - t];
    __syncthreads();
  }
  out[t] = acc;
}

// The producer leaves out the last tile.
extern "C" __global__ void __launch_bounds__(256) roles(const int *in, int *out, int n) {
  __shared__ alignas(128) int buf[2][128];
  __shared__ Bar full[2], empty[2];
  int wg = threadIdx.x / 128, t = threadIdx.x % 128;
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; i++) { full[i].init(1); empty[i].init(128); }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  if (wg == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 0) {
#ifdef BUG
      int last = n - 1;
#else
      int last = n;
#endif
      for (int i = 0; i < last; i++) {
        int s = i & 1;
        empty[s].wait(((i >> 1) & 1) ^ 1);
        full[s].expect(512);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(sa(buf[s])), "l"(in + i * 128), "r"(sa(&full[s].w)) : "memory");
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    int acc = 0;
    for (int i = 0; i < n; i++) {
      int s = i & 1, ok;
      do {
        asm volatile("{ .reg .pred P1; mbarrier.try_wait.parity.shared::cta.b64 P1, [%1], %2; selp.b32 %0, 1, 0, P1; }" : "=r"(ok) : "r"(sa(&full[s].w)), "r"((i >> 1) & 1) : "memory"); // BUG(roles): deadlock
      } while (!ok);
      acc += buf[s][127 - t];
      fence_async();
      empty[s].arrive();
    }
    out[t] = acc;
  }
}

// A copy to both blocks before the barrier of the other is initialised.
extern "C" __global__ void __cluster_dims__(2) multicast(const int *in, int *out) {
  __shared__ alignas(128) int buf[64];
  __shared__ Bar bar;
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) {
    bar.init(1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
#ifdef BUG
  __syncthreads();
#else
  c.sync();
#endif
  if (threadIdx.x == 0) {
    bar.expect(256);
    if (c.block_rank() == 0)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(sa(buf)), "l"(in), "r"(sa(&bar.w)), "h"((uint16_t)3) : "memory"); // BUG: mbarrier-misuse
  }
  bar.wait(0);
  out[blockIdx.x * 64 + threadIdx.x] = buf[threadIdx.x];
  c.sync();
}

// The producer does not wait for its slot.
extern "C" __global__ void bulk_ring(const int *in, int *out, int n) {
  __shared__ alignas(128) int buf[2][64];
  __shared__ Bar full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) { full[i].init(1); empty[i].init(64); }
    fence_async();
  }
  __syncthreads();
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64)
      for (int i = 0; i < n; i++) {
        int s = i & 1;
#ifndef BUG
        if (i >= 2) empty[s].wait(((i >> 1) - 1) & 1);
#endif
        full[s].expect(256);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(sa(buf[s])), "l"(in + i * 64), "r"(sa(&full[s].w)) : "memory"); // BUG: async-race OTHER
      }
  } else {
    int acc = 0;
    for (int i = 0; i < n; i++) {
      int s = i & 1;
      full[s].wait((i >> 1) & 1);
      acc += buf[s][63 - threadIdx.x]; // OTHER
      fence_async();
      empty[s].arrive();
    }
    out[threadIdx.x] = acc;
  }
}
