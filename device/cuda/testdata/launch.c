// Prints the cost of a launch in a C program, in nanoseconds: the median over batches of
// launches of an empty kernel. TestLaunchOverhead does the same in Go.
//
//	cc -O2 -o launch launch.c -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batches = 220, warm = 20, launches = 256 };

static const char text[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry empty(.param .u64 p, .param .u64 q, .param .f32 a, .param .u32 n)\n{\n\tret;\n}\n";

// CUlaunchConfig
struct launch_config {
	unsigned grid[3], block[3], shared;
	void *stream, *attrs;
	unsigned num_attrs;
};

static void *lib;

static void *entry(const char *name) {
	void *f = dlsym(lib, name);
	if (!f) {
		fprintf(stderr, "libcuda has no %s\n", name);
		exit(1);
	}
	return f;
}

static void check(const char *what, int r) {
	if (r) {
		fprintf(stderr, "%s: %d\n", what, r);
		exit(1);
	}
}

static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(void) {
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	void *ctx, *mod, *fn, *stream;
	int dev;
	check("cuInit", ((int (*)(unsigned))entry("cuInit"))(0));
	check("cuDeviceGet", ((int (*)(int *, int))entry("cuDeviceGet"))(&dev, 0));
	check("cuDevicePrimaryCtxRetain", ((int (*)(void **, int))entry("cuDevicePrimaryCtxRetain"))(&ctx, dev));
	check("cuCtxSetCurrent", ((int (*)(void *))entry("cuCtxSetCurrent"))(ctx));
	check("cuModuleLoadData", ((int (*)(void **, const void *))entry("cuModuleLoadData"))(&mod, text));
	check("cuModuleGetFunction", ((int (*)(void **, void *, const char *))entry("cuModuleGetFunction"))(&fn, mod, "empty"));
	check("cuStreamCreate", ((int (*)(void **, unsigned))entry("cuStreamCreate"))(&stream, 0));
	int (*launch)(const struct launch_config *, void *, void **, void **) = entry("cuLaunchKernelEx");
	int (*sync)(void *) = entry("cuStreamSynchronize");

	uint64_t p = 0, q = 0;
	float a = 1;
	uint32_t n = 1;
	void *params[] = {&p, &q, &a, &n};
	struct launch_config cfg = {{1, 1, 1}, {32, 1, 1}, 0, stream, 0, 0};
	static double each[batches];
	for (int b = 0; b < batches; b++) {
		double start = now();
		for (int i = 0; i < launches; i++)
			check("cuLaunchKernelEx", launch(&cfg, fn, params, 0));
		each[b] = (now() - start) / launches;
		check("cuStreamSynchronize", sync(stream));
	}
	qsort(each + warm, batches - warm, sizeof *each, compare);
	printf("%.0f\n", each[warm + (batches - warm) / 2]);
	return 0;
}
