// nvcc -arch=sm_90a
// Bulk copies by cuda::barrier and by mbarriers in inline assembly.
#include <cuda/barrier>
#include <cstdint>

namespace cde = cuda::device::experimental;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ uint32_t address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void mbarrier_init(uint64_t *bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(bar)), "r"(count) : "memory");
}

__device__ void mbarrier_arrive(uint64_t *bar) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(address(bar)) : "memory");
}

__device__ void mbarrier_expect(uint64_t *bar, int bytes) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(address(bar)), "r"(bytes) : "memory");
}

__device__ void mbarrier_wait(uint64_t *bar, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra AGAIN;\n"
      "}" ::"r"(address(bar)), "r"(parity) : "memory");
}

__device__ void bulk_load(void *to, const void *from, int bytes, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)), "l"(from), "r"(bytes), "r"(address(bar)) : "memory"); // BUG(ring_early, ring_phase, bulk_overwrite): async-race // OTHER(ring_phase, two_copies)
}

__device__ void mbarrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Read without waiting for the barrier.
extern "C" __global__ void bulk_no_wait(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  __shared__ Barrier bar;
  int t = threadIdx.x;
  if (t == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (t == 0) {
    cde::cp_async_bulk_global_to_shared(s, in, sizeof(s), bar); // OTHER
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
  } else {
    token = bar.arrive();
  }
#ifndef BUG
  bar.wait(std::move(token));
#endif
  out[t] = s[t]; // BUG: async-race
#ifdef BUG
  bar.wait(std::move(token));
#endif
}

// The barrier expects more bytes than come.
extern "C" __global__ void bulk_bytes(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  __shared__ Barrier bar;
  int t = threadIdx.x;
  if (t == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (t == 0) {
    cde::cp_async_bulk_global_to_shared(s, in, sizeof(s), bar);
#ifdef BUG
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s) * 2); // BUG: mbarrier-misuse|deadlock
#else
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
#endif
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token)); // BUG: mbarrier-misuse|deadlock
  out[t] = s[t];
}

// What stores wrote leaves by a bulk copy without a proxy fence.
extern "C" __global__ void bulk_store_fence(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  int t = threadIdx.x;
  s[t] = in[t] + 1; // OTHER
#ifndef BUG
  cde::fence_proxy_async_shared_cta();
#endif
  __syncthreads();
  if (t == 0) {
    cde::cp_async_bulk_shared_to_global(out, s, sizeof(s)); // BUG: proxy-fence
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// The buffer is filled again before the copy has read it.
extern "C" __global__ void bulk_store_reuse(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  int t = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < 3; i++) {
    s[t] = in[t] + i; // BUG: async-race
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 0) {
      cde::cp_async_bulk_shared_to_global(out + i * 64, s, sizeof(s)); // OTHER
      cde::cp_async_bulk_commit_group();
#ifdef BUG
      cde::cp_async_bulk_wait_group_read<1>();
#else
      cde::cp_async_bulk_wait_group_read<0>();
#endif
    }
    __syncthreads();
  }
#ifdef BUG
  if (t == 0) cde::cp_async_bulk_wait_group_read<0>();
#endif
}

// The block ends while its copy still reads.
extern "C" __global__ void bulk_store_leak(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  int t = threadIdx.x;
  s[t] = in[t] + 1;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (t == 0) {
    cde::cp_async_bulk_shared_to_global(out, s, sizeof(s)); // BUG: async-leak any
    cde::cp_async_bulk_commit_group();
#ifndef BUG
    cde::cp_async_bulk_wait_group_read<0>();
#endif
  }
}

// A tile is loaded over words that other warps still read.
extern "C" __global__ void bulk_overwrite(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  __shared__ uint64_t bar;
  int t = threadIdx.x, sum = 0;
  if (t == 0) mbarrier_init(&bar, 1), mbarrier_init_fence();
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < 3; i++) {
    if (t == 0) {
      mbarrier_expect(&bar, sizeof(s));
      bulk_load(s, in + i * 64, sizeof(s), &bar);
    }
    mbarrier_wait(&bar, i % 2);
    sum += s[63 - t]; // OTHER
#ifndef BUG
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
#endif
  }
  out[t] = sum;
}

// A ring of two slots between a producer and a consumer warp.
template <bool early, bool stuck>
__device__ void ring(const int *in, int *out, int rounds) {
  __shared__ alignas(128) int s[2][32];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x, lane = t % 32, sum = 0;
  if (t == 0) {
    for (int i = 0; i < 2; i++) mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], 32);
    mbarrier_init_fence();
  }
  __syncthreads();
  if (t == 0) {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
      mbarrier_wait(&empty[i % 2], i / 2 % 2 ^ 1);
      mbarrier_expect(&full[i % 2], 128);
      bulk_load(s[i % 2], in + i * 32, 128, &full[i % 2]);
    }
  } else if (t >= 32) {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
      mbarrier_wait(&full[i % 2], stuck ? 0 : i / 2 % 2);
      if (early) mbarrier_arrive(&empty[i % 2]);
      sum += s[i % 2][lane]; // BUG(ring_phase): async-race // OTHER(ring_early)
      cde::fence_proxy_async_shared_cta();
      if (!early) mbarrier_arrive(&empty[i % 2]);
    }
    out[lane] = sum;
  }
}

#ifdef BUG
constexpr bool bug = true;
#else
constexpr bool bug = false;
#endif

// A slot is freed before it is read.
extern "C" __global__ void ring_early(const int *in, int *out, int rounds) { ring<bug, false>(in, out, rounds); }

// The consumer never flips the parity that it waits for.
extern "C" __global__ void ring_phase(const int *in, int *out, int rounds) { ring<false, bug>(in, out, rounds); }

// Two copies, and the barrier expects the bytes of one.
extern "C" __global__ void two_copies(const int *in, int *out) {
  __shared__ alignas(128) int a[32], b[32];
  __shared__ uint64_t bar;
  int t = threadIdx.x;
  if (t == 0) mbarrier_init(&bar, 1), mbarrier_init_fence();
  __syncthreads();
  if (t == 0) {
#ifdef BUG
    mbarrier_expect(&bar, sizeof(a));
#else
    mbarrier_expect(&bar, sizeof(a) + sizeof(b));
#endif
    bulk_load(a, in, sizeof(a), &bar);
    bulk_load(b, in + 32, sizeof(b), &bar);
  }
  mbarrier_wait(&bar, 0);
  out[t] = a[t] + b[t]; // BUG: async-race
}
