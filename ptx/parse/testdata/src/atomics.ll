; Atomics, vectors, intrinsics and calls, for llc.
target triple = "nvptx64-nvidia-cuda"

@buffer = internal addrspace(3) global [32 x float] undef, align 4
@scale = addrspace(4) constant [2 x double] [double 1.5, double -2.0], align 8
@names = addrspace(1) global [2 x ptr addrspace(1)] [ptr addrspace(1) getelementptr inbounds ([4 x i8], ptr addrspace(1) @abc, i64 0, i64 0), ptr addrspace(1) getelementptr inbounds ([4 x i8], ptr addrspace(1) @abc, i64 0, i64 1)]
@abc = addrspace(1) constant [4 x i8] c"abc\00"
@slot = external addrspace(1) global i32

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare float @llvm.fma.f32(float, float, float)
declare double @llvm.sqrt.f64(double)
declare i32 @elsewhere(i32, i64)

define internal <4 x float> @blend(<4 x float> %a, <4 x float> %b) noinline {
  %c = fmul <4 x float> %a, %b
  %d = fadd <4 x float> %c, <float 1.0, float 0.0, float -1.0, float 0x3FB99999A0000000>
  ret <4 x float> %d
}

define void @atomics(ptr addrspace(1) %p, ptr %q, ptr addrspace(1) %v, ptr addrspace(1) %h) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = atomicrmw add ptr addrspace(1) %p, i32 %t seq_cst
  %s = cmpxchg ptr addrspace(1) @slot, i32 %o, i32 7 acq_rel acquire
  %m = zext i32 %t to i64
  %x = atomicrmw umax ptr %q, i64 %m monotonic
  %b = getelementptr [32 x float], ptr addrspace(3) @buffer, i32 0, i32 %t
  store float 0x3FD3333340000000, ptr addrspace(3) %b
  call void @llvm.nvvm.barrier0()
  %l = load float, ptr addrspace(3) %b
  %f = call float @llvm.fma.f32(float %l, float %l, float 1.0)
  %vv = load <4 x float>, ptr addrspace(1) %v
  %ins = insertelement <4 x float> %vv, float %f, i32 2
  %w = call <4 x float> @blend(<4 x float> %ins, <4 x float> %vv)
  store <4 x float> %w, ptr addrspace(1) %v
  %hv = load half, ptr addrspace(1) %h
  %hf = fpext half %hv to double
  %sd = call double @llvm.sqrt.f64(double %hf)
  %ht = fptrunc double %sd to half
  store half %ht, ptr addrspace(1) %h
  %e = call i32 @elsewhere(i32 %o, i64 %x)
  %cmp = icmp sgt i32 %e, -5
  br i1 %cmp, label %more, label %done
more:
  store i32 %e, ptr addrspace(1) %p
  br label %done
done:
  ret void
}

!nvvm.annotations = !{!0, !1}
!0 = !{ptr @atomics, !"kernel", i32 1}
!1 = !{ptr @atomics, !"maxntidx", i32 128}
