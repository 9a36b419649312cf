// Lanes of a warp that wait for each other, which independent scheduling allows.
#include <cstdint>

// A lock taken the naive way: lanes that lost spin for the lane that won.
extern "C" __global__ void naive_lock(int *lock, volatile uint32_t *value) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *value = *value + threadIdx.x;
  __threadfence();
  atomicExch(lock, 0);
}

// Lanes of one warp hand a value on, each waiting for the one before.
extern "C" __global__ void lane_chain(volatile uint32_t *flags, uint32_t *out) {
  int t = threadIdx.x;
  if (t > 0)
    while (flags[t - 1] == 0) {}
  flags[t] = t == 0 ? 1 : flags[t - 1] * 3 + t;
  out[t] = flags[t];
}
