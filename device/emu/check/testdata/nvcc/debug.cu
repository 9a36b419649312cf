// nvcc -arch=sm_90a -G
// Without optimisation: values live in local memory, and functions are called.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A pair is made of a value and of nothing.
extern "C" __global__ void g_two_locals(const int *in, int2 *out) {
  int a, b;
  a = in[threadIdx.x];
#ifndef BUG
  b = a + 1;
#endif
  out[threadIdx.x] = make_int2(a, b); // BUG: uninit-local|uninit-register
}

// Two variables are stored side by side, one of them unset.
extern "C" __global__ void g_side_by_side(const int *in, int *out) {
  int a, b;
  a = in[threadIdx.x];
#ifndef BUG
  b = a + 1;
#endif
  out[2 * threadIdx.x] = a;
  out[2 * threadIdx.x + 1] = b; // BUG: uninit-local|uninit-register
}

// A field of a structure with padding is not set.
struct Rec { char tag; int value; short s; double d; };
extern "C" __global__ void g_padded(const int *in, Rec *out) {
  Rec r;
  r.tag = 'x';
#ifndef BUG
  r.value = in[threadIdx.x];
#endif
  r.s = 3;
  r.d = 1.5;
  out[threadIdx.x].tag = r.tag;
  out[threadIdx.x].value = r.value; // BUG: uninit-local|uninit-register
  out[threadIdx.x].s = r.s;
  out[threadIdx.x].d = r.d;
}

// Elements at the end of a local array are not set.
extern "C" __global__ void g_local_array(const int *in, int *out, int n) {
  int loc[8];
  for (int i = 0; i < n; i++) loc[i] = in[threadIdx.x * 8 + i];
#ifndef BUG
  for (int i = n; i < 8; i++) loc[i] = 0;
#endif
  int s = 0;
  for (int i = 0; i < 8; i++) s += loc[i]; // BUG: uninit-local
  out[threadIdx.x] = s;
}

// Recursion past the end of a local array.
__device__ __noinline__ int depth(int *a, int n, int k) {
  if (k >= n) return 0;
  a[k] = k; // BUG(g_recursion): oob-local
  return a[k] + depth(a, n, k + 1);
}
extern "C" __global__ void g_recursion(int *out, int n) {
  int a[4];
#ifdef BUG
  out[threadIdx.x] = depth(a, n + 1, 0);
#else
  out[threadIdx.x] = depth(a, n, 0);
#endif
}

// Functions write and read without a barrier between them.
__device__ __noinline__ void put(int *s, int i, int v) {
  s[i] = v; // OTHER(g_call_race)
}
__device__ __noinline__ int get(const int *s, int i) {
  return s[i]; // BUG(g_call_race): shared-race|uninit-shared
}
extern "C" __global__ void g_call_race(const int *in, int *out) {
  __shared__ int s[64];
  put(s, threadIdx.x, in[threadIdx.x]);
#ifndef BUG
  __syncthreads();
#endif
  out[threadIdx.x] = get(s, 63 - threadIdx.x);
}

// A block leaves before the barrier of the grid.
extern "C" __global__ void g_grid_exit(int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;
#ifdef BUG
  if (blockIdx.x == 1) return;
#endif
  cg::this_grid().sync(); // BUG: deadlock
  b[i] = a[63 - i];
}

// A branch on what only one path sets.
extern "C" __global__ void g_branch(const int *in, int *out, int n) {
  int limit;
  if (n < 10)
    limit = 5;
#ifndef BUG
  else
    limit = 7;
#endif
  if (in[threadIdx.x] > limit) // BUG: uninit-local|uninit-register
    out[threadIdx.x] = 1;
  else
    out[threadIdx.x] = 0;
}

// Nobody sets the flag.
extern "C" __global__ void g_spin(int *out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    while (flag == 0) {} // BUG: deadlock
    out[threadIdx.x - 32] = 1;
  } else {
#ifndef BUG
    if (threadIdx.x == 0) flag = 1;
#endif
  }
}
