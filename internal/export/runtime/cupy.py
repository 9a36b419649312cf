"""FP8 attention for CuPy, written by attest. This file needs CuPy and the NVIDIA driver, no compiler.

    import attest_attention as attest

    q8, qs = attest.quantize(q)                                  # uint8 codes and one scale per head
    o = attest.attention(q8, k8, v8, qs, ks, vs, causal=True)    # float16 [B,H,S,D]

attention runs on the current stream of CuPy. The codes of FP8 are arrays of uint8.
"""

# ---
import cupy

_FORMAT = _BUNDLE["kernels"][0]["fixed"]["format"]
_MAX = {"e4m3": 448.0, "e5m2": 57344.0}
_plans = {}


def _check(name, a, dtype, shape):
    if not isinstance(a, cupy.ndarray):
        raise TypeError("%s is %s, want a CuPy array" % (name, type(a).__name__))
    if a.dtype != dtype:
        raise TypeError("%s has dtype %s, want %s" % (name, a.dtype, cupy.dtype(dtype)))
    if shape is not None and a.shape != shape:
        raise ValueError("%s has shape %s, want %s" % (name, a.shape, shape))
    if not a.flags.c_contiguous:
        raise ValueError("%s is not contiguous; use cupy.ascontiguousarray(%s)" % (name, name))


def _plan(q, k, v, qs, ks, vs, causal, scale):
    for name, a in (("q", q), ("k", k), ("v", v)):
        if getattr(a, "ndim", 4) != 4:
            raise ValueError("%s has %d dimensions, want 4: [B,H,S,D]" % (name, a.ndim))
        _check(name, a, cupy.uint8, None)
    b, h, sq, d = q.shape
    _, hkv, skv, _ = k.shape
    if k.shape != (b, hkv, skv, d) or v.shape != k.shape or hkv == 0 or h % hkv:
        raise ValueError("shapes of q, k and v do not fit: %s, %s, %s" % (q.shape, k.shape, v.shape))
    for name, a, n in (("qs", qs, h), ("ks", ks, hkv), ("vs", vs, hkv)):
        _check(name, a, cupy.float32, (n,))
    if causal and sq > skv:
        raise ValueError("causal attention with %d queries and %d keys: the first queries would see no key" % (sq, skv))
    return Plan(q.device.id, Problem(b, h, hkv, sq, skv, d, "f16", causal=causal, scale=scale))


def attention(q, k, v, qs, ks, vs, *, causal=False, scale=None):
    """Return softmax(q kᵀ scale) v in float16 for FP8 codes [B,H,S,D] with one float32 scale per head."""
    key = (q.device.id, q.shape, k.shape, v.shape, q.dtype, k.dtype, v.dtype, q.strides, k.strides, v.strides, qs.shape, ks.shape,
           vs.shape, qs.dtype, ks.dtype, vs.dtype, causal, scale)
    with q.device:
        plan = _plans.get(key)
        if plan is None:
            cupy.empty(1)  # the context of the device is current now
            plan = _plans[key] = _plan(q, k, v, qs, ks, vs, causal, scale)
        o = cupy.empty(q.shape, cupy.float16)
        arrays = {"q": q, "k": k, "v": v, "qs": qs, "ks": ks, "vs": vs, "o": o}
        for m in plan.workspaces:
            arrays[m["name"]] = (cupy.zeros if m["init"] else cupy.empty)(m["bytes"], cupy.uint8)
        plan.run([arrays[n].data.ptr for n in plan.names], cupy.cuda.get_current_stream().ptr)
    return o


def quantize(x):
    """Return the FP8 codes of x [B,H,S,D] as uint8, and one float32 scale per head."""
    if x.ndim != 4:
        raise ValueError("x has %d dimensions, want 4: [B,H,S,D]" % x.ndim)
    if _FORMAT not in _MAX:
        raise AttestError("the kernels of this file take %s, which quantize does not write" % _FORMAT)
    x = x.astype(cupy.float32)
    largest = cupy.abs(x).max(axis=(0, 2, 3))
    scales = cupy.where(largest <= 1e-6, cupy.float32(1), largest / cupy.float32(_MAX[_FORMAT])).astype(cupy.float32)
    values = _codes_values()
    exact = x.astype(cupy.float64) / scales.astype(cupy.float64)[None, :, None, None]
    magnitude = cupy.abs(exact)
    # The codes 0, 1, 2, … are ordered by their values, so the nearest code is a search. Ties go to
    # the even code.
    above = cupy.clip(cupy.searchsorted(values, magnitude, side="left"), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    up = (magnitude - low > high - magnitude) | ((magnitude - low == high - magnitude) & (above % 2 == 0))
    codes = cupy.where(up, above, above - 1).astype(cupy.uint8)
    return cupy.ascontiguousarray(codes | cupy.where(cupy.signbit(exact), 128, 0).astype(cupy.uint8)), scales


def _codes_values():
    """The values of the codes that are not negative and finite, in their order."""
    bits, bias = (3, 7) if _FORMAT == "e4m3" else (2, 15)
    out = []
    for code in range(128):
        e, m = code >> bits, code & ((1 << bits) - 1)
        v = math.ldexp(m, 1 - bias - bits) if e == 0 else math.ldexp((1 << bits) + m, e - bias - bits)
        if v <= _MAX[_FORMAT]:
            out.append(v)
    return cupy.asarray(out)
