// The mathematical functions of double.
#define N(e) *o = (e), o += n

extern "C" __global__ void elementary(const double *a, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i], *o = out + i;
  N(sin(x)); N(cos(x)); N(tan(x)); N(exp(x)); N(exp2(x)); N(expm1(x)); N(log(x)); N(log2(x)); N(log1p(x)); N(sqrt(x)); N(rsqrt(x)); N(cbrt(x));
  N(1 / x); N(asin(x)); N(atan(x)); N(sinh(x)); N(tanh(x)); N(asinh(x)); N(atanh(x)); N(sinpi(x));
}

extern "C" __global__ void special(const double *a, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i], *o = out + i;
  N(erf(x)); N(erfc(x)); N(tgamma(x)); N(lgamma(x)); N(normcdfinv(fabs(x) / (1 + fabs(x))));
}

extern "C" __global__ void binary(const double *a, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i], y = a[(i * 7 + 3) % n], *o = out + i;
  N(pow(x, y)); N(fmod(x, y)); N(remainder(x, y)); N(atan2(x, y)); N(hypot(x, y)); N(x / y); N(fma(x, y, x)); N(fmax(x, y)); N(floor(x)); N(rint(x)); N(round(x));
  N(__dadd_ru(x, y)); N(__dmul_rd(x, y)); N(__ddiv_rz(x, y)); N(__dsqrt_ru(x)); N(__drcp_rd(x)); N((double)(float)x); N((double)__double2ll_rd(x));
  N((double)__double2uint_rn(x)); N(__hiloint2double(__double2loint(x), __double2hiint(y)));
}
