"""Attention in one kernel: online softmax over tiles of K and V.

Q and O are [heads, queries, D], with the batch in the heads, K is [heads, keys, D]. V is
too, or, for one byte an element, [heads, D, keys]. group heads of Q share one of K and V: the
compiler makes a constant of 1 only, so few kernels serve all groups.
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
def hide(s, n, rows, BN: tl.constexpr):
    """Scores of keys that come after the query become -inf."""
    return tl.where(rows[:, None] >= n + tl.arange(0, BN)[None, :], s, float("-inf"))


@triton.jit
def place(CAUSAL: tl.constexpr):
    """The program's block of queries: of causal ones the longest first."""
    return tl.num_programs(0) - 1 - tl.program_id(0) if CAUSAL else tl.program_id(0)


@triton.jit
def by_descriptors(q, k_map, v_map, m, l, acc, scale, rows, kv, first, begin, end, D: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr, MASKED: tl.constexpr):
    """The tiles of keys from begin to end."""
    for n in range(begin, end, BN):
        k = k_map.load([first + n, 0])
        s = tl.dot(q, k.T) * scale
        if MASKED:
            s = hide(s, n, rows, BN)
        p, m, l, acc = softmax_step(s, m, l, acc)
        if TURNED:
            v = v_map.load([kv * D, n]).T
        else:
            v = v_map.load([first + n, 0])
        acc = tl.dot(p.to(v.dtype), v, acc)
    return m, l, acc


@triton.jit
def with_descriptors(q_map, k_map, v_map, o, scale, queries, keys, group, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr, CAUSAL: tl.constexpr):
    block, head = place(CAUSAL), tl.program_id(1)
    kv = head // group
    row = head * queries + block * BM
    q = q_map.load([row, 0])
    rows = block * BM + tl.arange(0, BM)
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    if CAUSAL:
        all_see = block * BM // BN * BN
        m, l, acc = by_descriptors(q, k_map, v_map, m, l, acc, scale, rows, kv, kv * keys, 0, all_see, D, BN, TURNED, False)
        m, l, acc = by_descriptors(q, k_map, v_map, m, l, acc, scale, rows, kv, kv * keys, all_see, (block + 1) * BM, D, BN, TURNED, True)
    else:
        m, l, acc = by_descriptors(q, k_map, v_map, m, l, acc, scale, rows, kv, kv * keys, 0, keys, D, BN, TURNED, False)
    to = row.to(tl.int64) + tl.arange(0, BM)
    out = o + to[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(out, (acc / l[:, None]).to(o.dtype.element_ty))


@triton.jit
def by_pointers(q, k, v, m, l, acc, scale, rows, keys, begin, end, D: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr, MASKED: tl.constexpr):
    """The tiles of keys from begin to end."""
    tile, d = tl.arange(0, BN), tl.arange(0, D)
    for n in range(begin, end, BN):
        kt = tl.load(k + (n + tile)[None, :] * D + d[:, None])
        s = tl.dot(q, kt) * scale
        if MASKED:
            s = hide(s, n, rows, BN)
        p, m, l, acc = softmax_step(s, m, l, acc)
        if TURNED:
            vt = tl.load(v + d[None, :] * keys + (n + tile)[:, None])
        else:
            vt = tl.load(v + (n + tile)[:, None] * D + d[None, :])
        acc = tl.dot(p.to(vt.dtype), vt, acc)
    return m, l, acc


@triton.jit
def with_pointers(q, k, v, o, scale, queries, keys, group, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, TURNED: tl.constexpr, CAUSAL: tl.constexpr):
    block = place(CAUSAL)
    base = tl.program_id(1).to(tl.int64) * queries * D
    base_kv = (tl.program_id(1) // group).to(tl.int64) * keys * D
    rows, d = block * BM + tl.arange(0, BM), tl.arange(0, D)
    tile = tl.load(q + base + rows[:, None] * D + d[None, :])
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    if CAUSAL:
        all_see = block * BM // BN * BN
        m, l, acc = by_pointers(tile, k + base_kv, v + base_kv, m, l, acc, scale, rows, keys, 0, all_see, D, BN, TURNED, False)
        m, l, acc = by_pointers(tile, k + base_kv, v + base_kv, m, l, acc, scale, rows, keys, all_see, (block + 1) * BM, D, BN, TURNED, True)
    else:
        m, l, acc = by_pointers(tile, k + base_kv, v + base_kv, m, l, acc, scale, rows, keys, 0, keys, D, BN, TURNED, False)
    tl.store(o + base + rows[:, None] * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty))


def bind(kind, q, k, v, o, scale, config, turned, causal):
    """A function that launches the kernel on these tensors."""
    rows, keys, warps, stages = config
    (b, h, s, d), group = q.shape, q.shape[1] // k.shape[1]
    grid = (s // rows, b * h)
    kernel, args = with_pointers, (q, k, v)
    if kind == "descriptors":
        flat = lambda x, block: TensorDescriptor(x, [x.shape[0] * x.shape[1] * x.shape[2], x.shape[3]], [x.shape[3], 1], block)
        kernel = with_descriptors
        args = (flat(q, [rows, d]), flat(k, [keys, d]), flat(v, [d, keys] if turned else [keys, d]))
    log2e = 1.4426950408889634
    options = {"D": d, "BM": rows, "BN": keys, "TURNED": turned, "CAUSAL": causal, "num_warps": warps, "num_stages": stages}
    return lambda: kernel[grid](*args, o, scale * log2e, s, k.shape[2], group, **options)
