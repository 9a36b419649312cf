// Device code in plain C for clang's NVPTX back end.
#define kernel __attribute__((nvptx_kernel))
#define shared __attribute__((address_space(3)))
#define noinline __attribute__((noinline))

typedef float f4 __attribute__((ext_vector_type(4)));
typedef struct { int a[5]; double d; char c; } Record;

static const unsigned char lookup[16] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 121, 98, 219};
int state[3][2] = {{1, 2}, {3, 4}, {5, 6}};
int *cursor = &state[1][1];
const char *greeting = "hello";
shared int tile[64];

static noinline int twice(int x) { return x * 2; }
static noinline int square(int x) { return x * x; }
static int (*const table[2])(int) = {twice, square};
struct { char tag; void *p[2]; } __attribute__((packed)) loose = {7, {&state[2][0], (void *)twice}};

noinline Record change(Record r, int by) {
  for (int i = 0; i < 5; i++) r.a[i] += by;
  r.d /= by;
  r.c ^= 0x20;
  return r;
}

kernel void run(int *out, const f4 *in, int n) {
  int i = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
  tile[i & 63] = lookup[i & 15] + *cursor;
  __nvvm_bar_sync(0);
  Record r = {{1, 2, 3, 4, 5}, 0.1, 'x'};
  r = change(r, n);
  f4 v = in[i] * 0.3f + (f4)(tile[(i + 1) & 63]);
  out[i] = table[n & 1](r.a[n % 5]) + (int)(v.x + v.w) + (int)r.d + greeting[n & 3] + loose.tag;
}

kernel void dispatch(int *out, int n) {
  switch (n) {
  case 0: out[0] = 3; break;
  case 1: out[1] = 5; break;
  case 2: out[5] = 8; break;
  case 3: out[2] = twice(n); break;
  case 4: out[4] = 13; break;
  case 5: out[3] = out[9] << n; break;
  default: out[7] = __builtin_popcount(n);
  }
  while (out[n]--) __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p bra.uni L; trap; L: }" ::"r"(n));
}
