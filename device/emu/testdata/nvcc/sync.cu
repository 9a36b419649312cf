// Threads that wait for each other: barriers of the whole grid, queues, locks,
// flags between blocks, named barriers.
#include <cstdint>

__device__ unsigned arrived, generation;

__device__ void grid_barrier() {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned g = *(volatile unsigned *)&generation;
    __threadfence();
    if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
      arrived = 0;
      __threadfence();
      atomicAdd(&generation, 1);
    } else {
      while (*(volatile unsigned *)&generation == g) __nanosleep(20);
    }
    __threadfence();
  }
  __syncthreads();
}

// Steps of a diffusion over the whole grid, with a barrier between them.
extern "C" __global__ void diffusion(uint32_t *a, uint32_t *b, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int s = 0; s < steps; s++) {
    volatile uint32_t *from = s % 2 ? b : a, *to = s % 2 ? a : b;
    to[i] = from[(i + n - 1) % n] + 2 * from[i] + from[(i + 1) % n];
    grid_barrier();
  }
}

// Persistent blocks take work from a queue until it is empty.
extern "C" __global__ void work_queue(const uint32_t *in, uint32_t *out, unsigned *next, int items) {
  __shared__ unsigned item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    unsigned mine = item;
    __syncthreads();
    if (mine >= items) return;
    uint32_t v = in[mine * blockDim.x + threadIdx.x];
    for (int i = 0; i < (int)(mine % 7); i++) v = v * 1664525 + 1013904223;
    out[mine * blockDim.x + threadIdx.x] = v;
  }
}

// A lock of one word, which single lanes of divergent warps acquire.
extern "C" __global__ void spin_lock(int *lock, volatile uint64_t *value, int rounds) {
  for (int r = 0; r < rounds; r++) {
    bool done = false;
    while (!done) {
      if (atomicCAS(lock, 0, 1) == 0) {
        __threadfence();
        *value = *value * 1 + (threadIdx.x & 3) + 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
      }
    }
  }
}

// Tickets: first come, first served.
extern "C" __global__ void ticket_lock(unsigned *tickets, volatile unsigned *serving, volatile uint32_t *value) {
  if (threadIdx.x % 32 == 0) {
    unsigned mine = atomicAdd(tickets, 1);
    while (*serving != mine) __nanosleep(50);
    __threadfence();
    *value = *value * 3 + 1;
    __threadfence();
    *serving = mine + 1;
  }
}

// Each block waits for the previous block, so that a scan needs one pass.
extern "C" __global__ void chained_scan(const uint32_t *in, uint32_t *out, volatile uint32_t *prefix, volatile int *ready) {
  __shared__ uint32_t s[128], carry;
  int t = threadIdx.x, b = blockIdx.x;
  s[t] = in[b * 128 + t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    uint32_t v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    carry = 0;
    if (b > 0) {
      while (!ready[b - 1]) {}
      __threadfence();
      carry = prefix[b - 1];
    }
    prefix[b] = carry + s[127];
    __threadfence();
    ready[b] = 1;
  }
  __syncthreads();
  out[b * 128 + t] = s[t] + carry;
}

// One warp fills slots, three warps empty them, with named barriers.
extern "C" __global__ void producer_consumer(const uint32_t *in, uint32_t *out, int rounds) {
  __shared__ uint32_t slot[2][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    for (int r = 0; r < rounds; r++) {
      if (r >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + r % 2) : "memory");
      slot[r % 2][lane] = in[r * 32 + lane];
      __threadfence_block();
      asm volatile("bar.arrive %0, 128;" ::"r"(1 + r % 2) : "memory");
    }
    return;
  }
  uint32_t sum = warp;
  for (int r = 0; r < rounds; r++) {
    asm volatile("bar.sync %0, 128;" ::"r"(1 + r % 2) : "memory");
    sum = sum * 5 + slot[r % 2][(lane + warp) % 32];
    if (r + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + r % 2) : "memory");
  }
  out[threadIdx.x - 32] = sum;
}

extern "C" __global__ void counting_barriers(const uint32_t *in, uint32_t *out) {
  int t = threadIdx.x;
  uint32_t v = in[t];
  out[t] = __syncthreads_count(v & 1) | __syncthreads_or(v == 3) << 16 | __syncthreads_and(v != 4) << 17;
}

// Every atomic operation, from all threads, where the order does not matter.
extern "C" __global__ void atomics(const uint32_t *in, uint32_t *a, unsigned long long *b, float *f, double *d) {
  uint32_t v = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(a, v), atomicSub(a + 1, v), atomicAnd(a + 2, v | 0xff), atomicOr(a + 3, v & 0xff00), atomicXor(a + 4, v);
  atomicMin(a + 5, v), atomicMax(a + 6, v), atomicInc(a + 7, 100), atomicDec(a + 8, 77);
  atomicMax(b, (unsigned long long)v << 20), atomicXor(b + 1, (unsigned long long)v * v), atomicMin((long long *)b + 2, (long long)(int)v);
  atomicAdd(f, (float)(v % 64)), atomicAdd(d, (double)(v % 1024) / 8);
  __shared__ float most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  int old = __float_as_int(most), seen;
  float x = (float)(v >> 8);
  do {
    seen = old;
    if (__int_as_float(seen) >= x) break;
    old = atomicCAS((int *)&most, seen, __float_as_int(x));
  } while (old != seen);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax((int *)f + 1, __float_as_int(most));
}
