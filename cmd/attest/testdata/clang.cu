// Uses a bit of everything that attest_cuda.h declares.
extern "C" __global__ void __launch_bounds__(128) everything(const float *q, const float *k, float *o, int *n, int S, float scale) {
    __shared__ float part[4];
    extern __shared__ float dyn[];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = -INFINITY;
    for (int i = 0; i < S; i++)
        s = fmaxf(s, q[t] * k[i] * scale);
    for (int w = 16; w; w /= 2)
        s = fmaxf(s, __shfl_xor_sync(~0u, s, w));
    if (threadIdx.x % warpSize == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    dyn[threadIdx.x] = expf(s - part[0]) / sqrtf(logf(2.0f + part[1]));
    __threadfence_block();
    __syncwarp();
    float4 v = make_float4(dyn[0], rsqrtf(dyn[1]), exp2f(dyn[2]), max(dyn[3], 1.0f));
    o[t] = fmaf(v.x, v.y, v.z) + fabsf(v.w) + min(t, 3);
    atomicAdd(n, 1);
    atomicAdd(o, 1.0f);
    atomicCAS((unsigned *)n, 5u, 6u);
}
