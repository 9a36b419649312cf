// The language itself: device functions, calls, tables, pointers, switches,
// printf, templates and local arrays.
#include <cstdint>
#include <cstdio>

__constant__ float weights[8] = {1.0f, -2.5f, 3.25f, 0.0f, 1e-3f, 1e10f, -0.0f, 7.0f};
__constant__ int primes[2][3] = {{2, 3, 5}, {7, 11, 13}};
__device__ double table[4] = {0.1, 0.2, 0.3, 0.4};
__device__ int counter;
__device__ int *counterAt = &counter;
__device__ const char *messages[] = {"first", "second", "third"};
__managed__ unsigned total = 5;
struct Tagged { char tag; int *where; short more; };
__device__ Tagged tagged = {'x', &counter, 3};

using Op = float (*)(float, float);
__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float mul(float a, float b) { return a * b; }
__device__ __noinline__ float pick(float a, float b) { return a > b ? a : b; }
__device__ Op ops[3] = {add, mul, pick};

struct Big { int v[9]; double d; };
__device__ __noinline__ Big grow(Big b, int by) {
  for (int &x : b.v) x += by;
  b.d *= by;
  return b;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

template <typename T, int N> __device__ T sum(const T *p) {
  T s = 0;
#pragma unroll 1
  for (int i = 0; i < N; i++) s += p[i];
  return s;
}

__global__ void calls(float *out, const float *in, int which) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = ops[which % 3](in[i], weights[i & 7]);
  Big b;
  for (int k = 0; k < 9; k++) b.v[k] = i * k;
  b.d = table[i & 3];
  b = grow(b, which);
  out[i] += b.v[which % 9] + (float)b.d + fibonacci(which & 7);
  atomicAdd(counterAt, primes[which & 1][i % 3]);
  atomicAdd(&total, 1u);
  if (i == 0) printf("%s %d %f %p\n", messages[which % 3], tagged.more, out[0], tagged.where);
}

__global__ void choose(int *out, int n) {
  int i = threadIdx.x;
  int v = out[i];
  switch (n) {
  case 0: v += 1; break;
  case 1: v *= 3; break;
  case 2: v ^= 0x55; break;
  case 3: v = __popc(v); break;
  case 4: v = __clz(v); break;
  case 5: v = __brev(v); break;
  case 6: v = v / n + v % 7; break;
  case 7: v = __ffs(v); break;
  case 8: v = __byte_perm(v, n, 0x1234); break;
  case 9: v = __funnelshift_l(v, n, 3); break;
  default: v = -v;
  }
  out[i] = v;
}

__global__ void __launch_bounds__(128, 2) locals(float *out, const float *in, int j) {
  float a[32];
  for (int i = 0; i < 32; i++) a[i] = in[i * j];
  for (int i = 0; i < 32; i++) a[(i * j) & 31] += a[i];
  out[threadIdx.x] = a[j & 31] + sum<float, 5>(in) + sum<double, 3>(table);
  out[threadIdx.x + 1] = sinf(out[0]) + __expf(in[2]) + sqrtf(in[3]) + powf(in[4], 2.5f);
}

__global__ void wide(uint64_t *a, double *d, int8_t *c, uint16_t *s) {
  int i = threadIdx.x;
  a[i] = a[i] / 10 + __umul64hi(a[i], 0x9E3779B97F4A7C15ull) + (a[i] << (i & 63));
  d[i] = fma(d[i], 1.5, (double)c[i]) + rsqrt(d[i]) + (double)a[i];
  c[i] = (int8_t)(c[i] * 3 - s[i]);
  s[i] = (uint16_t)d[i] | 0x8000;
}

extern __shared__ char pool[];
__global__ void shared(float4 *out, const float4 *__restrict__ in) {
  __shared__ float4 tile[32][2];
  __shared__ int flags[4];
  int i = threadIdx.x;
  tile[i & 31][i >> 5 & 1] = __ldg(in + i);
  flags[i & 3] = i;
  reinterpret_cast<int *>(pool)[i] = i;
  __syncthreads();
  float4 v = tile[(i + 1) & 31][0];
  v.x += flags[(i + 1) & 3] + reinterpret_cast<int *>(pool)[i ^ 1];
  v.y = __shfl_xor_sync(0xffffffffu, v.y, 1);
  v.z = __any_sync(0xffffffffu, v.z > 0) ? __ballot_sync(0xffffffffu, v.w > 0) : 0;
  if (__syncthreads_or(i == 3)) __threadfence();
  out[i] = v;
}
