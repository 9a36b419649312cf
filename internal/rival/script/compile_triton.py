"""Compiles attention kernels in Triton ahead. The compiler keeps them in its cache on the disk.

Started by serve.py as: python compile_triton.py JOBS WORKER WORKERS
JOBS is JSON: the "dtype", the "kernels" of self-attention as [head dimension, causal, query heads per
head of K], and the cases of "decode" as [extents of Q, extents of K, causal]. Each of several workers
compiles its share.
"""

import json
import sys

import torch

import decode_triton
import fused_triton
from on_torch import DTYPES
from on_triton import CONFIGS, DECODE_CONFIGS

LENGTH = 256  # all configurations divide it


def compile_one(dtype, d, causal, group, config):
    """Launch a kernel on a small problem. The text does not depend on the sizes."""
    eight_bits = dtype.itemsize == 1
    q, k, v, o = operands(dtype, (1, group, LENGTH, d), (1, 1, LENGTH, d))
    if eight_bits:
        v = v.transpose(2, 3).contiguous()
    kind = "descriptors" if fused_triton.has_descriptors() else "pointers"
    fused_triton.bind(kind, q, k, v, o, 0.125, config, eight_bits, causal)()


def compile_decode(dtype, q, k, causal, config):
    """Launch the kernels on the problem itself: the compiler looks at the sizes."""
    q, k, v, o = operands(dtype, q, k)
    decode_triton.bind(q, k, v, o, 0.125, config, causal)()


def operands(dtype, q, k):
    """Q, K, V and O."""
    new = lambda shape: torch.zeros(tuple(shape), device="cuda").to(dtype)
    return new(q), new(k), new(k), torch.empty(tuple(q), dtype=torch.bfloat16 if dtype == torch.bfloat16 else torch.float16, device="cuda")


def main():
    jobs, worker, workers = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    dtype = DTYPES[jobs["dtype"]]
    everything = [(compile_one, *kernel, config) for kernel in jobs["kernels"] for config in CONFIGS]
    decode = [(compile_decode, *case, config) for case in jobs["decode"][worker::workers] for config in DECODE_CONFIGS]
    for work, *arguments in everything[worker::workers] + decode:
        try:
            work(dtype, *arguments)
        except Exception as e:  # it fails again when it is to be timed, and is left out there
            print(f"{arguments}: {type(e).__name__}", file=sys.stderr)


main()
