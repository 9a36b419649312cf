// Stencils, transposition, cellular automata, fractals, random numbers.
#include <cstdint>

extern "C" __global__ void stencil(const float *in, float *out, int w, int h) {
  __shared__ float tile[10][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int dy = threadIdx.y; dy < 10; dy += 8)
    for (int dx = threadIdx.x; dx < 34; dx += 32) {
      int gx = min(max((int)(blockIdx.x * 32 + dx) - 1, 0), w - 1), gy = min(max((int)(blockIdx.y * 8 + dy) - 1, 0), h - 1);
      tile[dy][dx] = in[gy * w + gx];
    }
  __syncthreads();
  if (x >= w || y >= h) return;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  out[y * w + x] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}

extern "C" __global__ void transpose(const uint32_t *in, uint32_t *out, int n) {
  __shared__ uint32_t tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void life(const uint8_t *in, uint8_t *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
  if (x >= w || y >= h) return;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) n += in[(y + dy + h) % h * w + (x + dx + w) % w] & 1;
  out[y * w + x] = n == 3 || (n == 2 && in[y * w + x] & 1);
}

extern "C" __global__ void mandelbrot(uint16_t *out, int w, double x0, double y0, double step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  double cr = x0 + x * step, ci = y0 + y * step, r = 0, i = 0;
  int n = 0;
  while (n < 200 && r * r + i * i < 4) {
    double t = r * r - i * i + cr;
    i = 2 * r * i + ci;
    r = t;
    n++;
  }
  out[y * w + x] = n;
}

extern "C" __global__ void bodies(const float4 *at, float4 *force, int n) {
  __shared__ float4 tile[64];
  float4 me = at[blockIdx.x * 64 + threadIdx.x];
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < n; base += 64) {
    tile[threadIdx.x] = at[base + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64; j++) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = tile[j].w * inv * inv * inv;
      ax += dx * s, ay += dy * s, az += dz * s;
    }
    __syncthreads();
  }
  force[blockIdx.x * 64 + threadIdx.x] = make_float4(ax, ay, az, 0);
}

// Philox 4x32, ten rounds.
extern "C" __global__ void philox(uint4 *out, uint32_t k0, uint32_t k1) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 c = make_uint4(i, i * 3, 0, 42);
  for (int r = 0; r < 10; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
  }
  out[i] = c;
}

// The length of the Collatz sequence: lanes leave the loop one by one.
extern "C" __global__ void collatz(const uint32_t *in, uint32_t *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t v = in[t] % 100000 + 1;
  uint32_t n = 0;
  for (; v != 1; n++) v = v & 1 ? 3 * v + 1 : v / 2;
  out[t] = n;
}

extern "C" __global__ void edit_distance(const char *a, const char *b, int *out, int n) {
  extern __shared__ int rows[];
  int t = threadIdx.x;
  int *d0 = rows, *d1 = rows + n + 1, *d2 = rows + 2 * n + 2;
  for (int d = 0; d <= 2 * n; d++) {
    for (int i = t; i <= n; i += blockDim.x) {
      int j = d - i;
      if (j < 0 || j > n) continue;
      d2[i] = i == 0 || j == 0 ? d : min(min(d1[i - 1], d1[i]) + 1, d0[i - 1] + ((a[i - 1] & 3) != (b[j - 1] & 3)));
    }
    __syncthreads();
    int *old = d0;
    d0 = d1, d1 = d2, d2 = old;
  }
  if (t == 0) *out = d1[n];
}
