"""Times and records FlashAttention-3's e4m3 kernels on a machine with a GPU:  python3 record_fa3.py OUT

It uses what attest rival fa3 --build has built ($ATTEST_FA3, or the user's cache). OUT/fa3.tar.xz gets, for each
problem, the time of one launch (the median over replays of a CUDA graph of many launches, with warm caches) and the
launch as the driver saw it: the kernel, its grid, the bytes of its parameters, its tensor maps, and the memory that
pointers may point to; and the PTX that the library embeds. fa3_launches.py makes launch files of it. The PTX is
FlashAttention-3's, so neither it nor the launch files are part of attest.
"""
import ctypes, glob, json, os, statistics, subprocess, sys, tarfile, tempfile, time

PROBLEMS = [  # batches, heads, tokens, head dimension
    (1, 8, 512, 64), (1, 8, 2048, 64), (2, 16, 1024, 64), (4, 16, 1024, 64),
    (1, 8, 512, 128), (1, 8, 1024, 128), (1, 8, 2048, 128), (2, 16, 1024, 128), (2, 16, 2048, 128), (4, 16, 4096, 128),
    (1, 8, 1024, 256), (1, 8, 2048, 256), (4, 8, 4096, 256),
]

# The runtime hands out the driver's function that encodes tensor maps. The library below hands out one that also
# writes its arguments and its result.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*encode_t)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int, int, int, int);
static encode_t encode;

static void list64(FILE *f, const char *name, const uint64_t *v, uint32_t n) {
    fprintf(f, "\"%s\": [", name);
    for (uint32_t i = 0; i < n; i++) fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)v[i]);
    fprintf(f, "], ");
}

static void list32(FILE *f, const char *name, const uint32_t *v, uint32_t n) {
    fprintf(f, "\"%s\": [", name);
    for (uint32_t i = 0; i < n; i++) fprintf(f, "%s%u", i ? ", " : "", v[i]);
    fprintf(f, "], ");
}

static int recorded(void *map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides,
                    const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
    int rc = encode(map, type, rank, address, dims, strides, box, steps, interleave, swizzle, promotion, fill);
    FILE *f = fopen(getenv("RECORDED_MAPS"), "a");
    if (rc == 0 && f) {
        fprintf(f, "{\"type\": %d, \"address\": %llu, \"interleave\": %d, \"swizzle\": %d, \"fill\": %d, ", type,
                (unsigned long long)(uintptr_t)address, interleave, swizzle, fill);
        list64(f, "dims", dims, rank);
        list64(f, "strides", strides, rank - 1);
        list32(f, "box", box, rank);
        list32(f, "steps", steps, rank);
        fprintf(f, "\"bytes\": \"");
        for (int i = 0; i < 128; i++) fprintf(f, "%02x", ((unsigned char *)map)[i]);
        fprintf(f, "\"}\n");
    }
    if (f) fclose(f);
    return rc;
}

static void replace(const char *name, void **function) {
    if (function && *function && strcmp(name, "cuTensorMapEncodeTiled") == 0 && *function != (void *)recorded) {
        encode = (encode_t)*function;
        *function = (void *)recorded;
    }
}

int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned long long flags, int *status) {
    int (*real)(const char *, void **, unsigned, unsigned long long, int *) = dlsym(RTLD_NEXT, "cudaGetDriverEntryPointByVersion");
    int rc = real(name, function, version, flags, status);
    if (rc == 0) replace(name, function);
    return rc;
}

