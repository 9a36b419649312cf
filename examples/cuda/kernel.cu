// Attention on one-byte numbers: O = softmax(Q·Kᵀ·scale)·V. One thread computes one row of
// O in one pass over the keys, with the online softmax. A byte u means (u-128)/127·448·s,
// where s is the scale of its head.
const int D = 64;

__device__ float value(unsigned char u, float s) { return (u - 128) * (448.0f / 127) * s; }

extern "C" __global__ void attention(const unsigned char *q, const unsigned char *k, const unsigned char *v,
                                     const float *qs, const float *ks, const float *vs, float *o,
                                     int H, int S, float scale) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int head = blockIdx.y % H;
    if (row >= S)
        return;
    size_t start = (size_t)blockIdx.y * S * D; // of this batch and head
    q += start + row * D, k += start, v += start, o += start + row * D;

    float m = -INFINITY, l = 0, acc[D];
    for (int d = 0; d < D; d++)
        acc[d] = 0;
    for (int key = 0; key < S; key++) {
        float s = 0;
        for (int d = 0; d < D; d++)
            s += value(q[d], qs[head]) * value(k[key * D + d], ks[head]);
        s *= scale;
        float larger = fmaxf(m, s), shrink = expf(m - larger), p = expf(s - larger);
        for (int d = 0; d < D; d++)
            acc[d] = acc[d] * shrink + p * value(v[key * D + d], vs[head]);
        l = l * shrink + p;
        m = larger;
    }
    for (int d = 0; d < D; d++)
        o[d] = acc[d] / l;
}
