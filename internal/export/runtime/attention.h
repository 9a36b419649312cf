/* FP8 attention in C, written by attest. This header needs cuda.h and the driver (-lcuda -lm), no CUDA compiler.
 *
@COMMENT@
 * O = softmax(Q Kt scale) V for tensors [B,H,S,D] in device memory, with one float32 scale per head.
 *
 *	attest_attention a;
 *	attest_open(&a, device);                        a context of the device must be current
 *	attest_problem p = {.B = 1, .H = 8, .Hkv = 8, .Sq = 512, .Skv = 512, .D = 64, .output = "f16"};
 *	attest_tensors t = {.q = q, …, .o = o, .workspace = w};   w has attest_workspace(&a, &p) bytes
 *	if (attest_run(&a, &p, &t, stream)) puts(a.error);
 *	attest_close(&a);
 *
 * A causal mask is aligned to the last key: query i sees keys 0 to i + Skv - Sq. One attest_attention serves
 * one thread at a time.
 */
#ifndef ATTEST_ATTENTION_H
#define ATTEST_ATTENTION_H

#include <cuda.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct attest_problem {
	int64_t B, H, Hkv, Sq, Skv, D; /* Hkv heads of K and V; H is a multiple of it */
	int causal;
	const char *output; /* "f16" or "bf16" */
	double scale;       /* of the logits; 0 is 1/sqrt(D) */
} attest_problem;

typedef struct attest_tensors {
	CUdeviceptr q, k, v;    /* FP8 */
	CUdeviceptr qs, ks, vs; /* float32, one per head */
	CUdeviceptr o, lse;     /* lse is unused unless the kernels write it */
	CUdeviceptr workspace;  /* attest_workspace bytes, aligned to 256 */
} attest_tensors;

typedef struct attest_attention {
	CUdevice device;
	int sms;
	CUmodule modules[@COUNT@];
	char error[512]; /* why the last call failed */
} attest_attention;

typedef struct attest_kernel {
	const char *name;
	int64_t D;
	int causal;
	const char *output;
	int grouped;
	const char *ptx;
	const char *(*refuses)(const attest_problem *, int64_t SMs);
	int (*launch)(attest_attention *, const attest_problem *, const attest_tensors *, CUstream, size_t *workspace);
} attest_kernel;

static inline int64_t attest_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t attest_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t attest_cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static inline int attest_fail(attest_attention *a, const char *what, CUresult code)
{
	const char *text = NULL;
	cuGetErrorString(code, &text);
	snprintf(a->error, sizeof a->error, "%s: error %d, %s", what, (int)code, text ? text : "unknown");
	return 1;
}

static inline int64_t attest_resident(CUfunction f, int64_t threads, size_t shared)
{
	int n = 0;
	if (cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, (int)threads, shared) != CUDA_SUCCESS || n < 1)
		return 1;
	return n;
}

static inline CUdeviceptr attest_take(CUdeviceptr base, size_t *used, size_t *workspace, int64_t bytes)
{
	const CUdeviceptr at = base + *used;
	*used += ((size_t)bytes + 255) / 256 * 256;
	if (workspace)
		*workspace = *used;
	return at;
}