int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status) {
    int (*real)(const char *, void **, unsigned long long, int *) = dlsym(RTLD_NEXT, "cudaGetDriverEntryPoint");
    int rc = real(name, function, flags, status);
    if (rc == 0) replace(name, function);
    return rc;
}
"""


def library():
    """The folder of FlashAttention-3."""
    return os.environ.get("ATTEST_FA3") or os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "attest", "fa3")


def start_again(out):
    """Starts this script again with the library that records tensor maps."""
    work = tempfile.mkdtemp()
    source, shim = os.path.join(work, "shim.c"), os.path.join(work, "shim.so")
    with open(source, "w") as f:
        f.write(SHIM)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    env = dict(os.environ, LD_PRELOAD=shim, RECORDED_MAPS=os.path.join(work, "maps.jsonl"))
    env["PYTHONPATH"] = library() + os.pathsep + env.get("PYTHONPATH", "")
    sys.exit(subprocess.run([sys.executable, os.path.abspath(__file__), out], env=env).returncode)


class KernelNode(ctypes.Structure):  # CUDA_KERNEL_NODE_PARAMS_v2
    _fields_ = [("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("params", ctypes.POINTER(ctypes.c_void_p)), ("extra", ctypes.c_void_p), ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


class Driver:
    """What the driver tells about the kernels of a graph."""

    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *args):
        code = getattr(self.cu, name)(*args)
        if code:
            raise RuntimeError("%s: CUDA driver error %d" % (name, code))

    def kernels(self, graph):
        graph, count = ctypes.c_void_p(graph), ctypes.c_size_t()
        self.call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        nodes = (ctypes.c_void_p * count.value)()
        self.call("cuGraphGetNodes", graph, nodes, ctypes.byref(count))
        for node in nodes:
            node, kind = ctypes.c_void_p(node), ctypes.c_int()
            self.call("cuGraphNodeGetType", node, ctypes.byref(kind))
            if kind.value == 0:
                yield self.kernel(node)

    def kernel(self, node):
        p = KernelNode()
        self.call("cuGraphKernelNodeGetParams_v2", node, ctypes.byref(p))
        what, handle = ("cuFunc", p.function) if p.function else ("cuKernel", p.kernel)
        name, params = ctypes.c_char_p(), []
        self.call(what + "GetName", ctypes.byref(name), ctypes.c_void_p(handle))
        while True:
            offset, size = ctypes.c_size_t(), ctypes.c_size_t()
            if getattr(self.cu, what + "GetParamInfo")(ctypes.c_void_p(handle), ctypes.c_size_t(len(params)), ctypes.byref(offset), ctypes.byref(size)):
                break
            params.append(ctypes.string_at(p.params[len(params)], size.value).hex())
        registers = ctypes.c_int()
        if p.function:
            self.call("cuFuncGetAttribute", ctypes.byref(registers), 4, ctypes.c_void_p(p.function))
        return {"name": name.value.decode(), "grid": list(p.grid), "block": list(p.block), "shared": p.shared, "registers": registers.value, "params": params}


def allocations():
    """The blocks of memory that PyTorch holds, as [address, bytes]."""
    import torch
    return [[b["address"], b["size"]] for s in torch.cuda.memory_snapshot() for b in s["blocks"]]


def graph_of(run, n):
    import torch
    g = torch.cuda.CUDAGraph(keep_graph=True)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()
        torch.cuda.synchronize()
        with torch.cuda.graph(g, stream=stream):
            for _ in range(n):
                run()
    g.instantiate()
    return g


def micros(run):
    """The time of one launch in microseconds: the median, and nearly the least and the most."""
    import torch
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(3):
        run()
    a.record()
    for _ in range(20):
        run()
    b.record()
    torch.cuda.synchronize()
    n = max(4, min(400, int(4000 / max(a.elapsed_time(b) * 50, 1))))
    g = graph_of(run, n)
    began = time.time()
    while time.time() - began < 0.3:
        g.replay()
        torch.cuda.synchronize()
    times = []
    for _ in range(21):
        a.record()
        g.replay()
        b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b) * 1000 / n)
    times.sort()
    return statistics.median(times), times[2], times[-3]


def record(problem):
    import torch, flash_attn_interface
    b, h, s, d = problem
    q, k, v = (torch.randn(b, s, h, d, device="cuda").to(torch.float8_e4m3fn) for _ in range(3))
    kept = []

    def run():
        kept.append(flash_attn_interface.flash_attn_func(q, k, v))
        del kept[:-4]

    us, low, high = micros(run)
    open(os.environ["RECORDED_MAPS"], "w").close()
    g = graph_of(run, 1)
    kernels = list(Driver().kernels(g.raw_cuda_graph()))
    with open(os.environ["RECORDED_MAPS"]) as f:
        maps = [json.loads(line) for line in f]
    return {"problem": problem, "us": us, "p10": low, "p90": high, "kernels": kernels, "maps": maps, "allocations": allocations()}


def embedded(work):
    """Writes the PTX of the library to a folder."""
    subprocess.run(["cuobjdump", "-xptx", "all", os.path.join(library(), "flash_attn_3", "kernels.so")], cwd=work, check=True, stdout=subprocess.DEVNULL)
    return sorted(glob.glob(os.path.join(work, "*.ptx")))


def main():
    out = os.path.abspath(sys.argv[1])
    os.makedirs(out, exist_ok=True)
    if "RECORDED_MAPS" not in os.environ:
        start_again(out)
    import torch, flash_attn_interface
    index = {"device": torch.cuda.get_device_name(), "version": getattr(flash_attn_interface, "__version__", "?"), "launches": [], "failed": []}
    for p in PROBLEMS:
        try:
            index["launches"].append(record(p))
            print(p, "%.2f µs" % index["launches"][-1]["us"], [k["name"][:60] for k in index["launches"][-1]["kernels"]], len(index["launches"][-1]["maps"]), flush=True)
        except Exception as e:
            index["failed"].append([p, "%s: %s" % (type(e).__name__, e)])
            print(p, index["failed"][-1][1], flush=True)
    work = tempfile.mkdtemp()
    try:
        files = embedded(work)
    except Exception as e:
        files = []
        index["failed"].append(["ptx", str(e)])
    with open(os.path.join(work, "index.json"), "w") as f:
        json.dump(index, f)
    with tarfile.open(os.path.join(out, "fa3.tar.xz"), "w:xz", preset=3) as t:
        for path in [os.path.join(work, "index.json")] + files:
            t.add(path, os.path.basename(path))
    print(len(index["launches"]), "launches,", len(index["failed"]), "failures,", len(files), "PTX files")


main()
