"""Triton kernels as programs have them: masks, a reduction, tensor cores, tensor descriptors, atomics,
and a function that torch.compile compiles."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

torch.manual_seed(1)


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + i, v / tl.sum(v, 0), mask=i < n)


@triton.jit
def product(a, b, c, k, A: tl.constexpr, B: tl.constexpr, K: tl.constexpr):
    rows, columns = tl.arange(0, A), tl.arange(0, B)
    total = tl.zeros((A, B), dtype=tl.float32)
    for at in range(0, k, K):
        ks = at + tl.arange(0, K)
        total += tl.dot(tl.load(a + rows[:, None] * k + ks[None, :]), tl.load(b + ks[:, None] * B + columns[None, :]))
    tl.store(c + rows[:, None] * B + columns[None, :], total.to(tl.float16))


@triton.jit
def described(a, b, c, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * ROWS
    total = tl.dot(a.load([at, 0]), b.load([0, 0]).T)
    c.store([at, 0], total.to(tl.float16))


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


cuda = dict(device="cuda")
x = torch.randn(5, 300, **cuda)
softmax[(5,)](x, torch.empty_like(x), 300, BLOCK=512)

a, b = torch.randn(64, 96, **cuda).half(), torch.randn(96, 32, **cuda).half()
product[(1,)](a, b, torch.empty(64, 32, **cuda).half(), 96, A=64, B=32, K=32)

a, b, c = torch.randn(256, 64, **cuda).half(), torch.randn(64, 64, **cuda).half(), torch.empty(256, 64, **cuda).half()
described[(2,)](TensorDescriptor.from_tensor(a, [128, 64]), TensorDescriptor.from_tensor(b, [64, 64]),
                TensorDescriptor.from_tensor(c, [128, 64]), ROWS=128, COLUMNS=64)

bins = torch.zeros(16, dtype=torch.int32, **cuda)
histogram[(3,)](torch.randint(0, 16, (700,), dtype=torch.int32, **cuda), bins, 700, BLOCK=256)


@torch.compile
def gelu(x, w):
    return (torch.nn.functional.gelu(x) * w).sum(1)


gelu(torch.randn(40, 64, **cuda), torch.randn(64, **cuda))
torch.cuda.synchronize()
print("done")
