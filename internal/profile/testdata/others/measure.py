"""Times kernels that Triton and nvcc compile, on a machine with a GPU:  python3 measure.py OUT

For each kernel and shape it keeps the PTX, a launch file of attest (buffers are zeros, because no
kernel here branches on its data) and the time of one launch in microseconds: the median over
replays of a CUDA graph of many launches, with warm caches. OUT/others.tar.gz holds everything.
"""
import ctypes, io, json, multiprocessing, os, re, statistics, subprocess, sys, tarfile, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
BEGAN = time.time()
LIMIT = 52  # seconds after which no further pair is started

# name, kind, arguments
CASES = [
    ("attn-ptr", "f16", dict(h=8, s=512, d=64, bm=64, bn=64, w=4, st=3)),
    ("attn-ptr", "e4m3", dict(h=8, s=512, d=64, bm=64, bn=64, w=4, st=3)),
    ("attn-desc", "f16", dict(h=8, s=1024, d=64, bm=128, bn=64, w=4, st=3)),
    ("attn-desc", "e4m3", dict(h=16, s=1024, d=64, bm=128, bn=64, w=4, st=3)),
    ("matmul", "f16", dict(m=512, n=512, k=512, bm=64, bn=64, bk=64, w=4, st=3)),
    ("matmul", "f16", dict(m=1024, n=1024, k=1024, bm=128, bn=64, bk=64, w=4, st=3)),
    ("matmul", "e4m3", dict(m=1024, n=1024, k=1024, bm=128, bn=64, bk=64, w=4, st=3)),
    ("matmul-desc", "f16", dict(m=2048, n=2048, k=1024, bm=128, bn=128, bk=64, w=8, st=3)),
    ("matmul-desc", "e4m3", dict(m=2048, n=2048, k=1024, bm=128, bn=128, bk=64, w=8, st=3)),
    ("softmax", "f32", dict(rows=1024, cols=2048, w=4)),
    ("attn-ptr", "f16", dict(h=16, s=1024, d=128, bm=128, bn=64, w=8, st=2)),
    ("attn-desc", "f16", dict(h=8, s=1024, d=64, bm=128, bn=64, w=8, st=2)),
    ("attn-desc", "f16", dict(h=8, s=1024, d=64, bm=64, bn=64, w=4, st=2)),
    ("matmul", "f16", dict(m=1024, n=1024, k=1024, bm=64, bn=64, bk=32, w=4, st=2)),
    ("matmul", "f16", dict(m=1024, n=1024, k=1024, bm=128, bn=128, bk=64, w=8, st=3)),
    ("layernorm", "f32", dict(rows=2048, cols=1024, w=4)),
]
# entry, block, grid, parameters (a number is bytes of a buffer, ("u32", n) a value), dynamic shared memory
NVCC = [
    ("sgemm_tiled", (16, 16), (32, 32), [512*512*4]*3 + [("u32", 512)], 0),
    ("sgemm_registers", (256,), (8, 8), [512*512*4]*3 + [("u32", 512)], 0),
    ("sgemm_registers", (256,), (16, 16), [1024*1024*4]*3 + [("u32", 1024)], 0),
    ("hgemm_wmma", (128,), (16, 16), [1024*1024*2]*2 + [1024*1024*4, ("u32", 1024)], 0),
    ("softmax_warp", (128,), (512,), [2048*1024*4]*2 + [("u32", 1024)], 0),
    ("attention_f32", (128,), (4, 8), [8*512*64*4]*4 + [("u32", 512)], 0),
    ("transpose_conflicts", (32, 8), (32, 32), [1024*1024*4]*2 + [("u32", 1024)], 0),
    ("transpose_padded", (32, 8), (32, 32), [1024*1024*4]*2 + [("u32", 1024)], 0),
    ("reduce_serial", (256,), (132,), [132*256*4*16, 132*4, ("u32", 16)], 0),
    ("reduce_tree", (256,), (132,), [132*256*4*16, 132*4, ("u32", 16)], 0),
]


