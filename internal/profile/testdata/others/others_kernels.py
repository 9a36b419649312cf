"""Kernels in Triton that predictions are validated with."""
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def step(q, kt, m, l, acc, scale):
    s = tl.dot(q, kt) * scale
    top = tl.maximum(m, tl.max(s, 1))
    p = tl.exp2(s - top[:, None])
    shrink = tl.exp2(m - top)
    return p, top, l * shrink + tl.sum(p, 1), acc * shrink[:, None]


@triton.jit
def attn_ptr(q, k, v, o, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr):
    base = tl.program_id(1) * S * D
    rows, d, tile = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    qt = tl.load(q + base + rows[:, None] * D + d[None, :])
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for n in range(0, S, BN):
        kt = tl.load(k + base + (n + tile)[None, :] * D + d[:, None])
        p, m, l, acc = step(qt, kt, m, l, acc, scale)
        if TURNED:
            vt = tl.load(v + base + d[None, :] * S + (n + tile)[:, None])
        else:
            vt = tl.load(v + base + (n + tile)[:, None] * D + d[None, :])
        acc = tl.dot(p.to(vt.dtype), vt, acc)
    tl.store(o + base + rows[:, None] * D + d[None, :], (acc / l[:, None]).to(tl.float16))


@triton.jit
def attn_desc(q_map, k_map, v_map, o, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr):
    head = tl.program_id(1)
    first = head * S
    row = first + tl.program_id(0) * BM
    qt = q_map.load([row, 0])
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for n in range(0, S, BN):
        kt = k_map.load([first + n, 0])
        p, m, l, acc = step(qt, kt.T, m, l, acc, scale)
        if TURNED:
            vt = v_map.load([head * D, n]).T
        else:
            vt = v_map.load([first + n, 0])
        acc = tl.dot(p.to(vt.dtype), vt, acc)
    to = row + tl.arange(0, BM)
    tl.store(o + to[:, None] * D + tl.arange(0, D)[None, :], (acc / l[:, None]).to(tl.float16))


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    on = tl.program_id(1) * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    ap = a + om[:, None] * K + ok[None, :]
    bp = b + on[None, :] * K + ok[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK
        bp += BK
    tl.store(c + om[:, None] * N + on[None, :], acc.to(tl.float16))


@triton.jit
def matmul_desc(a_map, b_map, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_map.load([pm, k]), b_map.load([pn, k]).T, acc)
    om, on = pm + tl.arange(0, BM), pn + tl.arange(0, BN)
    tl.store(c + om[:, None] * N + on[None, :], acc.to(tl.float16))


@triton.jit
def softmax(x, o, n, B: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, B)
    v = tl.load(x + at)
    e = tl.exp2((v - tl.max(v, 0)) * 1.4426950408889634)
    tl.store(o + at, e / tl.sum(e, 0))


@triton.jit
def layernorm(x, o, n, B: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, B)
    v = tl.load(x + at)
    mean = tl.sum(v, 0) / n
    d = v - mean
    var = tl.sum(d * d, 0) / n
    tl.store(o + at, d * tl.rsqrt(var + 1e-5))