/* attest_launch_now queues one launch. */
static inline CUresult attest_launch_now(CUfunction f, CUstream stream, size_t shared, void **args, const int64_t n[9], int cooperative, int dependent)
{
	CUlaunchAttribute attrs[3];
	CUlaunchConfig c;
	memset(attrs, 0, sizeof attrs);
	memset(&c, 0, sizeof c);
	c.gridDimX = (unsigned)n[0], c.gridDimY = (unsigned)n[1], c.gridDimZ = (unsigned)n[2];
	c.blockDimX = (unsigned)n[3], c.blockDimY = (unsigned)n[4], c.blockDimZ = (unsigned)n[5];
	c.sharedMemBytes = (unsigned)shared;
	c.hStream = stream;
	c.attrs = attrs;
	if (n[6] * n[7] * n[8] > 1) {
		attrs[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		attrs[c.numAttrs].value.clusterDim.x = (unsigned)n[6];
		attrs[c.numAttrs].value.clusterDim.y = (unsigned)n[7];
		attrs[c.numAttrs++].value.clusterDim.z = (unsigned)n[8];
	}
	if (cooperative) {
		attrs[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		attrs[c.numAttrs++].value.cooperative = 1;
	}
	if (dependent) {
		attrs[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		attrs[c.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
	}
	return cuLaunchKernelEx(&c, f, args, NULL);
}

#define ATTEST_NAMES(p) \
	const int64_t B = (p)->B, H = (p)->H, Hkv = (p)->Hkv, Sq = (p)->Sq, S = (p)->Sq, Skv = (p)->Skv, D = (p)->D; \
	const int64_t window_left = -1, window_right = -1, total_q = B * Sq, total_kv = B * Skv; \
	const double scale = (p)->scale != 0 ? (p)->scale : 1 / sqrt((double)(p)->D), softcap = 0; \
	size_t used = 0; \
	(void)B, (void)H, (void)Hkv, (void)Sq, (void)S, (void)Skv, (void)D, (void)window_left, (void)window_right, (void)total_q, (void)total_kv, (void)scale, (void)softcap, (void)SMs, (void)used;
#define ATTEST_CALL(call) \
	{ \
		const CUresult code = call; \
		if (code != CUDA_SUCCESS) \
			return attest_fail(a, #call, code); \
	}
#define ATTEST_TAKE(bytes) attest_take(t ? t->workspace : 0, &used, workspace, bytes)
#define ATTEST_ZERO(at, bytes) \
	if (!workspace) \
		ATTEST_CALL(cuMemsetD8Async(at, 0, (size_t)(bytes), stream))
#define ATTEST_FUNCTION(index, entry, bytes) \
	const size_t shared = (size_t)(bytes); \
	CUfunction function; \
	if (!a->modules[index]) \
		ATTEST_CALL(cuModuleLoadData(&a->modules[index], attest_ptx_##index)) \
	ATTEST_CALL(cuModuleGetFunction(&function, a->modules[index], entry)) \
	ATTEST_CALL(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared))
#define ATTEST_LAUNCH(gx, gy, gz, bx, by, bz, cx, cy, cz, cooperative, dependent) \
	const int64_t extents[9] = {gx, gy, gz, bx, by, bz, cx, cy, cz}; \
	ATTEST_CALL(attest_launch_now(function, stream, shared, args, extents, cooperative, dependent))

@KERNELS@
@TABLES@
/* attest_open prepares a for a device. */
static inline int attest_open(attest_attention *a, CUdevice device)
{
	memset(a, 0, sizeof *a);
	a->device = device;
	ATTEST_CALL(cuDeviceGetAttribute(&a->sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device))
	return 0;
}

/* attest_choose returns the index of the best kernel for a problem, or -1 with a reason in a->error. */
static inline int attest_choose(attest_attention *a, const attest_problem *p)
{
	const char *why = "no kernel of this header has this head dimension, mask, output and grouping of heads";
	int best = -1;
	double nearest = INFINITY;
	if (p->B < 1 || p->H < 1 || p->Hkv < 1 || p->Sq < 1 || p->Skv < 1 || p->H % p->Hkv || (p->causal && p->Sq > p->Skv)) {
		snprintf(a->error, sizeof a->error, "the sizes of the problem are not valid");
		return -1;
	}
	for (int i = 0; i < @SAMPLES@; i++) {
		const int64_t *s = attest_samples[i];
		const attest_kernel *k = &attest_kernels[s[0]];
		if (k->D != p->D || k->causal != !!p->causal || strcmp(k->output, p->output ? p->output : "f16") || (p->H != p->Hkv && !k->grouped))
			continue;
		const char *refusal = k->refuses(p, a->sms);
		if (refusal) {
			why = refusal;
			continue;
		}
		const double at = fabs(log2((double)(p->B * p->H)) - log2((double)s[1])) + fabs(log2((double)(p->H / p->Hkv)) - log2((double)s[2])) +
			fabs(log2((double)p->Sq) - log2((double)s[3])) + fabs(log2((double)p->Skv) - log2((double)s[4]));
		if (at < nearest) {
			nearest = at;
			best = (int)s[0];
		}
	}
	if (best < 0)
		snprintf(a->error, sizeof a->error, "%s", why);
	return best;
}

/* attest_workspace returns the bytes of workspace that a problem needs. */
static inline size_t attest_workspace(attest_attention *a, const attest_problem *p)
{
	size_t bytes = 0;
	const int i = attest_choose(a, p);
	if (i >= 0)
		attest_kernels[i].launch(a, p, NULL, NULL, &bytes);
	return bytes;
}

/* attest_run queues the kernels of a problem on a stream. It returns 0, or 1 with a reason in a->error. */
static inline int attest_run(attest_attention *a, const attest_problem *p, const attest_tensors *t, CUstream stream)
{
	const int i = attest_choose(a, p);
	return i < 0 ? 1 : attest_kernels[i].launch(a, p, t, stream, NULL);
}

/* attest_close unloads the kernels. */
static inline void attest_close(attest_attention *a)
{
	for (int i = 0; i < @COUNT@; i++)
		if (a->modules[i])
			cuModuleUnload(a->modules[i]);
	memset(a, 0, sizeof *a);
}

#endif

/*
@BUNDLE@
*/
