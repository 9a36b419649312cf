// Each thread reads what its neighbour wrote.
__global__ void neighbours(float *out) {
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = 2.0f * i;
    out[i] = s[(i + 1) % 64]; // __syncthreads() is missing above
}
