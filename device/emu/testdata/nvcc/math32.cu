// The mathematical functions of float.
#define N(e) *o = (e), o += n

extern "C" __global__ void elementary(const float *a, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], *o = out + i;
  N(sinf(x)); N(cosf(x)); N(tanf(x)); N(expf(x)); N(exp2f(x)); N(exp10f(x)); N(expm1f(x)); N(logf(x)); N(log2f(x)); N(log10f(x)); N(log1pf(x));
  N(sqrtf(x)); N(rsqrtf(x)); N(cbrtf(x)); N(rcbrtf(x)); N(1 / x); N(asinf(x)); N(acosf(x)); N(atanf(x)); N(sinhf(x)); N(coshf(x)); N(tanhf(x));
  N(asinhf(x)); N(acoshf(x)); N(atanhf(x)); N(sinpif(x)); N(cospif(x));
}

extern "C" __global__ void special(const float *a, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], *o = out + i;
  N(erff(x)); N(erfcf(x)); N(erfinvf(x)); N(erfcxf(x)); N(normcdff(x)); N(tgammaf(x)); N(lgammaf(x)); N(j0f(x)); N(y1f(x)); N(cyl_bessel_i0f(x));
}

extern "C" __global__ void binary(const float *a, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = a[(i * 7 + 3) % n], *o = out + i;
  int e;
  N(powf(x, y)); N(fmodf(x, y)); N(remainderf(x, y)); N(atan2f(x, y)); N(hypotf(x, y)); N(x / y); N(fdimf(x, y)); N(fmaxf(x, y)); N(fminf(x, y));
  N(copysignf(x, y)); N(nextafterf(x, y)); N(ldexpf(x, i % 300 - 150)); N(frexpf(x, &e)); N((float)e); N(logbf(x)); N((float)ilogbf(x));
  N(floorf(x)); N(ceilf(x)); N(truncf(x)); N(roundf(x)); N(rintf(x)); N((float)lroundf(x)); N((float)llrintf(x)); N(modff(x, &y)); N(y);
  float s, c;
  sincosf(x, &s, &c);
  N(s); N(c); N(fmaf(x, s, c)); N((float)(isnan(x) + 2 * isinf(x) + 4 * signbit(x) + 8 * isfinite(x)));
}

extern "C" __global__ void rounded(const float *a, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = a[(i * 7 + 3) % n], *o = out + i;
  N(__fadd_rd(x, y)); N(__fadd_ru(x, y)); N(__fmul_rz(x, y)); N(__fmaf_ru(x, y, x)); N(__fdiv_rn(x, y)); N(__fdiv_rd(x, y)); N(__frcp_ru(x));
  N(__fsqrt_rz(x)); N(__frsqrt_rn(x)); N(__saturatef(x)); N(__fdividef(x, y)); N(__expf(x)); N(__logf(x)); N(__sinf(x)); N(__cosf(x)); N(__powf(x, y)); N(__tanf(x));
}
