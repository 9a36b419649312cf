// Lanes of a warp that wait for each other (independent thread scheduling).
#include <cstdint>

// A naive lock: lanes that do not get it spin while one lane holds it.
extern "C" __global__ void naive_lock(int *lock, volatile uint32_t *value) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *value = *value + threadIdx.x;
  __threadfence();
  atomicExch(lock, 0);
}

// Lanes of one warp pass a value on, each waiting for the previous lane.
extern "C" __global__ void lane_chain(volatile uint32_t *flags, uint32_t *out) {
  int t = threadIdx.x;
  if (t > 0)
    while (flags[t - 1] == 0) {}
  flags[t] = t == 0 ? 1 : flags[t - 1] * 3 + t;
  out[t] = flags[t];
}
