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

#define ATTEST_REMEMBERED 64

typedef struct attest_attention {
	CUdevice device;
	int sms;
	CUmodule modules[@COUNT@];
	struct {
		attest_problem problem;
		int kernel;
	} known[ATTEST_REMEMBERED]; /* the choices of the last problems */
	unsigned chosen;            /* how many problems a kernel was chosen for */
	char error[512];            /* why the last call failed */
} attest_attention;

typedef struct attest_kernel {
	const char *name;
	int64_t D;
	int causal;
	const char *output;
	int grouped, cross; /* whether K and V may have fewer heads, and another length than Q */
	const char *ptx;
	const char *(*refuses)(const attest_problem *, int64_t SMs);
	int (*launch)(attest_attention *, const attest_problem *, const attest_tensors *, CUstream, size_t *workspace);
} attest_kernel;

/* A kernel that may be the best for a problem. Its cost is -1 for problems that it is not meant for. */
typedef struct attest_choice {
	int kernel, family;
	int64_t (*cost)(const attest_problem *, int64_t SMs);
} attest_choice;

/* How a kernel divides its work: query rows of a block, keys of a tile, blocks that split the keys, blocks that share an SM,
 * and the number of blocks up to which the items of a causal problem are followed block by block. */
typedef struct attest_tiles {
	int64_t rows, keys, split, per_sm;
	int persistent, causal;
	int64_t counted;
} attest_tiles;

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

static inline const char *attest_output(const attest_problem *p) { return p->output ? p->output : "f16"; }

/* attest_tiles_of returns the KV tiles of a block whose query rows end before rows. */
static inline int64_t attest_tiles_of(const attest_problem *p, const attest_tiles *t, int64_t rows)
{
	const int64_t keys = t->causal ? attest_max(rows + p->Skv - p->Sq, 0) : p->Skv;
	return attest_cdiv(attest_cdiv(keys, t->keys), t->split);
}

/* attest_busiest returns how long the persistent block with the most work is busy: the blocks are dealt one item each, forwards
 * and backwards in turn, the longest items of all heads first. */
static inline int64_t attest_busiest(const attest_problem *p, const attest_tiles *t, int64_t items, int64_t places, int64_t item, int64_t tile)
{
	const int64_t per_head = attest_cdiv(p->Sq, t->rows), heads = items / per_head;
	int64_t most = 0;
	for (int64_t b = 0; b < attest_min(items, places); b++) {
		int64_t sum = 0;
		for (int64_t n = 0; n * places < items; n++) {
			const int64_t i = n * places + (n % 2 ? places - 1 - b : b);
			if (i < items)
				sum += item + tile * attest_tiles_of(p, t, attest_min((per_head - i / heads) * t->rows, p->Sq));
		}
		most = attest_max(most, sum);
	}
	return most;
}

/* attest_last returns when the last block ends, if a block starts as soon as a place is free, the longest of all heads first.
 * A cluster of blocks that split keys takes as many places. */
static inline int64_t attest_last(const attest_problem *p, const attest_tiles *t, int64_t blocks, int64_t places, int64_t item, int64_t tile)
{
	int64_t free[@COUNTED@] = {0}, last = 0; /* a heap: when each place is free */
	const int64_t per_head = attest_cdiv(p->Sq, t->rows), n = attest_min(attest_max(places / t->split, 1), blocks);
	for (int64_t i = per_head; i > 0; i--)
		for (int64_t head = blocks / t->split / per_head; head > 0; head--) {
			const int64_t end = free[0] + item + tile * attest_tiles_of(p, t, attest_min(i * t->rows, p->Sq));
			int64_t at = 0;
			for (;;) { /* end takes its place in the heap */
				int64_t child = 2 * at + 1;
				if (child + 1 < n && free[child + 1] < free[child])
					child++;
				if (child >= n || free[child] >= end)
					break;
				free[at] = free[child];
				at = child;
			}
			free[at] = end;
			last = attest_max(last, end);
		}
	return last;
}

/* attest_busy returns how long the place for a block is busy that ends last. The beginning and the end of an item take the time
 * item, and a KV tile takes the time tile. */
static inline int64_t attest_busy(const attest_problem *p, int64_t SMs, const attest_tiles *t, int64_t rounds, int64_t item, int64_t tile)
{
	const int64_t most = attest_tiles_of(p, t, p->Sq), blocks = p->B * p->H * attest_cdiv(p->Sq, t->rows) * t->split;
	if (!t->causal)
		return rounds * (item + most * tile);
	if (blocks > t->counted)
		return rounds * item + attest_max(rounds * (attest_tiles_of(p, t, attest_min(t->rows, p->Sq)) + most) / 2, most) * tile;
	return t->persistent ? attest_busiest(p, t, blocks, SMs * t->per_sm, item, tile) : attest_last(p, t, blocks, SMs * t->per_sm, item, tile);
}

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

/* attest_same reports whether two problems have the same kernel. */
static inline int attest_same(const attest_problem *p, const attest_problem *q)
{
	return p->B == q->B && p->H == q->H && p->Hkv == q->Hkv && p->Sq == q->Sq && p->Skv == q->Skv && p->D == q->D && !p->causal == !q->causal &&
		!strcmp(attest_output(p), attest_output(q));
}

/* attest_choose returns the index of the best kernel for a problem, as attest chooses it, or -1 with a reason in a->error: the
 * first family with a kernel that computes the problem, and its kernel with the lowest cost. */
static inline int attest_choose(attest_attention *a, const attest_problem *p)
{
	const char *why = "no kernel of this header has this head dimension, mask, output and grouping of heads";
	int best = -1, family = -1;
	int64_t least = INT64_MAX;
	for (unsigned i = 0; i < ATTEST_REMEMBERED && i < a->chosen; i++)
		if (attest_same(p, &a->known[i].problem))
			return a->known[i].kernel;
	if (p->B < 1 || p->H < 1 || p->Hkv < 1 || p->Sq < 1 || p->Skv < 1 || p->H % p->Hkv || (p->causal && p->Sq > p->Skv)) {
		snprintf(a->error, sizeof a->error, "the sizes of the problem are not valid");
		return -1;
	}
	for (int i = 0; i < @CHOICES@; i++) {
		const attest_choice *c = &attest_choices[i];
		const attest_kernel *k = &attest_kernels[c->kernel];
		if (k->D != p->D || k->causal != !!p->causal || strcmp(k->output, attest_output(p)) || (p->H != p->Hkv && !k->grouped) ||
			(p->Sq != p->Skv && !k->cross) || (family >= 0 && c->family != family))
			continue;
		const char *refusal = k->refuses(p, a->sms);
		if (refusal) {
			why = refusal;
			continue;
		}
		const int64_t cost = c->cost(p, a->sms);
		if (cost >= 0 && cost < least) {
			least = cost;
			best = c->kernel;
			family = c->family;
		}
	}
	if (best < 0) {
		snprintf(a->error, sizeof a->error, "%s", why);
		return -1;
	}
	a->known[a->chosen % ATTEST_REMEMBERED].problem = *p;
	a->known[a->chosen % ATTEST_REMEMBERED].problem.output = attest_kernels[best].output;
	a->known[a->chosen % ATTEST_REMEMBERED].kernel = best;
	a->chosen++;
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
