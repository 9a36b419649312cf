// Inline assembly: scopes with labels of the same name, predicates, vectors,
// comments and odd spacing.
#include <cstdint>

__device__ __forceinline__ void spin(unsigned addr, unsigned parity) {
  asm volatile("{\n"
               "\t.reg .pred p;\n"
               "\t.reg .b32 %%t<3>;\n"
               "WAIT:\n"
               "\tld.volatile.shared.b32 %%t1, [%0];\n"
               "\tsetp.ne.b32 p, %%t1, %1; // not yet\n"
               "\t@p bra WAIT;\n"
               "}\n" ::"r"(addr), "r"(parity) : "memory");
}

__global__ void scopes(unsigned *out) {
  __shared__ unsigned word[2];
  unsigned a = (unsigned)__cvta_generic_to_shared(&word[0]);
  word[threadIdx.x & 1] = threadIdx.x;
  spin(a, 1);
  spin(a + 4, 0);
  unsigned lo, hi, lane;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(out));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("{ .reg .pred q; setp.gt.u32 q, %1, 3; @!q mov.u32 %0, 0x0F; @q bra.uni DONE; add.u32 %0, %0, 1; DONE: }" : "+r"(lo) : "r"(hi));
  asm volatile("{ .reg .pred q; setp.gt.u32 q, %1, 3; @!q mov.u32 %0, 017; @q bra.uni DONE; add.u32 %0, %0, 1; DONE: }" : "+r"(hi) : "r"(lo));
  asm volatile("st.global.v2.u32 [%0 + 8], {%1, %2}; /* two at once */" ::"l"(out), "r"(lo), "r"(hi) : "memory");
  asm volatile("st.global.u32\n\t\t[%0+-4],\n\t\t%1;" ::"l"(out + 4), "r"(lane) : "memory");
  asm volatile("prefetch.global.L2 [%0]; discard.global.L2 [%0], 128;" ::"l"(out));
  asm volatile("lop3.b32 %0, %0, %1, %2, (0xF0 & 0xCC) | 0xAA;" : "+r"(lo) : "r"(hi), "r"(lane));
  asm volatile("vadd.s32.u32.s32.sat %0, %1.b0, %2.h1;" : "=r"(hi) : "r"(lo), "r"(lane));
  asm volatile("vmad.s32.s32.s32 %0, %1.h0, -%2.b3, %1;" : "=r"(hi) : "r"(lo), "r"(hi));
  out[lane] = lo + hi + __vadd4(lo, hi) + __vabsdiffu2(lo, hi) + __dp4a((int)lo, (int)hi, 5);
}

__global__ void textures(float4 *out, cudaTextureObject_t t, cudaSurfaceObject_t s) {
  float4 v = tex2D<float4>(t, threadIdx.x, 0.5f);
  v.x += tex1Dfetch<float>(t, threadIdx.x) + tex3D<float>(t, 1, 2, 3) + tex2DLod<float>(t, 1, 2, 3);
  surf2Dwrite(v, s, threadIdx.x * 16, 0);
  out[threadIdx.x] = v;
}
