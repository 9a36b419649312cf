// The matrix product of every textbook: tiles of 16 by 16 in shared memory, one thread
// for each element of the result.
//
//   nvcc -ptx -arch=sm_80 -lineinfo -o tiled.ptx tiled.cu

constexpr int T = 16;

extern "C" __global__ void tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        a[y][x] = A[row * n + k + x];
        b[y][x] = B[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
