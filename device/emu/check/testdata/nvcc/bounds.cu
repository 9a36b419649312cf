// nvcc -arch=sm_80
// Indices, sizes and alignments that are wrong.

// No comparison with n.
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef BUG
  if (i < n)
#endif
    y[i] = a * x[i] + y[i]; // BUG: oob-global
}

// One too many.
extern "C" __global__ void fill(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
  if (i <= n)
#else
  if (i < n)
#endif
    out[i] = i; // BUG: oob-global
}

// The neighbour on the left of the first element.
extern "C" __global__ void differences(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef BUG
  int left = in[i - 1]; // BUG: oob-global
#else
  int left = i > 0 ? in[i - 1] : 0;
#endif
  out[i] = in[i] - left;
}

// Rows are taken to be as far apart as columns.
extern "C" __global__ void column_sums(const float *in, float *out, int rows, int cols) {
  int c = threadIdx.x;
  if (c >= cols) return;
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r < rows; r++)
#ifdef BUG
    sum += in[r * rows + c]; // BUG: oob-global
#else
    sum += in[r * cols + c];
#endif
  out[c] = sum;
}

// A guard for x but none for y.
extern "C" __global__ void threshold(const unsigned char *in, unsigned char *out, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
#ifdef BUG
  if (x < w)
#else
  if (x < w && y < h)
#endif
    out[y * w + x] = in[y * w + x] > 100 ? 255 : 0; // BUG: oob-global
}

// Four at a time, and the number of elements is no multiple of four.
extern "C" __global__ void scale4(const float *in, float *out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
#ifdef BUG
  if (i < n) {
#else
  if (i + 4 <= n) {
#endif
    float4 v = *(const float4 *)(in + i); // BUG: oob-global
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    *(float4 *)(out + i) = v;
  }
#ifndef BUG
  else
    for (; i < n; i++) out[i] = in[i] * 2;
#endif
}

// A value that is no bin.
extern "C" __global__ void bins(const unsigned *in, unsigned *count) {
  unsigned v = in[threadIdx.x];
#ifdef BUG
  atomicAdd(&count[v / 4], 1); // BUG: oob-global
#else
  atomicAdd(&count[min(v / 4, 7u)], 1);
#endif
}

// One array runs into the next.
extern "C" __global__ void two_arrays(const int *in, int *out) {
#ifdef BUG
  __shared__ int a[32];
#else
  __shared__ int a[64];
#endif
  __shared__ int b[64];
  int t = threadIdx.x;
  b[t] = in[t] * 2;
  __syncthreads();
  a[t] = in[t]; // BUG: oob-shared
  __syncthreads();
  out[t] = a[63 - t] + b[63 - t]; // BUG: oob-shared
}

// The halo was forgotten when the tile was declared.
extern "C" __global__ void halo(const int *in, int *out, int n) {
#ifdef BUG
  __shared__ int s[64];
#else
  __shared__ int s[66];
#endif
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t + 1] = in[i]; // BUG: oob-shared
  if (t == 0) s[0] = i > 0 ? in[i - 1] : 0;
  if (t == 0) s[65] = i + 64 < n ? in[i + 64] : 0; // BUG: oob-shared
  __syncthreads();
  out[i] = s[t] + s[t + 1] + s[t + 2]; // BUG: oob-shared
}

// The launch gives half of the dynamic shared memory that is used.
extern "C" __global__ void reverse_dynamic(const int *in, int *out, int n) {
  extern __shared__ int dyn[];
  int t = threadIdx.x;
#ifdef BUG
  int *s = dyn + n;
#else
  int *s = dyn;
#endif
  s[t] = in[t]; // BUG: oob-shared
  __syncthreads();
  out[t] = s[n - 1 - t];
}

// A table of a thread's own that is one entry too short.
extern "C" __global__ void local_table(const int *in, int *out) {
  int table[8];
#pragma unroll
  for (int i = 0; i < 8; i++) table[i] = in[i] * in[i];
#ifdef BUG
  int k = in[threadIdx.x] % 9;
#else
  int k = in[threadIdx.x] % 8;
#endif
  out[threadIdx.x] = table[k]; // BUG: oob-local
}

// A float4 from an address that is a multiple of four only.
extern "C" __global__ void shifted(const float *in, float *out) {
#ifdef BUG
  const float *from = in + 1;
#else
  const float *from = in + 4;
#endif
  float4 v = *(const float4 *)(from + threadIdx.x * 4); // BUG: misaligned
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// Doubles laid into bytes of shared memory after an odd number of floats.
extern "C" __global__ void carved(const double *in, double *out) {
  __shared__ __align__(16) unsigned char raw[1024];
  float *floats = (float *)raw;
#ifdef BUG
  double *doubles = (double *)(floats + 33);
#else
  double *doubles = (double *)(floats + 34);
#endif
  int t = threadIdx.x;
  floats[t] = t;
  doubles[t] = in[t]; // BUG: misaligned
  __syncthreads();
  out[t] = doubles[31 - t] + floats[31 - t];
}

// A null pointer that the host forgot to set.
extern "C" __global__ void optional(const int *in, const int *bias, int *out) {
#ifdef BUG
  out[threadIdx.x] = in[threadIdx.x] + bias[threadIdx.x]; // BUG: oob-global
#else
  out[threadIdx.x] = in[threadIdx.x] + (bias ? bias[threadIdx.x] : 0);
#endif
}