def triton_kernels():
    import triton, triton.language as tl
    import others_kernels
    return others_kernels


def prepare(case):
    """Returns a function that launches the kernel of a Triton case, its arguments by name, and the grid."""
    import torch
    K = triton_kernels()
    name, kind, c = case
    dtype = {"f16": torch.float16, "e4m3": torch.float8_e4m3fn, "f32": torch.float32}[kind]
    def rand(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)
    opt = dict(num_warps=c["w"])
    if "st" in c:
        opt["num_stages"] = c["st"]
    if name in ("attn-ptr", "attn-desc"):
        h, s, d = c["h"], c["s"], c["d"]
        q, k = rand(h*s, d), rand(h*s, d)
        turned = kind == "e4m3"  # products of 8-bit factors need V with its keys innermost
        v = rand(h*d, s) if turned else rand(h*s, d)
        o = torch.empty(h*s, d, device="cuda", dtype=torch.float16)
        grid = (s // c["bm"], h)
        const = dict(D=d, BM=c["bm"], BN=c["bn"], TURNED=turned)
        if name == "attn-ptr":
            args = dict(q=q, k=k, v=v, o=o, scale=0.18, S=s, **const)
            f = K.attn_ptr
        else:
            D = K.TensorDescriptor.from_tensor
            args = dict(q_map=D(q, [c["bm"], d]), k_map=D(k, [c["bn"], d]), v_map=D(v, [d, c["bn"]] if turned else [c["bn"], d]), o=o, scale=0.18, S=s, **const)
            f = K.attn_desc
    elif name in ("matmul", "matmul-desc"):
        m, n, k = c["m"], c["n"], c["k"]
        a, b = rand(m, k), rand(n, k)  # b is transposed: both factors have k innermost
        o = torch.empty(m, n, device="cuda", dtype=torch.float16)
        grid = (m // c["bm"], n // c["bn"])
        const = dict(BM=c["bm"], BN=c["bn"], BK=c["bk"])
        if name == "matmul":
            args = dict(a=a, b=b, c=o, M=m, N=n, K=k, **const)
            f = K.matmul
        else:
            D = K.TensorDescriptor.from_tensor
            args = dict(a_map=D(a, [c["bm"], c["bk"]]), b_map=D(b, [c["bn"], c["bk"]]), c=o, M=m, N=n, K=k, **const)
            f = K.matmul_desc
    else:
        x = rand(c["rows"], c["cols"])
        o = torch.empty_like(x)
        grid = (c["rows"],)
        args = dict(x=x, o=o, n=c["cols"], B=c["cols"])
        f = K.softmax if name == "softmax" else K.layernorm
    return (lambda: f[grid](**args, **opt)), args, grid


def compile_only(case):
    try:
        run, _, _ = prepare(case)
        run()
        return None
    except Exception as e:
        return "%s: %s" % (type(e).__name__, str(e)[:300])


FORMATS = {"i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64", "fp32": "f32", "f32": "f32"}
TENSOR_TYPES = {"torch.float16": "f16", "torch.float32": "f32"}
SWIZZLES = ["none", "32B", "64B", "128B"]


def nbytes(t):
    return t.numel() * t.element_size()


def params_of(k, args, blocks):
    """The parameters of a Triton kernel in the form of a launch file."""
    meta, text = k.metadata, k.asm["ptx"]
    head = re.search(r"\.entry\s+" + re.escape(meta.name) + r"\s*\(([^)]*)\)", text).group(1)
    declared = len([one for one in head.split(",") if one.strip()])
    maps = iter(getattr(meta, "tensordesc_meta", None) or [])
    params = []
    for name, kind in k.src.signature.items():
        value = args.get(name) if isinstance(name, str) else list(args.values())[name[0] if isinstance(name, tuple) else name]
        if kind == "constexpr":
            continue
        if str(kind).startswith("tensordesc"):
            m, t = next(maps), value.base
            size = t.element_size()
            params.append({"tensormap": {
                "type": TENSOR_TYPES.get(str(t.dtype), "u8"), "buffer": {"zeros": nbytes(t)},
                "dims": [int(x) for x in reversed(value.shape)], "strides": [int(x)*size for x in reversed(value.strides[:-1])],
                "box": [int(x) for x in reversed(m["block_size"])], "swizzle": SWIZZLES[m["swizzle"]]}})
            params += [{"i32": int(x)} for x in value.shape] + [{"i64": int(x)} for x in value.strides]
        elif kind.startswith("*"):
            params.append({"zeros": nbytes(value)})
        else:
            params.append({FORMATS[kind]: value})
    for field in ("global_scratch_size", "profile_scratch_size"):
        if len(params) < declared:
            size = getattr(meta, field, 0) or 0
            params.append({"zeros": size * blocks} if size else {"u64": 0})
    if len(params) != declared:
        raise ValueError("%d parameters are declared, %d are known" % (declared, len(params)))
    return params


def time_graph(run):
    """The time of one launch in microseconds, by a graph of many."""
    import torch
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    for _ in range(20):
        run()
    b.record(); torch.cuda.synchronize()
    n = max(20, min(400, int(4000 / max(a.elapsed_time(b) * 50, 1))))
    stream = torch.cuda.Stream()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        run(); torch.cuda.synchronize()
        with torch.cuda.graph(g, stream=stream):
            for _ in range(n):
                run()
    for _ in range(5):
        g.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(21):
        a.record(); g.replay(); b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b) * 1000 / n)
    times.sort()
    return statistics.median(times), times[2], times[-3], n


