// Language features that need device support: virtual and recursive functions, structs
// by value, function pointers, the heap, printf and assert, groups of lanes,
// barriers that count, dynamic shared memory, atomics, locks, and a last block.
//
//	nvcc -std=c++17 -arch=sm_80 -ptx language.cu
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;

struct Shape {
  __device__ virtual int area() const = 0;
};

struct Square : Shape {
  int a;
  __device__ Square(int a) : a(a) {}
  __device__ int area() const override { return a * a; }
};

struct Rect : Shape {
  int a, b;
  __device__ Rect(int a, int b) : a(a), b(b) {}
  __device__ int area() const override { return a * b; }
};

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

struct Big {
  int v[20];
};

__device__ __noinline__ Big twist(Big b, int k) {
  Big r;
  for (int i = 0; i < 20; i++) r.v[i] = b.v[(i + k) % 20] * 2;
  return r;
}

extern "C" __global__ void functions(int *out) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  Square s(t);
  Rect r(t, 3);
  Shape *p = (t & 1) ? (Shape *)&s : (Shape *)&r;
  int x = p->area() + ackermann(2, t % 4);
  Big b;
  for (int i = 0; i < 20; i++) b.v[i] = i + t;
  x += twist(b, t % 20).v[t % 7];
  Shape *h = (t % 3) ? (Shape *)new Square(2) : (Shape *)new Rect(5, 6);
  x += h->area() * 1000;
  delete h;
  out[t] = x;
  if (t % 16 == 0) printf("t=%d x=%5d %s %g\n", t, x, (t & 32) ? "odd" : "even", x / 8.0);
}

typedef int (*binary)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ binary table[3] = {plus, minus, times};
__constant__ int constants[4] = {5, 6, 7, 8};

extern "C" __global__ void groups(int *out, const int *in) {
  extern __shared__ int dynamic[];
  __shared__ int hist[16];
  auto block = cg::this_thread_block();
  auto eight = cg::tiled_partition<8>(block);
  auto warp = cg::tiled_partition<32>(block);
  int t = threadIdx.x;
  if (t < 16) hist[t] = 0;
  int v = dynamic[t] = in[t + blockIdx.x * blockDim.x];
  block.sync();
  atomicAdd(&hist[v & 15], 1);
  int sum = cg::reduce(eight, v, cg::plus<int>());
  int most = cg::reduce(warp, v, cg::greater<int>());
  unsigned same = __match_any_sync(~0u, v % 5);
  int count = __syncthreads_count(v > 50);
  int o = table[v % 3](v, constants[t & 3]);
  if (t % 2) {
    auto odd = cg::coalesced_threads();
    o += odd.size() * 100000 + odd.thread_rank();
  }
  block.sync();
  int *q = out + (blockIdx.x * blockDim.x + t) * 6;
  q[0] = sum;
  q[1] = most;
  q[2] = (int)same;
  q[3] = count;
  q[4] = o;
  q[5] = hist[t & 15];
}

extern "C" __global__ void lastblock(float *sum, unsigned *count, float *partial, const float *in) {
  __shared__ float sm[256];
  __shared__ bool last;
  int t = threadIdx.x;
  sm[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) sm[t] += sm[t + s];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = sm[0];
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    float a = 0;
    for (int i = 0; i < gridDim.x; i++) a += ((volatile float *)partial)[i];
    *sum = a;
  }
}

extern "C" __global__ void locked(float *most, int *lock, int *count, unsigned long long *sum, const float *in) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  int *bits = (int *)most, old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(in[t], __int_as_float(assumed))));
  } while (assumed != old);
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      ++*(volatile int *)count;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
  atomicAdd(sum, (unsigned long long)t);
  assert(in[t] < 1000.f);
}
