// nvcc -arch=sm_80
// Shuffles that read lanes which are not there.

// Part of the warp has returned.
extern "C" __global__ void sum_of_some(const int *in, int *out, int n) {
  int t = threadIdx.x;
#ifdef BUG
  if (t >= n) return;
  int v = in[t];
#else
  int v = t < n ? in[t] : 0;
#endif
#pragma unroll
  for (int i = 16; i > 0; i /= 2)
    v += __shfl_down_sync(~0u, v, i); // BUG: shuffle-inactive
  if (t == 0) out[0] = v;
}

// A lane outside the mask.
extern "C" __global__ void half_warp(const int *in, int *out) {
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
#ifdef BUG
    v = __shfl_sync(0xffff, v, t + 8); // BUG: shuffle-inactive
#else
    v = __shfl_sync(0xffff, v, t + 8, 16);
#endif
  }
  out[t] = v;
}

// The mask of the lanes that happen to be here, and a source that may not be.
extern "C" __global__ void active(const int *in, int *out) {
  int t = threadIdx.x, v = in[t];
  if (v % 3) {
    unsigned m = __activemask();
#ifdef BUG
    v = __shfl_xor_sync(m, v, 1); // BUG: shuffle-inactive
#else
    v = __shfl_sync(m, v, __ffs(m) - 1);
#endif
  }
  out[t] = v;
}
