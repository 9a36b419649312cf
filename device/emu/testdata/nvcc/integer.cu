// Integers: 64-bit division, wide products, bit operations, packed bytes.
#include <cstdint>

extern "C" __global__ void divide64(const uint64_t *a, const uint64_t *b, uint64_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint64_t x = a[i], y = b[i] | 1;
  int64_t sx = (int64_t)x, sy = (int64_t)(b[i] >> (i % 60)) | 1;
  out[i] = x / y;
  out[n + i] = x % (y >> 31 | 1);
  out[2 * n + i] = (uint64_t)(sx / sy);
  out[3 * n + i] = (uint64_t)(sx % sy);
  out[4 * n + i] = x / 1000000007u + x % 10;
  out[5 * n + i] = (uint64_t)(sx / -7) ^ (uint64_t)(sx % 4096);
}

extern "C" __global__ void divide32(const uint32_t *a, const uint32_t *b, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t x = a[i], y = (b[i] >> (i % 31)) | 1;
  int32_t sx = (int32_t)x, sy = (int32_t)b[i] >> (i % 30) | 1;
  out[i] = x / y;
  out[n + i] = x % y;
  out[2 * n + i] = (uint32_t)(sx / sy);
  out[3 * n + i] = (uint32_t)(sx % sy);
  out[4 * n + i] = (uint32_t)(uint16_t)((uint16_t)x / (uint16_t)y) + (uint32_t)((int8_t)x / ((int8_t)y | 1));
}

extern "C" __global__ void bits(const uint32_t *a, const uint32_t *b, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t x = a[i], y = b[i], s = y & 63;
  uint64_t w = (uint64_t)x << 32 | y;
  uint32_t *o = out + i;
  *o = __popc(x), o += n;
  *o = __clz(x >> (y & 31)), o += n;
  *o = __ffs(x & y), o += n;
  *o = __brev(x), o += n;
  *o = __byte_perm(x, y, x >> 7), o += n;
  *o = __umulhi(x, y), o += n;
  *o = (uint32_t)__mulhi((int)x, (int)y), o += n;
  *o = (uint32_t)(__umul64hi(w, w * 3) >> 7), o += n;
  *o = __funnelshift_l(x, y, s), o += n;
  *o = __funnelshift_rc(x, y, s), o += n;
  *o = (uint32_t)(w << s) + (uint32_t)((int64_t)w >> s), o += n;
  *o = __popcll(w) + 100 * __clzll(w >> s) + 10000 * __ffsll((long long)(w & (w << 7))), o += n;
  *o = (uint32_t)(__brevll(w) >> 5), o += n;
  *o = __sad((int)x, (int)y, 7u) + __usad(x, y, 9u), o += n;
  *o = __hadd((int)x, (int)y) ^ __rhadd((int)x, (int)y) ^ __uhadd(x, y), o += n;
  *o = __dp4a((int)x, (int)y, 11) + __dp4a(x, y, 12u), o += n;
  *o = (uint32_t)__mul24((int)x, (int)y) + __umul24(x, y), o += n;
}

extern "C" __global__ void packed(const uint32_t *a, const uint32_t *b, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t x = a[i], y = b[i], *o = out + i;
  *o = __vadd4(x, y), o += n;
  *o = __vsub4(x, y), o += n;
  *o = __vaddus4(x, y), o += n;
  *o = __vsubss4(x, y), o += n;
  *o = __vmaxs4(x, y), o += n;
  *o = __vminu4(x, y), o += n;
  *o = __vmaxu4(x, y), o += n;
  *o = __vavgu4(x, y), o += n;
  *o = __vcmpgts4(x, y), o += n;
  *o = __vadd2(x, y), o += n;
  *o = __vabsss2(x), o += n;
  *o = __vmaxu2(x, y), o += n;
  *o = __vabsdiffu4(x, y), o += n;
  *o = __vsadu4(x, y) + __vsadu2(x, y), o += n;
}

// 128-bit products, carries and a modular power.
extern "C" __global__ void wide(const uint64_t *a, const uint64_t *b, uint64_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned __int128 p = (unsigned __int128)a[i] * b[i] + a[n - 1 - i];
  p = p * 3 - b[n - 1 - i];
  out[2 * i] = (uint64_t)p;
  out[2 * i + 1] = (uint64_t)(p >> 64);
  uint64_t m = 0xffffffffull - 4, base = a[i] % m, r = 1;
  for (uint64_t e = b[i]; e; e >>= 1, base = base * base % m)
    if (e & 1) r = r * base % m;
  out[2 * n + i] = r;
}

__device__ uint32_t rotr(uint32_t x, int s) { return x >> s | x << (32 - s); }

__constant__ uint32_t round_keys[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// SHA-256 of messages of 32 bytes, one message per thread.
extern "C" __global__ void sha256(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, s[8];
  for (int j = 0; j < 8; j++) w[j] = __byte_perm(in[8 * i + j], 0, 0x0123);
  w[8] = 0x80000000;
  for (int j = 9; j < 15; j++) w[j] = 0;
  w[15] = 256;
  for (int j = 16; j < 64; j++) {
    uint32_t a = w[j - 15], b = w[j - 2];
    w[j] = w[j - 16] + w[j - 7] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
  }
  for (int j = 0; j < 8; j++) s[j] = h[j];
#pragma unroll 1
  for (int j = 0; j < 64; j++) {
    uint32_t e = s[4], a = s[0];
    uint32_t t1 = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + round_keys[j] + w[j];
    uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    for (int k = 7; k > 0; k--) s[k] = s[k - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int j = 0; j < 8; j++) out[8 * i + j] = __byte_perm(h[j] + s[j], 0, 0x0123);
}
