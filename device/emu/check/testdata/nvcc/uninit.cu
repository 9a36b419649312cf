// nvcc -arch=sm_80 -G
// Values that are used before they have one.

// A variable that one branch does not set.
extern "C" __global__ void branch_sets(const int *in, int *out) {
  int v;
#ifndef BUG
  v = 0;
#endif
  if (in[threadIdx.x] > 20) v = in[threadIdx.x];
  out[threadIdx.x] = v; // BUG: uninit-local|uninit-register
}

// A local array of which the last element is left out.
extern "C" __global__ void local_window(const int *in, int *out) {
  int window[4];
#ifdef BUG
  for (int i = 0; i < 3; i++) window[i] = in[threadIdx.x + i];
#else
  for (int i = 0; i < 4; i++) window[i] = in[threadIdx.x + i];
#endif
  int sum = 0;
  for (int i = 0; i < 4; i++)
    sum += window[i]; // BUG: uninit-local
  out[threadIdx.x] = sum;
}

// A sum that does not start at zero.
extern "C" __global__ void sum_from_nothing(const float *in, float *out) {
#ifdef BUG
  float sum;
#else
  float sum = 0;
#endif
  for (int i = 0; i < 4; i++)
    sum += in[threadIdx.x * 4 + i]; // BUG: uninit-local|uninit-register
  out[threadIdx.x] = sum; // BUG: uninit-local|uninit-register
}

struct Pair {
  int low, high;
};

// A field that nobody set.
extern "C" __global__ void fields(const int *in, int *out) {
  Pair p;
  p.low = in[threadIdx.x];
#ifndef BUG
  p.high = 1;
#endif
  out[threadIdx.x] = p.low + p.high; // BUG: uninit-local
}

// An index that some threads do not set.
extern "C" __global__ void index_unset(const int *in, int *out) {
  int i;
#ifndef BUG
  i = 0;
#endif
  if (in[threadIdx.x] > 20) i = threadIdx.x;
  out[threadIdx.x] = in[i & 31]; // BUG: uninit-local|uninit-register
}

// A tile at the edge whose missing part is not filled with zeros.
extern "C" __global__ void edge_tile(const int *in, int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) s[t] = in[t];
#ifndef BUG
  else s[t] = 0;
#endif
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 64; i++)
    sum += s[i]; // BUG: uninit-shared
  out[t] = sum;
}

// Bins in shared memory that nobody cleared.
extern "C" __global__ void bins_unset(const unsigned *in, unsigned *out) {
  __shared__ unsigned s[16];
#ifndef BUG
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
#endif
  __syncthreads();
  atomicAdd(&s[in[threadIdx.x] % 16], 1); // BUG: uninit-shared
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x];
}

// A tree over a number of threads that is no power of two.
extern "C" __global__ void tree_of_48(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
#ifndef BUG
  if (t < 16) s[t + 48] = 0;
#endif
  __syncthreads();
  for (int i = 32; i > 0; i /= 2) {
    if (t < i)
      s[t] += s[t + i]; // BUG: uninit-shared
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];
}
