// Stage 4: cp.async brings the tiles of K and V into a ring of three buffers, two tiles ahead.
// Compile with -DFIXED for the version that is right.
#include "mma.cuh"

const int BUFFERS = 3;

extern "C" __global__ void attention(const byte *q, const byte *k, const byte *v, const float *qs, const float *ks,
                                     const float *vs, float *o, int H, int S, float scale) {
    __shared__ __align__(16) byte k_ring[BUFFERS][KEYS][D], v_ring[BUFFERS][KEYS][D];
    int row = blockIdx.x * ROWS + threadIdx.x / 4, head = blockIdx.y % H; // four threads per query row
    int part = threadIdx.x % 4;                                           // each has 16 columns
    size_t start = (size_t)blockIdx.y * S * D;                            // of this batch and head
    float factor = scale * qs[head] * ks[head] * STEP * STEP;

    float x[D / 4], u[D / 4] = {}, m = -1e30f, l = 0;
    for (int d = 0; d < D / 4; d++)
        x[d] = row < S ? value(q[start + row * D + part * 16 + d]) * factor : 0;

    int tiles = (S + KEYS - 1) / KEYS;
    int at = threadIdx.x * 16 / D, d0 = threadIdx.x * 16 % D; // the 16 bytes of a tile that a thread copies
    auto load = [&](int tile) {
        if (tile >= tiles)
            return;
        size_t from = start + min(tile * KEYS + at, S - 1) * D + d0;
        __pipeline_memcpy_async(&k_ring[tile % BUFFERS][at][d0], k + from, 16);
        __pipeline_memcpy_async(&v_ring[tile % BUFFERS][at][d0], v + from, 16);
        __pipeline_commit();
    };
    load(0);
    load(1);
    for (int tile = 0; tile < tiles; tile++) {
        load(tile + 2);
#ifdef FIXED
        if (tile + 1 < tiles)
            __pipeline_wait_prior(1);
        else
            __pipeline_wait_prior(0);
#else
        __pipeline_wait_prior(1);
#endif
        __syncthreads();
        for (int key = 0; key < KEYS && tile * KEYS + key < S; key++) {
            float s = 0;
            for (int d = 0; d < D / 4; d++)
                s += x[d] * value(k_ring[tile % BUFFERS][key][part * 16 + d]);
            s = sum(s);
            float larger = fmaxf(m, s), shrink = expf(m - larger), p = expf(s - larger);
            for (int d = 0; d < D / 4; d++)
                u[d] = u[d] * shrink + p * value(v_ring[tile % BUFFERS][key][part * 16 + d]);
            l = l * shrink + p;
            m = larger;
        }
        __syncthreads();
    }
    if (row < S)
        for (int d = 0; d < D / 4; d++)
            o[start + row * D + part * 16 + d] = u[d] / l * vs[head] * STEP;
}
