// Clusters, bulk copies, barriers in shared memory, warpgroup matrix products
// and fp8, by inline assembly as kernels for sm_90a write them.
#include <cuda_fp8.h>
#include <cooperative_groups.h>
#include <cstdint>

struct __align__(64) TensorMap { char opaque[128]; };

__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred       P1;\n"
               "LAB_WAIT: \n"
               "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
               "@P1 bra DONE;\n"
               "bra     LAB_WAIT;\n"
               "DONE: \n"
               "}" ::"r"(bar), "r"(parity));
}

__device__ __forceinline__ void wgmma(float (&d)[32], uint64_t a, uint64_t b, int scale) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
               "{%0,   %1,   %2,   %3,   %4,   %5,   %6,   %7,   "
               " %8,   %9,   %10,  %11,  %12,  %13,  %14,  %15,  "
               " %16,  %17,  %18,  %19,  %20,  %21,  %22,  %23,  "
               " %24,  %25,  %26,  %27,  %28,  %29,  %30,  %31},"
               " %32, %33, p, 1, 1;\n}\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                 "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                 "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
               : "l"(a), "l"(b), "r"(scale));
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256)
pipeline(const __grid_constant__ TensorMap map, float *out, int tiles) {
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ __align__(8) uint64_t full[2];
  uint32_t base = (uint32_t)__cvta_generic_to_shared(smem), bar = (uint32_t)__cvta_generic_to_shared(full);
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1));
    asm volatile("mbarrier.init.shared::cta.b64 [%0+8], %1;" ::"r"(bar), "r"(1));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;");
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    uint32_t elected;
    asm volatile("{.reg .pred e; elect.sync _|e, 0xffffffff; selp.u32 %0, 1, 0, e;}" : "=r"(elected));
    for (int t = 0; t < tiles && elected; t++) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar + (t & 1) * 8), "r"(8192));
      asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
                   " [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(base + (t & 1) * 8192), "l"(&map), "r"(bar + (t & 1) * 8), "r"(0), "r"(t * 64), "r"((int)blockIdx.y), "h"((uint16_t)3), "l"(0x14F0000000000000ull) : "memory");
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[32] = {};
    for (int t = 0; t < tiles; t++) {
      wait(bar + (t & 1) * 8, (t >> 1) & 1);
      asm volatile("wgmma.fence.sync.aligned;");
      uint64_t desc = 0x4000004000010000ull | ((base + (t & 1) * 8192) >> 4);
      wgmma(d, desc, desc + 256, t > 0);
      wgmma(d, desc + 2, desc + 258, 1);
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned %0;" ::"n"(0));
    }
    uint32_t peer;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(base), "r"(1));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(peer), "f"(d[3]));
    for (int i = 0; i < 32; i++) out[threadIdx.x * 32 + i] = d[i];
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(base), "r"(tiles));
    asm volatile("fence.proxy.async.shared::cta;\ncp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(base), "r"(0), "r"(1));
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;");
  }
  asm volatile("griddepcontrol.launch_dependents;");
}

__global__ void quantise(__nv_fp8_storage_t *out, const float *in, unsigned short *packed) {
  int i = threadIdx.x;
  out[i] = __nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, __NV_E4M3);
  packed[i] = __nv_cvt_float2_to_fp8x2(make_float2(in[i], in[i + 1]), __NV_SATFINITE, __NV_E5M2);
  __half_raw h = __nv_cvt_fp8_to_halfraw(out[i], __NV_E4M3);
  packed[i] += h.x;
}

__global__ void rank(unsigned *out) {
  auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  out[cluster.thread_rank()] = cluster.block_rank() + cluster.num_blocks();
}
