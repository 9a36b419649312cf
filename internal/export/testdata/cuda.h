/* A driver for tests: it prints every launch instead of running it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct module { const char *ptx; } *CUmodule;
typedef struct function { const char *name; } *CUfunction;
typedef void *CUstream;
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
typedef struct { _Alignas(64) uint64_t opaque[16]; } CUtensorMap;
typedef struct {
	int id;
	char pad[4];
	union {
		struct { unsigned x, y, z; } clusterDim;
		int cooperative, programmaticStreamSerializationAllowed;
		char space[64];
	} value;
} CUlaunchAttribute;
typedef struct {
	unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned numAttrs;
} CUlaunchConfig;
enum { CUDA_SUCCESS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
enum { CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6 };
enum { CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9 };
enum { CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE = 0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA };
enum { CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B };

static struct function the_function;
static struct module the_module;
static CUresult cuGetErrorString(CUresult c, const char **t) { (void)c; *t = "none"; return 0; }
static CUresult cuDeviceGetAttribute(int *v, int a, CUdevice d) { (void)a, (void)d; *v = 132; return 0; }
static CUresult cuModuleLoadData(CUmodule *m, const void *p) { the_module.ptx = p; *m = &the_module; return 0; }
static CUresult cuModuleUnload(CUmodule m) { (void)m; return 0; }
static CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *n) { (void)m; the_function.name = n; *f = &the_function; return 0; }
static CUresult cuFuncSetAttribute(CUfunction f, int a, int v) { (void)f, (void)a, (void)v; return 0; }
static CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int b, size_t s) { (void)f, (void)b, (void)s; *n = 1; return 0; }
static CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) { (void)p, (void)v, (void)n, (void)s; return 0; }
static CUresult cuTensorMapEncodeTiled(CUtensorMap *m, int type, unsigned rank, void *at, const cuuint64_t *dims, const cuuint64_t *strides,
	const cuuint32_t *box, const cuuint32_t *steps, int interleave, int swizzle, int l2, int fill)
{
	(void)steps, (void)interleave, (void)l2, (void)fill;
	memset(m, 0, sizeof *m);
	printf("map %d %llu", type, (unsigned long long)(uintptr_t)at);
	for (unsigned i = 0; i < rank; i++)
		printf(" %llu/%llu/%u", (unsigned long long)dims[i], i + 1 < rank ? (unsigned long long)strides[i] : 0, box[i]);
	printf(" %d\n", swizzle);
	return 0;
}
static CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra)
{
	(void)extra;
	printf("launch %s %u,%u,%u %u,%u,%u %u", f->name, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes);
	for (unsigned i = 0; i < c->numAttrs; i++)
		printf(" attr%d=%u", c->attrs[i].id, c->attrs[i].value.clusterDim.x);
	printf(" %u\n", *(unsigned *)args[7]);
	return 0;
}
