"""Attention of few queries to many keys in two Triton kernels: split the keys, then merge.

Q and O are [B, heads, queries, D], K and V are [B, heads of K, keys, D]. The rows of Q that share a
head of K and V lie one after the other, so one block multiplies them all. Bytes become f16 in
registers: with so few rows the kernel waits for memory, not for the tensor cores.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def split(q, k, v, part, top, total, scale, rows, queries, keys, chunk, D: tl.constexpr, ROWS: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    """One chunk of the keys of one head of K and V. scale has the factor log2(e)."""
    head, number = tl.program_id(0).to(tl.int64), tl.program_id(1)
    r, d, tile = tl.arange(0, ROWS), tl.arange(0, D), tl.arange(0, BN)
    real = tl.minimum(r, rows - 1)  # rows beyond the last one repeat it, and are not stored
    x = tl.load(q + (head * rows + real[:, None]) * D + d[None, :]).to(tl.float16)
    k += head * keys * D
    v += head * keys * D
    last = keys - queries + real % queries  # the last key that a row sees
    m = tl.full([ROWS], float("-inf"), tl.float32)
    l = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, D], tl.float32)
    begin = number * chunk
    end = tl.minimum(begin + chunk, keys)
    for n in range(begin, end, BN):
        at = n + tile
        inside = tl.minimum(at, keys - 1).to(tl.int64)
        kt = tl.load(k + inside[None, :] * D + d[:, None]).to(tl.float16)
        s = tl.dot(x, kt) * scale
        seen = at[None, :] < end
        if CAUSAL:
            seen = seen & (at[None, :] <= last[:, None])
        s = tl.where(seen, s, float("-inf"))
        most = tl.maximum(m, tl.max(s, 1))
        safe = tl.where(most == float("-inf"), 0.0, most)  # a row that has seen no key yet
        p = tl.exp2(s - safe[:, None])
        shrink = tl.exp2(m - safe)
        l = l * shrink + tl.sum(p, 1)
        vt = tl.load(v + inside[:, None] * D + d[None, :]).to(tl.float16)
        acc = tl.dot(p.to(tl.float16), vt, acc * shrink[:, None])
        m = most
    to = (number.to(tl.int64) * tl.num_programs(0) + head) * rows + r
    tl.store(part + to[:, None] * D + d[None, :], acc, mask=r[:, None] < rows)
    tl.store(top + to, m, mask=r < rows)
    tl.store(total + to, l, mask=r < rows)


@triton.jit
def merge(part, top, total, o, all_rows, splits, D: tl.constexpr, SPLITS: tl.constexpr):
    """One row of O from the parts of all chunks."""
    row = tl.program_id(0).to(tl.int64)
    s, d = tl.arange(0, SPLITS), tl.arange(0, D)
    at = tl.minimum(s, splits - 1).to(tl.int64) * all_rows + row
    m = tl.where(s < splits, tl.load(top + at), float("-inf"))
    most = tl.max(m, 0)
    weight = tl.where(m == float("-inf"), 0.0, tl.exp2(m - tl.where(most == float("-inf"), 0.0, most)))
    l = tl.sum(weight * tl.load(total + at), 0)
    x = tl.sum(weight[:, None] * tl.load(part + at[:, None] * D + d[None, :]), 0)
    tl.store(o + row * D + d, (x / tl.where(l == 0.0, 1.0, l)).to(o.dtype.element_ty))


def bind(q, k, v, o, scale, config, causal):
    """Return a function that launches both kernels on these tensors."""
    keys_per_step, warps, stages, waves = config
    (b, h, queries, d), (heads, keys) = q.shape, k.shape[1:3]
    rows, blocks = h // heads * queries, b * heads
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    wanted = max(1, min(waves * sms // blocks, triton.cdiv(keys, keys_per_step)))
    chunk = triton.cdiv(triton.cdiv(keys, wanted), keys_per_step) * keys_per_step
    splits = triton.cdiv(keys, chunk)
    part = torch.empty((splits, blocks * rows, d), dtype=torch.float32, device="cuda")
    top, total = (torch.empty((splits, blocks * rows), dtype=torch.float32, device="cuda") for _ in range(2))
    log2e = 1.4426950408889634

    def launch():
        split[(blocks, splits)](
            q, k, v, part, top, total, scale * log2e, rows, queries, keys, chunk,
            D=d, ROWS=max(16, triton.next_power_of_2(rows)), BN=keys_per_step, CAUSAL=causal, num_warps=warps, num_stages=stages,
        )
        merge[(blocks * rows,)](part, top, total, o, blocks * rows, splits, D=d, SPLITS=triton.next_power_of_2(splits), num_warps=4)

    return launch
