"""Compiles the FP8 attention kernel of internal/rival/script/fused_triton.py for sm_89:  python3 compile.py OUT

It needs triton and its ptxas, but no GPU of that kind. For each configuration it writes the PTX and a line
of OUT/index.json with the launch: the entry, threads, dynamic shared memory, registers and spills.
"""
import json, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.environ.get("RIVAL_SCRIPTS", os.path.join(HERE, "../../../rival/script")))

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import fused_triton

TARGET = GPUTarget("cuda", 89, 32)
# Rows of a block, keys of a step, warps, stages: those that on_triton.py tries.
CONFIGS = [(64, 64, 4, 3), (128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2), (128, 128, 8, 3), (64, 32, 4, 3), (32, 32, 4, 2)]
TYPES = {"e4m3": "*fp8e4nv", "f16": "*fp16"}


def compile_one(kind, d, config):
    rows, keys, warps, stages = config
    fn = fused_triton.with_pointers
    signature = {"q": TYPES[kind], "k": TYPES[kind], "v": TYPES[kind], "o": "*fp16", "scale": "fp32", "queries": "i32", "keys": "i32"}
    attrs = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(signature) if name != "scale"}
    constants = {"D": d, "BM": rows, "BN": keys, "GROUP": 1, "TURNED": kind == "e4m3", "CAUSAL": False}
    signature.update({name: "constexpr" for name in constants})
    src = ASTSource(fn=fn, signature=signature, constexprs=constants, attrs=attrs)
    return triton.compile(src, target=TARGET, options={"num_warps": warps, "num_stages": stages})


def ptxas():
    try:
        from triton import knobs
        return knobs.nvidia.ptxas.path
    except Exception:
        return "ptxas"


def resources(path):
    """The report of ptxas -v: registers and spills."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([ptxas(), "-v", "-arch=sm_89", path, "-o", os.path.join(work, "x.cubin")], capture_output=True, text=True)
    text = done.stdout + done.stderr
    found = lambda pattern: int((re.search(pattern, text) or [0, -1])[1])
    return {"registers": found(r"Used (\d+) registers"), "spill_stores": found(r"(\d+) bytes spill stores"), "ptxas": text.strip().splitlines()[-3:]}


def main(out):
    os.makedirs(out, exist_ok=True)
    index = []
    for kind, d in [("e4m3", 64), ("e4m3", 128), ("f16", 64), ("f16", 128)]:
        for config in CONFIGS:
            name = "triton_%s_d%d_bm%d_bn%d_w%d_st%d" % (kind, d, *config)
            try:
                k = compile_one(kind, d, config)
            except Exception as e:
                index.append({"name": name, "error": "%s: %s" % (type(e).__name__, str(e)[:500])})
                continue
            path = os.path.join(out, name + ".ptx")
            with open(path, "w") as f:
                f.write(k.asm["ptx"])
            meta = k.metadata
            index.append({"name": name, "triton": triton.__version__, "entry": meta.name, "threads": meta.num_warps * 32, "shared": meta.shared,
                          "scratch": getattr(meta, "global_scratch_size", 0) or 0, **resources(path)})
    with open(os.path.join(out, "index.json"), "w") as f:
        json.dump(index, f, indent=1)
    print(json.dumps([{k: v for k, v in x.items() if k != "ptxas"} for x in index]))


main(sys.argv[1])
