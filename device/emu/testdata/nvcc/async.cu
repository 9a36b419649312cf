// Asynchronous copies of sm_80: groups, pipelines, barriers in shared memory.
#include <cstdint>
#include <cuda_pipeline.h>

extern "C" __global__ void staged(const uint32_t *in, uint32_t *out, int tiles) {
  __shared__ __align__(16) uint32_t stage[3][128];
  int t = threadIdx.x;
  auto fetch = [&](int tile) {
    if (tile < tiles && t < 32) __pipeline_memcpy_async(&stage[tile % 3][4 * t], in + tile * 128 + 4 * t, 16);
    __pipeline_commit();
  };
  fetch(0);
  fetch(1);
  uint32_t sum = 0;
  for (int i = 0; i < tiles; i++) {
    fetch(i + 2);
    __pipeline_wait_prior(2);
    __syncthreads();
    sum = sum * 7 + stage[i % 3][t] + stage[i % 3][127 - t];
    __syncthreads();
  }
  out[t] = sum;
}

// Small copies, and a partial copy whose rest is filled with zeros.
extern "C" __global__ void partial(const uint8_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t s[32][8];
  int t = threadIdx.x;
  for (int i = 0; i < 8; i++) s[t][i] = ~0u;
  uint32_t at = (uint32_t)__cvta_generic_to_shared(s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(in + 4 * t) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at + 8), "l"(in + 8 * t), "r"(t % 9) : "memory");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(at + 16), "l"(in + 16 * t), "r"(t % 17) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int i = 0; i < 8; i++) out[8 * t + i] = s[t][i];
}

// Arrivals of threads and of their copies at an mbarrier.
extern "C" __global__ void arrivals(const uint32_t *in, uint32_t *out, int rounds) {
  __shared__ __align__(16) uint32_t buffer[64];
  __shared__ __align__(8) uint64_t bar;
  uint32_t b = (uint32_t)__cvta_generic_to_shared(&bar);
  int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(64) : "memory");
  __syncthreads();
  uint32_t sum = 0;
  for (int r = 0; r < rounds; r++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(&buffer[t])), "l"(in + r * 64 + t) : "memory");
    uint64_t state;
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    uint32_t done = 0;
    while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "l"(state) : "memory");
    sum = sum * 3 + buffer[63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