def triton_pair(case):
    run, args, grid = prepare(case)
    k = run()
    meta = k.metadata
    g = list(grid) + [1] * (3 - len(grid))
    threads = re.search(r"\.reqntid\s+(\d+)", k.asm["ptx"])
    launch = {"entry": meta.name, "grid": g, "block": [int(threads.group(1)) if threads else meta.num_warps * 32], "shared": meta.shared,
              "params": params_of(k, args, g[0]*g[1]*g[2])}
    us = time_graph(run)
    return k.asm["ptx"], launch, us, getattr(k, "n_regs", None), getattr(k, "n_spills", None)


class Driver:
    def __init__(self, ptx):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.module = ctypes.c_void_p()
        self.check(self.cu.cuModuleLoadData(ctypes.byref(self.module), ctypes.c_char_p(ptx.encode() + b"\0")))

    def check(self, code):
        if code:
            raise RuntimeError("CUDA driver error %d" % code)

    def function(self, name):
        f = ctypes.c_void_p()
        self.check(self.cu.cuModuleGetFunction(ctypes.byref(f), self.module, name.encode()))
        return f

    def launch(self, f, grid, block, shared, values):
        import torch
        g, b = list(grid) + [1]*(3-len(grid)), list(block) + [1]*(3-len(block))
        p = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.cu.cuLaunchKernel(f, *g, *b, shared, stream, p, None))

    def attribute(self, f, which):
        n = ctypes.c_int()
        self.check(self.cu.cuFuncGetAttribute(ctypes.byref(n), which, f))
        return n.value


