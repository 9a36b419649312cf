"""Attention in one kernel: online softmax over tiles of K and V.

Q, K and O are [heads, S, D], with the batch in the heads. V is too, or, for one
byte an element, [heads, D, S].
"""

import triton
import triton.language as tl

try:
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:
    TensorDescriptor = None


def has_descriptors():
    return TensorDescriptor is not None and triton.runtime.driver.active.get_current_target().arch >= 90


@triton.jit
def softmax_step(s, m, l, acc):
    """Brings the sums under the new maximum; s is in units of log2."""
    top = tl.maximum(m, tl.max(s, 1))
    p = tl.exp2(s - top[:, None])
    shrink = tl.exp2(m - top)
    return p, top, l * shrink + tl.sum(p, 1), acc * shrink[:, None]


@triton.jit
def with_descriptors(q_map, k_map, v_map, o, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1)
    first = head * S
    q = q_map.load([first + block * BM, 0])
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for n in range(0, S, BN):
        k = k_map.load([first + n, 0])
        s = tl.dot(q, k.T) * scale
        p, m, l, acc = softmax_step(s, m, l, acc)
        if TURNED:
            v = v_map.load([head * D, n]).T
        else:
            v = v_map.load([first + n, 0])
        acc = tl.dot(p.to(v.dtype), v, acc)
    rows = (first + block * BM).to(tl.int64) + tl.arange(0, BM)
    out = o + rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(out, (acc / l[:, None]).to(o.dtype.element_ty))


@triton.jit
def with_pointers(q, k, v, o, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr):
    block = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * S * D
    rows = block * BM + tl.arange(0, BM)
    keys, d = tl.arange(0, BN), tl.arange(0, D)
    tile = tl.load(q + base + rows[:, None] * D + d[None, :])
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for n in range(0, S, BN):
        kt = tl.load(k + base + (n + keys)[None, :] * D + d[:, None])
        s = tl.dot(tile, kt) * scale
        p, m, l, acc = softmax_step(s, m, l, acc)
        if TURNED:
            vt = tl.load(v + base + d[None, :] * S + (n + keys)[:, None])
        else:
            vt = tl.load(v + base + (n + keys)[:, None] * D + d[None, :])
        acc = tl.dot(p.to(vt.dtype), vt, acc)
    tl.store(o + base + rows[:, None] * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty))


def bind(kind, q, k, v, o, scale, config, turned):
    """A function that launches the kernel on these tensors."""
    rows, keys, warps, stages = config
    b, h, s, d = q.shape
    grid = (s // rows, b * h)
    kernel, args = with_pointers, (q, k, v)
    if kind == "descriptors":
        flat = lambda x, block: TensorDescriptor(x, [b * h * x.shape[2], x.shape[3]], [x.shape[3], 1], block)
        kernel = with_descriptors
        args = (flat(q, [rows, d]), flat(k, [keys, d]), flat(v, [d, keys] if turned else [keys, d]))
    log2e = 1.4426950408889634
    options = {"D": d, "BM": rows, "BN": keys, "TURNED": turned, "num_warps": warps, "num_stages": stages}
    return lambda: kernel[grid](*args, o, scale * log2e, s, **options)
