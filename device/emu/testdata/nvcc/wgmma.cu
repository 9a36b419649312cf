// Products of warpgroups: operands that the copy engine swizzled, operands without
// a swizzle, A in registers, fp8 and bytes.
#include <cstdint>
#include <cuda_fp16.h>

struct __align__(64) TensorMap { char opaque[128]; };

__device__ __forceinline__ uint32_t shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ __forceinline__ uint64_t descriptor(uint32_t at, uint32_t leading, uint32_t stride, uint64_t swizzle) {
  return (uint64_t)(at >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | swizzle << 62;
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void finish() { asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory"); }

#define REGS(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
                "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define LIST "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"

template <int Kind> __device__ __forceinline__ void multiply(float (&d)[16], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (Kind == 0)
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " LIST ", %16, %17, p, 1, 1, 0, 0;\n}" : REGS(d) : "l"(a), "l"(b), "r"(accumulate));
  else
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e5m2 " LIST ", %16, %17, p, 1, 1;\n}" : REGS(d) : "l"(a), "l"(b), "r"(accumulate));
}

// The place of a thread's registers in a tile of 64 by 32.
__device__ __forceinline__ void store(const float (&d)[16], float *c) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 16; i++) c[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * 32 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// C = A B^T: the copy engine loads 64 rows of A and 32 rows of B, 128 bytes each.
template <int Kind> __device__ __forceinline__ void tensor_product(const TensorMap &ma, const TensorMap &mb, float *c) {
  __shared__ __align__(1024) uint8_t a[64 * 128], b[32 * 128];
  __shared__ __align__(8) uint64_t bar;
  uint32_t at = shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(96 * 128) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(shared(a)), "l"(&ma), "r"(at) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(shared(b)), "l"(&mb), "r"(at) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN;\n}" ::"r"(at) : "memory");
  float d[16];
  fence();
  for (int k = 0; k < 4; k++) multiply<Kind>(d, descriptor(shared(a) + 32 * k, 16, 1024, 1), descriptor(shared(b) + 32 * k, 16, 1024, 1), k > 0);
  finish();
  store(d, c);
}

extern "C" __global__ void __launch_bounds__(128) halves(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c) { tensor_product<0>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) fp8(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c) { tensor_product<1>(a, b, c); }

// Without a swizzle: 8 rows of 16 bytes are contiguous. B is read transposed.
extern "C" __global__ void __launch_bounds__(128) plain(const half *a, const half *b, float *c) {
  __shared__ __align__(128) half sa[64 * 16], sb[32 * 16];
  for (int i = threadIdx.x; i < 1024; i += 128) {
    int row = i / 16, col = i % 16;
    sa[(row / 8 * 2 + col / 8) * 64 + row % 8 * 8 + col % 8] = a[i];
  }
  for (int i = threadIdx.x; i < 512; i += 128) { // b is 16 rows of 32
    int k = i / 32, n = i % 32;
    sb[(n / 8 * 2 + k / 8) * 64 + k % 8 * 8 + n % 8] = b[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[16];
  for (int i = 0; i < 16; i++) d[i] = i;
  fence();
  asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " LIST ", %16, %17, 1, -1, 1, 0, 1;"
               : REGS(d) : "l"(descriptor(shared(sa), 128, 256, 0)), "l"(descriptor(shared(sb), 128, 256, 0)));
  finish();
  store(d, c);
}

// A in registers.
extern "C" __global__ void __launch_bounds__(128) registers(const half *a, const half *b, float *c) {
  __shared__ __align__(128) half sb[32 * 16];
  for (int i = threadIdx.x; i < 512; i += 128) { // b is 32 rows of 16
    int n = i / 16, k = i % 16;
    sb[(n / 8 * 2 + k / 8) * 64 + n % 8 * 8 + k % 8] = b[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t r[4];
  for (int i = 0; i < 4; i++) r[i] = *(const uint32_t *)(a + (warp * 16 + lane / 4 + i % 2 * 8) * 16 + lane % 4 * 2 + i / 2 * 8);
  float d[16] = {};
  fence();
  asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " LIST ", {%16, %17, %18, %19}, %20, 1, 1, 1, 0;"
               : REGS(d) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(descriptor(shared(sb), 128, 256, 0)));
  finish();
  store(d, c);
}

// Signed by unsigned bytes.
extern "C" __global__ void __launch_bounds__(128) bytes(const uint8_t *a, const uint8_t *b, int *c) {
  __shared__ __align__(128) uint8_t sa[64 * 32], sb[8 * 32];
  for (int i = threadIdx.x; i < 2048; i += 128) sa[(i / 32 / 8 * 2 + i % 32 / 16) * 128 + i / 32 % 8 * 16 + i % 16] = a[i];
  for (int i = threadIdx.x; i < 256; i += 128) sb[i % 32 / 16 * 128 + i / 32 * 16 + i % 16] = b[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  int d[4] = {5, 6, 7, 8}, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  fence();
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%0, %1, %2, %3}, %4, %5, 1;"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(descriptor(shared(sa), 128, 256, 0)), "l"(descriptor(shared(sb), 128, 256, 0)));
  finish();
  for (int i = 0; i < 4; i++) c[(warp * 16 + lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