def nvcc_pair(driver, case):
    import torch
    entry, block, grid, params, shared = case
    f = driver.function(entry)
    keep, values, described = [], [], []
    for p in params:
        if isinstance(p, tuple):
            values.append(ctypes.c_uint32(p[1])); described.append({p[0]: p[1]})
        else:
            t = torch.rand(p // 4, device="cuda") if not entry.startswith("hgemm") else torch.rand(p // 2, device="cuda").half()
            keep.append(t); values.append(ctypes.c_uint64(t.data_ptr())); described.append({"zeros": p})
    us = time_graph(lambda: driver.launch(f, grid, block, shared, values))
    launch = {"entry": entry, "grid": list(grid), "block": list(block), "shared": shared, "params": described}
    return launch, us, driver.attribute(f, 4)


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    files, pairs, failed = {}, [], []
    # Compile in other processes first: Triton keeps the results in its cache.
    pool = multiprocessing.get_context("spawn").Pool(8)
    compiling = [(c, pool.apply_async(compile_only, (c,))) for c in CASES]
    import torch
    work = tempfile.mkdtemp()
    ptx = os.path.join(work, "others.ptx")
    try:
        subprocess.run(["nvcc", "-arch=sm_90a", "-O3", "-lineinfo", "-ptx", os.path.join(HERE, "others.cu"), "-o", ptx], check=True, capture_output=True, text=True, timeout=40)
        nvcc_text = open(ptx).read()
    except Exception as e:
        nvcc_text = None
        failed.append(["nvcc", str(e)[:300] + str(getattr(e, "stderr", ""))[:600]])
    for c, r in compiling:
        try:
            why = r.get(timeout=max(1, 38 - (time.time() - BEGAN)))
        except Exception as e:
            why = type(e).__name__
        if why:
            failed.append([str(c), "compile: " + why])
    pool.terminate()

    def add(name, source, text, launch, us, registers=None, spills=None):
        base = "%02d-%s" % (len(pairs), re.sub(r"[^a-z0-9-]", "_", name.lower()))
        ptx_name = next((n for n, t in files.items() if n.endswith(".ptx") and t == text.encode()), base + ".ptx")
        files[ptx_name] = text.encode()
        files[base + ".json"] = (json.dumps(launch, indent=1) + "\n").encode()
        pairs.append({"name": name, "source": source, "ptx": ptx_name, "launch": base + ".json", "us": round(us[0], 4),
                      "p10": round(us[1], 4), "p90": round(us[2], 4), "launches": us[3], "registers": registers, "spills": spills})
        print("%-60s %9.3f us" % (name, us[0]), flush=True)

    def title(case):
        return "%s %s %s" % (case[0], case[1], " ".join("%s%s" % x for x in case[2].items()))

    if nvcc_text:
        driver = None
        try:
            torch.cuda.init(); torch.zeros(1, device="cuda")
            driver = Driver(nvcc_text)
        except Exception as e:
            failed.append(["load", str(e)])
        for case in NVCC if driver else []:
            try:
                launch, us, regs = nvcc_pair(driver, case)
                add("%s %s" % (case[0], "x".join(map(str, case[2]))), "others.cu", nvcc_text, launch, us, regs)
            except Exception as e:
                failed.append([case[0], str(e)[:300]])
    for case in CASES:
        if time.time() - BEGAN > LIMIT:
            failed.append([title(case), "no time left"])
            continue
        try:
            text, launch, us, regs, spills = triton_pair(case)
            add("triton " + title(case), "others_kernels.py", text, launch, us, regs, spills)
        except Exception as e:
            failed.append([title(case), "%s: %s" % (type(e).__name__, str(e)[:300])])
    try:
        import triton
        versions = {"triton": triton.__version__, "torch": torch.__version__}
    except Exception:
        versions = {}
    try:
        versions["nvcc"] = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-2]
        versions["gpu"] = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,clocks.sm", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    except Exception:
        pass
    index = {"device": torch.cuda.get_device_name(), "versions": versions, "pairs": pairs, "failed": failed}
    files["index.json"] = (json.dumps(index, indent=1) + "\n").encode()
    with tarfile.open(os.path.join(out, "others.tar.gz"), "w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo("others/" + name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    for f in failed:
        print("failed:", *f, flush=True)
    print("%d pairs, %d failed, %.0f s" % (len(pairs), len(failed), time.time() - BEGAN))


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    main()
