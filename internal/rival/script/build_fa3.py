"""Builds FlashAttention-3's forward kernels for e4m3 from its source.

  python build_fa3.py SOURCE CUTLASS OUT

SOURCE is a checkout of flash-attention, CUTLASS a checkout of CUTLASS, OUT a new folder for
the Python package. Only what a comparison needs is built: head dimensions 64, 128 and 256,
causal or not, shared heads, split keys. That takes nvcc about 100 s on 16 cores, where the
whole library takes hours. The library also holds the PTX, for predictions of its time.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import torch
from torch.utils import cpp_extension

HEADS = (64, 128, 256)
KINDS = ("", "_packgqa", "_split")
DISABLED = (
    "BACKWARD PAGEDKV APPENDKV LOCAL SOFTCAP FP16 HDIM96 HDIM192 SM8x HDIMDIFF64 HDIMDIFF192"
).split()
KNOWN = DISABLED + "SPLIT PACKGQA FP8 VARLEN CLUSTER HDIM64 HDIM128 HDIM256".split()

# Its C++ file makes an empty Python module. torch.ops.load_library needs none, and machines
# without Python's headers can build it with these declarations.
PYTHON_H = """#pragma once
typedef struct _object PyObject;
struct PyModuleDef { int base; const char *name, *doc; long size; void *methods; };
#define PyModuleDef_HEAD_INIT 0
inline PyObject *PyModule_Create(PyModuleDef *) { return nullptr; }
"""

# The C++ file refers to the kernels for bf16, which are not built.
BF16_CPP = """#include <cuda_runtime.h>
#include "flash.h"
#include <c10/util/Exception.h>
#include <cutlass/numeric_types.h>
template <int Arch, typename T, int D, int DV, bool Split, bool Paged, bool Softcap, bool Pack>
void run_mha_fwd_(Flash_fwd_params &, cudaStream_t) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "this build of FlashAttention-3 has kernels for e4m3 only");
}
%s
"""


def bf16_source():
    lines = []
    for d in HEADS:
        for split, pack in (("false", "false"), ("false", "true"), ("true", "true")):
            lines.append(
                f"template void run_mha_fwd_<90, cutlass::bfloat16_t, {d}, {d}, {split}, false, false, {pack}>"
                "(Flash_fwd_params &, cudaStream_t);"
            )
    return BF16_CPP % "\n".join(lines)


def commands(hopper, cutlass, work):
    """Returns (name, object, command) for each file to compile."""
    include = [work, hopper, cutlass / "include", *map(Path, cpp_extension.include_paths("cuda"))]
    common = [f"-I{i}" for i in include] + [f"-DFLASHATTENTION_DISABLE_{d}" for d in DISABLED]
    common += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", "-O3", "-std=c++17", "-c"]
    nvcc = [str(Path(cpp_extension.CUDA_HOME) / "bin" / "nvcc"), "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"]
    nvcc += ["--use_fast_math", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-Xcompiler", "-fPIC", "-w"]
    nvcc += ["-DNDEBUG", "-DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED", "-DCUTLASS_ENABLE_GDC_FOR_SM90"]
    nvcc += ["-DCUTLASS_DEBUG_TRACE_LEVEL=0"]
    sources = [hopper / "flash_api.cpp", work / "bf16.cpp"]  # first: mistakes show early
    sources += [hopper / "instantiations" / f"flash_fwd_hdim{d}_e4m3{k}_sm90.cu" for d in reversed(HEADS) for k in KINDS]
    sources += [hopper / "flash_fwd_combine.cu", hopper / "flash_prepare_scheduler.cu"]
    for source in sources:
        obj = work / (source.stem + ".o")
        compiler = nvcc if source.suffix == ".cu" else ["g++", "-fPIC", "-w"]
        yield source.name, obj, [*compiler, *common, str(source), "-o", str(obj)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def compile_all(todo):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        started = {pool.submit(subprocess.run, c, capture_output=True, text=True): name for name, _, c in todo}
        for n, future in enumerate(as_completed(started), 1):
            done = future.result()
            if done.returncode != 0:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"{started[future]} does not compile:\n{done.stdout}{done.stderr}"[-4000:])
            print(f"compiled {n} of {len(started)}: {started[future]}", flush=True)


def link(objects, library):
    home = Path(cpp_extension.CUDA_HOME)
    paths = [*cpp_extension.library_paths("cuda"), home / "lib64", home / "lib64" / "stubs"]
    run(["g++", "-shared", "-o", str(library), *map(str, objects), *(f"-L{p}" for p in paths),
         "-ltorch", "-ltorch_cpu", "-ltorch_cuda", "-lc10", "-lc10_cuda", "-lcudart", "-lcuda"])


def revision(source):
    """That of the checkout; a tree without .git may name it in a file REVISION."""
    if (source / "REVISION").exists():
        return (source / "REVISION").read_text().strip()
    done = subprocess.run(["git", "-C", str(source), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown revision"


def compiler():
    nvcc = Path(cpp_extension.CUDA_HOME) / "bin" / "nvcc"
    lines = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout.splitlines()
    release = [line.split("release ")[1].split(",")[0] for line in lines if "release " in line]
    return release[0] if release else "?"


def package(hopper, source, library, out):
    """Writes the Python package around the shared library."""
    (out / "flash_attn_3").mkdir()
    shutil.move(library, out / "flash_attn_3" / "kernels.so")
    (out / "flash_attn_3" / "__init__.py").write_text("")
    (out / "flash_attn_3" / "_C.py").write_text(
        "import os, torch\ntorch.ops.load_library(os.path.join(os.path.dirname(__file__), 'kernels.so'))\n"
    )
    flags = {f"FLASHATTENTION_DISABLE_{name}": name in DISABLED for name in KNOWN}
    (out / "flash_attn_config.py").write_text(f"CONFIG = {{'build_flags': {flags!r}}}\n")
    version = f"{revision(source)}, nvcc {compiler()}"
    text = (hopper / "flash_attn_interface.py").read_text()
    (out / "flash_attn_interface.py").write_text(f"{text}\n__version__ = {version!r}\n")
    return version


def main():
    source, cutlass, out = map(Path, sys.argv[1:4])
    hopper = source / "hopper"
    for needed in (hopper / "flash_api.cpp", cutlass / "include" / "cutlass" / "cutlass.h"):
        if not needed.exists():
            sys.exit(f"{needed} is not there")
    if cpp_extension.CUDA_HOME is None:
        sys.exit("nvcc is not there: put it on PATH or set CUDA_HOME")
    with tempfile.TemporaryDirectory() as tmp:
        work = Path(tmp)
        (work / "Python.h").write_text(PYTHON_H)
        (work / "bf16.cpp").write_text(bf16_source())
        todo = list(commands(hopper, cutlass, work))
        compile_all(todo)
        print("linking", flush=True)
        link([obj for _, obj, _ in todo], work / "kernels.so")
        print("built FlashAttention-3, " + package(hopper, source, work / "kernels.so", out), flush=True)


main()
