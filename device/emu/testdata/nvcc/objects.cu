// The language: virtual functions, pointers to functions, recursion, templates,
// local arrays, structures by value, constant tables, printf, dynamic shared memory.
#include <cstdint>
#include <cstdio>

struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual int scaled(int k) const { return area() * k; }
};
struct Square : Shape {
  int side;
  __device__ Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Box : Shape {
  int w, h;
  __device__ Box(int w, int h) : w(w), h(h) {}
  __device__ int area() const override { return w * h; }
  __device__ int scaled(int k) const override { return w * k * h * k; }
};

extern "C" __global__ void shapes(int *out) {
  int t = threadIdx.x;
  Square s(t);
  Box b(t, t + 1);
  const Shape *all[2] = {&s, &b};
  out[t] = all[t % 2]->area() + all[t / 2 % 2]->scaled(3);
}

typedef int (*Op)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int power(int a, int b) { return b <= 0 ? 1 : a * power(a, b - 1); }
__device__ Op table[4] = {plus, minus, times, power};

extern "C" __global__ void pointers(const uint32_t *in, int *out) {
  int t = threadIdx.x, acc = t;
  for (int i = 0; i < 6; i++) acc = table[in[(t + i) % 64] % 4](acc, i + 1);
  out[t] = acc;
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

extern "C" __global__ void recursion(int *out) {
  int t = threadIdx.x;
  out[t] = t % 3 == 0 ? fib(t % 12) : ackermann(2, t % 5);
}

struct Matrix { double m[3][3]; };
__device__ __noinline__ Matrix product(Matrix a, const Matrix &b) {
  Matrix r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      r.m[i][j] = 0;
      for (int k = 0; k < 3; k++) r.m[i][j] += a.m[i][k] * b.m[k][j];
    }
  return r;
}

// A structure with padding as a parameter, and another one on the stack.
struct Job { uint8_t tag; double scale; int16_t at[3]; Matrix first; };

extern "C" __global__ void structures(Job job, double *out) {
  Matrix m = job.first;
  for (int i = 0; i < threadIdx.x % 4; i++) m = product(m, job.first);
  out[threadIdx.x] = m.m[job.at[threadIdx.x % 3]][threadIdx.x % 3] * job.scale + job.tag;
}

template <int N, typename T> struct Ring {
  T v[N];
  int head = 0;
  __device__ void push(T x) { v[head++ % N] = x; }
  __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += v[i]; return s; }
};

// Local arrays indexed by data.
extern "C" __global__ void locals(const uint32_t *in, uint32_t *out) {
  uint32_t count[16] = {};
  Ring<5, uint64_t> ring = {};
  uint8_t bytes[32] = {};
  int t = threadIdx.x;
  for (int i = 0; i < 64; i++) {
    uint32_t v = in[(t * 31 + i) % 1024];
    count[v % 16]++;
    ring.push(v);
    bytes[v >> 27] = (uint8_t)i;
    bytes[i % 32] ^= v >> 8;
  }
  uint32_t r = (uint32_t)ring.sum() ^ (uint32_t)(ring.sum() >> 32);
  for (int i = 0; i < 16; i++) r = r * 31 + count[(i + t) % 16];
  for (int i = 0; i < 32; i++) r = r * 33 + bytes[i];
  out[t] = r;
}

__constant__ uint16_t primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ const char *names[3] = {"zero", "one", "two"};
__device__ uint64_t counter = 1000;

extern "C" __global__ void constants(uint32_t *out) {
  extern __shared__ uint4 dynamic[];
  uint16_t *small = (uint16_t *)(dynamic + blockDim.x);
  int t = threadIdx.x;
  dynamic[t] = make_uint4(t, t * 2, t * 3, primes[t % 8]);
  small[t] = primes[(t + 1) % 8];
  __syncthreads();
  uint4 other = dynamic[(t + 5) % blockDim.x];
  const char *name = names[t % 3];
  uint32_t hash = 0;
  while (*name) hash = hash * 131 + *name++;
  out[t] = (other.x ^ other.y << 8 ^ other.z << 16) + other.w * small[(t + 9) % blockDim.x] + hash;
  if (t == 0) atomicAdd((unsigned long long *)&counter, 5ull);
  __syncthreads();
  if (t == 1) out[t] += (uint32_t)counter;
}

extern "C" __global__ void prints(int n) {
  if (threadIdx.x < n) printf("thread %d: %s %5.2f %llx %c%%\n", threadIdx.x, names[threadIdx.x % 3], threadIdx.x * 0.75, 0x123456789abull + threadIdx.x, 'a' + threadIdx.x);
}

// A switch that nvcc compiles to a jump table, in a loop that lanes leave early.
extern "C" __global__ void interpreter(const uint8_t *code, int *out, int length) {
  int t = threadIdx.x, acc = t, at = t % 8;
  for (int steps = 0; steps < 200 && at < length; steps++) {
    uint8_t op = code[at++];
    switch (op % 11) {
      case 0: acc += 7; break;
      case 1: acc -= op; break;
      case 2: acc = acc * 3 + 1; break;
      case 3: acc ^= acc >> 3; break;
      case 4: if (acc & 1) at += 2; break;
      case 5: acc = -acc; break;
      case 6: if (acc % 5 == 0) at = at > 20 ? at - 17 : 0; break;
      case 7: acc = __brev(acc); break;
      case 8: acc += fib(op % 5); break;
      case 9: if ((acc & 0xff) == 0x5a) return; break;
      default: acc = acc << 5 | (uint32_t)acc >> 27;
    }
  }
  out[t] = acc;
}
