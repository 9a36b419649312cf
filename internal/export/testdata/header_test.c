/* Computes one problem with an exported header: header_test B H Hkv Sq Skv D causal IN OUT. IN holds q, k, v, qs, ks and
 * vs one after the other. */
#include "attention.h"
#include <stdlib.h>

static CUdeviceptr copied(FILE *in, size_t bytes)
{
	CUdeviceptr at;
	void *host = malloc(bytes);
	if (fread(host, 1, bytes, in) != bytes || cuMemAlloc(&at, bytes) || cuMemcpyHtoD(at, host, bytes))
		exit(2);
	free(host);
	return at;
}

int main(int argc, char **argv)
{
	CUdevice device;
	CUcontext context;
	attest_attention a;
	attest_problem p = {.output = "f16"};
	attest_tensors t = {0};
	if (argc != 10 || cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
		attest_open(&a, device))
		return 2;
	int64_t *sizes[] = {&p.B, &p.H, &p.Hkv, &p.Sq, &p.Skv, &p.D};
	for (int i = 0; i < 6; i++)
		*sizes[i] = atoll(argv[i + 1]);
	p.causal = atoi(argv[7]);
	FILE *in = fopen(argv[8], "rb"), *out = fopen(argv[9], "wb");
	const size_t rows = p.B * p.H * p.Sq * p.D, keys = p.B * p.Hkv * p.Skv * p.D;
	if (!in || !out)
		return 2;
	t.q = copied(in, rows), t.k = copied(in, keys), t.v = copied(in, keys);
	t.qs = copied(in, 4 * p.H), t.ks = copied(in, 4 * p.Hkv), t.vs = copied(in, 4 * p.Hkv);
	const size_t workspace = attest_workspace(&a, &p);
	if (cuMemAlloc(&t.o, 2 * rows) || (workspace && cuMemAlloc(&t.workspace, workspace)))
		return 2;
	for (int i = 0; i < 3; i++) /* the workspace is used again */
		if (attest_run(&a, &p, &t, NULL)) {
			puts(a.error);
			return 1;
		}
	void *o = malloc(2 * rows);
	if (cuMemcpyDtoH(o, t.o, 2 * rows) || fwrite(o, 1, 2 * rows, out) != 2 * rows || fclose(out))
		return 2;
	attest_close(&a);
	return 0;
}
