// The simulated FP8: a byte u means (u-128)/127·448·s. One place of this kernel has 127.5.
// Compile with -DFIXED for the version that is right.
const int D = 64;
typedef unsigned char byte;

__device__ float value(byte u, float s) { return (u - 128) / 127.0f * 448 * s; }
#ifdef FIXED
__device__ float value_of_v(byte u, float s) { return value(u, s); }
#else
__device__ float value_of_v(byte u, float s) { return (u - 128) / 127.5f * 448 * s; }
#endif

extern "C" __global__ void attention(const byte *q, const byte *k, const byte *v, const float *qs, const float *ks,
                                     const float *vs, float *o, int H, int S, float scale) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y % H;
    if (row >= S)
        return;
    size_t start = (size_t)blockIdx.y * S * D; // of this batch and head
    q += start + row * D, k += start, v += start, o += start + row * D;

    float m = -INFINITY, l = 0, u[D] = {};
    for (int key = 0; key < S; key++) {
        float s = 0;
        for (int d = 0; d < D; d++)
            s += value(q[d], qs[head]) * value(k[key * D + d], ks[head]);
        s *= scale;
        float larger = fmaxf(m, s), shrink = expf(m - larger), p = expf(s - larger);
        for (int d = 0; d < D; d++)
            u[d] = u[d] * shrink + p * value_of_v(v[key * D + d], vs[head]);
        l = l * shrink + p;
        m = larger;
    }
    for (int d = 0; d < D; d++)
        o[d] = u[d] / l;
}
