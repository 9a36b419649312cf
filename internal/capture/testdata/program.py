"""Launches a kernel that computes y = a·x + y, as Triton does, and checks that it ran."""

import ctypes
import os
import struct
import sys
import types

import torch
from triton.compiler.compiler import CompiledKernel

here = os.path.dirname(os.path.abspath(__file__))
n = 64


def floats(t, count):
    return (ctypes.c_float * count).from_address(t.data_ptr())


def launch(x, y, z, stream, function, packed, metadata, enter, leave, xs, ys, a, count, block):
    f, g = floats(xs, count), floats(ys, count)
    for i in range(count):
        g[i] += a * f[i]


def launched_by(kernel, *args):
    kernel.run(2, 1, 1, 0, None, None, None, None, None, *args)


signature = {"x": "*fp32", "y": "*fp32", "a": "fp32", "n": "i32", "BLOCK": "constexpr"}
meta = dict(name="saxpy", num_warps=1, num_ctas=1, shared=0, global_scratch_size=0, profile_scratch_size=0)
with open(os.path.join(here, "saxpy.ptx")) as f:
    kernel = CompiledKernel(f.read(), types.SimpleNamespace(**meta), signature, launch)

# x and y lie in one storage, as views do.
both = torch.Storage(struct.pack("<%df" % (2 * n), *([float(i) for i in range(n)] + [1.0] * n)))
x, y = torch.Tensor(both), torch.Tensor(both, 4 * n)
for turn in range(3):
    launched_by(kernel, x, y, 2.0, n, 128)
if list(floats(y, n))[3] != 19.0:
    sys.exit("the kernel did not run three times")

if "raw" in sys.argv:
    real = types.SimpleNamespace(**dict(meta, name="raw"))
    launched = []
    other = CompiledKernel(kernel.asm["ptx"].replace("saxpy", "raw"), real, signature, lambda *a: launched.append(a))
    launched_by(other, 4096, y, 2.0, n, 128)
    torch.cuda.capturing = True
    launched_by(CompiledKernel(kernel.asm["ptx"].replace("saxpy", "graph"), types.SimpleNamespace(**dict(meta, name="graph")),
                               signature, lambda *a: launched.append(a)), x, y, 2.0, n, 128)
    if len(launched) != 2:
        sys.exit("a launch that is not recorded did not run")
if "fail" in sys.argv:
    sys.exit(7)
print("done")
