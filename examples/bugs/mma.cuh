// What the three kernels share: the product of the tensor cores, and numbers of one byte.
const int D = 64;    // head dimension
const int ROWS = 32; // query rows per block
const int KEYS = 32; // keys per tile
typedef unsigned char byte;

// A byte u means value(u)·STEP times the scale of its head. value is exact in half precision.
const float STEP = 448.0f / 127;
__device__ __forceinline__ float value(byte u) { return u - 128; }

// pack returns two numbers as halves.
__device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

// mma adds a 16x16 matrix times a 16x8 matrix to c. With row = lane/4 and col = lane%4*2, a
// lane has elements (row, col), (row, col+1), (row+8, col) and (row+8, col+1) of c.
__device__ __forceinline__ void mma(float c[4], const unsigned a[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// most and sum reduce over the four lanes that share a row.
__device__ __forceinline__ float most(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ __forceinline__ float sum(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}
