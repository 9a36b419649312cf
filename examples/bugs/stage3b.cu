// Stage 3B: the scores stay in the registers of the tensor cores. The running maximum m, the
// running sum l and the unnormalised output U of each query row are in shared memory.
// Compile with -DFIXED for the version that is right.
#include "mma.cuh"

#ifdef FIXED
const int WARPS_N = 1; // one warp per 16 query rows; it works on all keys of a tile
#else
const int WARPS_N = 2; // two warps per 16 query rows, one for each half of the keys
#endif

extern "C" __global__ void attention(const byte *q, const byte *k, const byte *v, const float *qs, const float *ks,
                                     const float *vs, float *o, int H, int S, float scale) {
    __shared__ byte q_smem[ROWS][D], k_smem[KEYS][D], v_smem[KEYS][D];
    __shared__ float m_smem[ROWS], l_smem[ROWS], U_smem[ROWS][D];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int warp_m = warp / WARPS_N, warp_n = warp % WARPS_N;
    int row = 16 * warp_m + lane / 4, col = lane % 4 * 2; // of the element that a lane has first
    int first = blockIdx.x * ROWS, head = blockIdx.y % H;
    size_t start = (size_t)blockIdx.y * S * D; // of this batch and head
    float factor = scale * qs[head] * ks[head] * STEP * STEP;

    for (int i = threadIdx.x; i < ROWS * D; i += blockDim.x) {
        q_smem[i / D][i % D] = first + i / D < S ? q[start + first * D + i] : 128;
        U_smem[i / D][i % D] = 0;
    }
    if (threadIdx.x < ROWS) {
        m_smem[threadIdx.x] = -1e30f;
        l_smem[threadIdx.x] = 0;
    }

    for (int key = 0; key < S; key += KEYS) {
        __syncthreads();
        for (int i = threadIdx.x; i < KEYS * D; i += blockDim.x) {
            k_smem[i / D][i % D] = key + i / D < S ? k[start + key * D + i] : 128;
            v_smem[i / D][i % D] = key + i / D < S ? v[start + key * D + i] : 128;
        }
        __syncthreads();

        for (int half = warp_n; half < 2; half += WARPS_N) {
            // S = Q·Kᵀ: 16 rows and 16 keys, in two products of 8 keys.
            float s[2][4] = {};
            for (int d = 0; d < D; d += 16) {
                unsigned a[4];
                for (int i = 0; i < 4; i++) {
                    byte *x = &q_smem[row + i % 2 * 8][d + col + i / 2 * 8];
                    a[i] = pack(value(x[0]), value(x[1]));
                }
                for (int n = 0; n < 2; n++) {
                    byte *x = &k_smem[16 * half + 8 * n + lane / 4][d + col];
                    mma(s[n], a, pack(value(x[0]), value(x[1])), pack(value(x[8]), value(x[9])));
                }
            }
            for (int i = 0; i < 8; i++) {
                int at = key + 16 * half + i / 4 * 8 + col + i % 2;
                s[i / 4][i % 4] = at < S ? s[i / 4][i % 4] * factor : -INFINITY;
            }

            // Online softmax of the rows row and row + 8.
            float shrink[2];
            for (int r = 0; r < 2; r++) {
                int at = row + 8 * r;
                float old = m_smem[at], l_old = l_smem[at];
                float m = fmaxf(old, most(fmaxf(fmaxf(s[0][2 * r], s[0][2 * r + 1]), fmaxf(s[1][2 * r], s[1][2 * r + 1]))));
                float l = 0;
                for (int n = 0; n < 2; n++)
                    for (int c = 2 * r; c < 2 * r + 2; c++)
                        l += s[n][c] = expf(s[n][c] - m);
                l = sum(l);
                shrink[r] = expf(old - m);
                __syncwarp();
                if (lane % 4 == 0) {
                    m_smem[at] = m;
                    l_smem[at] = l_old * shrink[r] + l;
                }
            }

            // U = U·shrink + P·V, 8 columns at a time.
            unsigned p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
            for (int d = 0; d < D; d += 8) {
                float u[4] = {};
                int n = d + lane / 4, at = 16 * half + col;
                mma(u, p, pack(value(v_smem[at][n]), value(v_smem[at + 1][n])), pack(value(v_smem[at + 8][n]), value(v_smem[at + 9][n])));
                for (int i = 0; i < 4; i++) {
                    float *x = &U_smem[row + i / 2 * 8][d + col + i % 2];
                    *x = *x * shrink[i / 2] + u[i];
                }
            }
            __syncwarp();
        }
    }

    __syncthreads();
    for (int i = threadIdx.x; i < ROWS * D; i += blockDim.x)
        if (first + i / D < S)
            o[start + first * D + i] = U_smem[i / D][i % D] / l_smem[i / D] * vs[head] * STEP;
}
