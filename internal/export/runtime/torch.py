"""FP8 attention for PyTorch, written by attest. This file needs PyTorch and the NVIDIA driver, no compiler.

    import attest_attention as attest

    o = attest.scaled_dot_product_attention(q, k, v, is_causal=True)     # f16 or bf16 tensors [B,H,S,D]

    q8, qs = attest.quantize(q)                                          # FP8 and one scale per head
    o = attest.attention(q8, k8, v8, qs, ks, vs, causal=True)            # or torch.ops.attest.attention

    o = attest.attention_varlen(q8, k8, v8, qs, ks, vs, cu_q, cu_k, max_q, max_k, causal=True)     # packed: [total,H,D]
    o = attest.attention_with_kvcache(q8, k_cache, v_cache, qs, ks, vs, lengths, block_table)      # paged or padded cache

attention runs on the current stream, under torch.compile and in CUDA graphs. Call it once before a capture, because the
driver compiles a kernel when it is first used. It has no backward pass.
A causal mask is aligned to the last key: query i sees keys 0 to i + Skv - Sq.
"""

# ---
import torch

_FORMATS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "u8": torch.uint8}
_MAX = {"e4m3": 448.0, "e5m2": 57344.0}
_BELOW_FLOAT32 = (1 << 29) - 1  # the bits of a float64 that a float32 does not have
_OUTPUTS = {torch.float16: "f16", torch.bfloat16: "bf16"}
_FORMAT = _BUNDLE["kernels"][0]["fixed"]["format"]
_DTYPE = _FORMATS[_FORMAT]
_DEFAULT_OUT = next(d for d, name in _OUTPUTS.items() if name == _BUNDLE["kernels"][0]["fixed"]["output"])
_SEVEN = ["q", "k", "v", "qs", "ks", "vs", "o"]
_plans = {}
_plain = {}  # the plans of the usual case, by their keys: device, function and dtype of the result
_grad_enabled = torch.is_grad_enabled
_current_device = getattr(torch._C, "_cuda_getDevice", None) or torch.cuda.current_device
_current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda device: torch.cuda.current_stream(device).cuda_stream)


def _check(name, t, dtype, shape):
    """Raise an error that says how a tensor differs from what a kernel needs."""
    if not isinstance(t, torch.Tensor):
        raise TypeError("%s is %s, want a tensor" % (name, type(t).__name__))
    if t.dtype != dtype:
        hint = "; use quantize(%s)" % name if dtype == _DTYPE and t.is_floating_point() else ""
        raise TypeError("%s has dtype %s, want %s%s" % (name, t.dtype, dtype, hint))
    if shape is not None and tuple(t.shape) != shape:
        raise ValueError("%s has shape %s, want %s" % (name, tuple(t.shape), shape))
    if t.device.type != "cuda":
        raise ValueError("%s is on %s, want a CUDA device" % (name, t.device))
    if not t.is_contiguous():
        raise ValueError("%s is not contiguous: shape %s has strides %s; use %s.contiguous()" % (name, tuple(t.shape), t.stride(), name))
    if t.requires_grad and torch.is_grad_enabled():
        raise ValueError("%s requires a gradient, but attention of attest has no backward pass; use torch.no_grad() or %s.detach()" % (name, name))


def _shapes(q, k, v):
    """Check the shapes of q, k and v, and return B, H, Hkv, Sq, Skv, D."""
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != 4:
            raise ValueError("%s has %d dimensions, want 4: [B,H,S,D]" % (name, t.dim()))
    b, h, sq, d = q.shape
    bk, hkv, skv, dk = k.shape
    if v.shape != k.shape:
        raise ValueError("v has shape %s, but k has %s" % (tuple(v.shape), tuple(k.shape)))
    if bk != b or dk != d:
        raise ValueError("k has shape %s, which does not fit q with %s: batch and head dimension must agree" % (tuple(k.shape), tuple(q.shape)))
    if hkv == 0 or h % hkv:
        raise ValueError("q has %d heads and k has %d: the first must be a multiple of the second" % (h, hkv))
    return b, h, hkv, sq, skv, d


def _check_all(tensors, device):
    """Check tensors: (name, tensor, dtype, shape), all on one device."""
    for name, t, dtype, shape in tensors:
        _check(name, t, dtype, shape)
        if t.device != device:
            raise ValueError("%s is on %s, but q is on %s" % (name, t.device, device))


def _output(out_dtype):
    if out_dtype not in _OUTPUTS:
        raise TypeError("out_dtype is %s, want torch.float16 or torch.bfloat16" % out_dtype)
    return _OUTPUTS[out_dtype]


def _plan(q, k, v, qs, ks, vs, causal, scale, out_dtype, lse):
    """Check the tensors and return the plan for their sizes. This runs once per combination of sizes."""
    b, h, hkv, sq, skv, d = _shapes(q, k, v)
    _check_all([("q", q, _DTYPE, None), ("k", k, _DTYPE, None), ("v", v, _DTYPE, None),
                ("qs", qs, torch.float32, (h,)), ("ks", ks, torch.float32, (hkv,)), ("vs", vs, torch.float32, (hkv,))], q.device)
    output = _output(out_dtype)
    if causal and sq > skv:
        raise ValueError("causal attention with %d queries and %d keys: the first queries would see no key" % (sq, skv))
    if 0 in (b, h, sq, skv):
        return None
    return Plan(q.device.index, Problem(b, h, hkv, sq, skv, d, output, causal=causal, scale=scale, lse=lse))


def _planned(key, device, make):
    """Return the plan of a key. make checks the tensors and makes it."""
    plan = _plans.get(key, 0)
    if plan != 0:
        return plan
    if device.type != "cuda":
        make()
        raise AttestError("q is on %s, want a CUDA device" % device)
    with torch.cuda.device(device):
        torch.empty(1, device=device)  # the context of the device is current now
        plan = make()
    if len(_plans) > 65536:
        _plans.clear()
    _plans[key] = plan
    return plan


def _attention(q, k, v, qs, ks, vs, causal=False, scale=None, out_dtype=None, lse=False):
    # This function is called for every layer of a model, so it does only what must be done each time.
    # A dtype, a device or a layout that is wrong gives another key, so checks run once per key.
    key = (q.shape, k.shape, v.shape, qs.nbytes, ks.nbytes, vs.nbytes, q.dtype, k.dtype, v.dtype, qs.dtype, ks.dtype, vs.dtype,
           q.is_contiguous(), k.is_contiguous(), v.is_contiguous(), qs.is_contiguous(), ks.is_contiguous(), vs.is_contiguous(),
           q.get_device(), k.get_device(), v.get_device(), qs.get_device(), ks.get_device(), vs.get_device(),
           _grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad), causal, scale, out_dtype, lse)
    found = _plain.get(key)
    if found is None or found[0] != _current_device():
        return _first(key, q, k, v, qs, ks, vs, causal, scale, out_dtype or _DEFAULT_OUT, lse)
    device, run, dtype = found
    o = torch.empty_like(q, dtype=dtype)
    qa, ka, va = q.data_ptr(), k.data_ptr(), v.data_ptr()
    if (qa | ka | va) & 15:
        _aligned(q, k, v)
    run((qa, ka, va, qs.data_ptr(), ks.data_ptr(), vs.data_ptr(), o.data_ptr()), _current_stream(device))
    return o


def _first(key, q, k, v, qs, ks, vs, causal, scale, out_dtype, lse):
    """Run attention with a key that is new, and everything that is not the usual case."""
    device = q.device
    plan = _planned(key, device, lambda: _plan(q, k, v, qs, ks, vs, causal, scale, out_dtype, lse))
    o = torch.empty(q.shape, dtype=out_dtype, device=device)
    rows = torch.empty(q.shape[:3], dtype=torch.float32, device=device) if lse else None
    if plan is None:
        return (o.zero_(), rows.fill_(-math.inf)) if lse else o.zero_()
    if plan.names == _SEVEN:  # no workspace, and one result
        if len(_plain) > 65536:
            _plain.clear()
        _plain[key] = device.index, plan.run, out_dtype
    _queue(plan, {"q": q, "k": k, "v": v, "qs": qs, "ks": ks, "vs": vs, "o": o, "lse": rows}, device)
    return (o, rows) if lse else o


def _aligned(q, k, v):
    if (q.data_ptr() | k.data_ptr() | v.data_ptr()) & 15:
        raise ValueError("q, k and v must begin at multiples of 16 bytes: use clone()")


def _queue(plan, tensors, device):
    """Queue a plan on the current stream of a device. tensors are the operands by their names."""
    _aligned(tensors["q"], tensors["k"], tensors["v"])
    with torch.cuda.device(device):
        stream = _current_stream(device.index)
        for m in plan.workspaces:
            tensors[m["name"]] = _workspace(plan, m, device, stream)
        missing = [n for n in plan.names if tensors.get(n) is None]
        if missing:
            raise AttestError("the kernel needs the operands %s, which this call does not have" % ", ".join(missing))
        plan.run([tensors[n].data_ptr() for n in plan.names], stream)


def _workspace(plan, m, device, stream):
    """Return the memory of a workspace. The allocator of PyTorch knows streams and graphs."""
    if not m["init"]:
        return torch.empty(m["bytes"], dtype=torch.uint8, device=device)
    if m["init"] != "zero-once" or torch.cuda.is_current_stream_capturing():
        return torch.zeros(m["bytes"], dtype=torch.uint8, device=device)
    # The kernel leaves zeros, so that launches of one stream can share it. A graph gets its own.
    key = (m["name"], stream)
    if key not in plan.kept:
        plan.kept[key] = torch.zeros(m["bytes"], dtype=torch.uint8, device=device)
    return plan.kept[key]


def _signature(*values):
    """Return the key of values: of tensors what a check looks at."""
    return tuple((t.shape, t.dtype, t.is_contiguous(), t.device, t.requires_grad and torch.is_grad_enabled()) if isinstance(t, torch.Tensor) else t for t in values)


def _heads(q, k, v, d):
    """Return the numbers of heads of q and of k, which are the last dimension but one."""
    h, hkv = q.shape[-2], k.shape[-2]
    if v.shape != k.shape or k.shape[-1] != d:
        raise ValueError("shapes of q, k and v do not fit: %s, %s, %s" % (tuple(q.shape), tuple(k.shape), tuple(v.shape)))
    if hkv == 0 or h % hkv:
        raise ValueError("q has %d heads and k has %d: the first must be a multiple of the second" % (h, hkv))
    return h, hkv


def _scales(h, hkv, qs, ks, vs, sinks):
    list_ = [("qs", qs, torch.float32, (h,)), ("ks", ks, torch.float32, (hkv,)), ("vs", vs, torch.float32, (hkv,))]
    return list_ + ([("sinks", sinks, torch.float32, (h,))] if sinks is not None else [])


def _varlen(q, k, v, qs, ks, vs, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal=False, window_left=-1, window_right=-1,
            softcap=0.0, sinks=None, scale=None, out_dtype=None, lse=False):
    out_dtype = out_dtype or _DEFAULT_OUT
    key = _signature("varlen", q, k, v, qs, ks, vs, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal, window_left, window_right, softcap,
                     sinks, scale, out_dtype, lse)

    def make():
        for name, t in (("q", q), ("k", k), ("v", v)):
            if t.dim() != 3:
                raise ValueError("%s has %d dimensions, want 3: [total,H,D]" % (name, t.dim()))
        d = q.shape[2]
        h, hkv = _heads(q, k, v, d)
        b = cu_seqlens_q.numel() - 1
        _check_all([("q", q, _DTYPE, None), ("k", k, _DTYPE, None), ("v", v, _DTYPE, None), ("cu_seqlens_q", cu_seqlens_q, torch.int32, (b + 1,)),
                    ("cu_seqlens_k", cu_seqlens_k, torch.int32, (b + 1,))] + _scales(h, hkv, qs, ks, vs, sinks), q.device)
        output = _output(out_dtype)
        if 0 in (b, h, q.shape[0], k.shape[0], max_seqlen_q, max_seqlen_k):
            return None
        return Plan(q.device.index, Problem(b, h, hkv, max_seqlen_q, max_seqlen_k, d, output, causal=causal, scale=scale, window=(window_left, window_right),
                                            softcap=softcap, lse=lse, sinks=sinks is not None, layout="BSHD", queries="packed", keys="packed",
                                            total_q=q.shape[0], total_kv=k.shape[0]))

    plan = _planned(key, q.device, make)
    o = torch.empty(q.shape, dtype=out_dtype, device=q.device)
    rows = torch.empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32, device=q.device)
    if plan is None:
        return o.zero_(), rows.fill_(-math.inf)
    _queue(plan, {"q": q, "k": k, "v": v, "qs": qs, "ks": ks, "vs": vs, "o": o, "lse": rows, "sinks": sinks, "cu_seqlens_q": cu_seqlens_q,
                  "cu_seqlens_k": cu_seqlens_k}, q.device)
    return o, rows


def _kvcache(q, k_cache, v_cache, qs, ks, vs, cache_seqlens, block_table=None, causal=False, window_left=-1, window_right=-1, softcap=0.0, sinks=None,
             scale=None, out_dtype=None, lse=False):
    out_dtype = out_dtype or _DEFAULT_OUT
    key = _signature("kvcache", q, k_cache, v_cache, qs, ks, vs, cache_seqlens, block_table, causal, window_left, window_right, softcap, sinks, scale,
                     out_dtype, lse)

    def make():
        for name, t in (("q", q), ("k_cache", k_cache), ("v_cache", v_cache)):
            if t.dim() != 4:
                raise ValueError("%s has %d dimensions, want 4: q [B,S,H,D], and a cache [B,S,H,D] or [pages,page size,H,D]" % (name, t.dim()))
        b, sq, _, d = q.shape
        h, hkv = _heads(q, k_cache, v_cache, d)
        tensors = [("q", q, _DTYPE, None), ("k_cache", k_cache, _DTYPE, None), ("v_cache", v_cache, _DTYPE, None),
                   ("cache_seqlens", cache_seqlens, torch.int32, (b,))] + _scales(h, hkv, qs, ks, vs, sinks)
        paged = {"keys": "padded"}
        rows = k_cache.shape[1]
        if block_table is not None:
            tensors.append(("block_table", block_table, torch.int32, (b, block_table.shape[-1])))
            paged = {"keys": "paged", "page_size": rows, "pages": k_cache.shape[0], "max_pages": block_table.shape[-1]}
            rows *= block_table.shape[-1]
        elif k_cache.shape[0] != b:
            raise ValueError("k_cache has %d sequences and q has %d: give a block_table for a paged cache" % (k_cache.shape[0], b))
        _check_all(tensors, q.device)
        output = _output(out_dtype)
        if 0 in (b, h, sq, rows):
            return None
        return Plan(q.device.index, Problem(b, h, hkv, sq, rows, d, output, causal=causal, scale=scale, window=(window_left, window_right),
                                            softcap=softcap, lse=lse, sinks=sinks is not None, layout="BSHD", **paged))

    plan = _planned(key, q.device, make)
    o = torch.empty(q.shape, dtype=out_dtype, device=q.device)
    rows = torch.empty((q.shape[0], q.shape[2], q.shape[1]) if lse else (0,), dtype=torch.float32, device=q.device)
    if plan is None:
        return o.zero_(), rows.fill_(-math.inf)
    _queue(plan, {"q": q, "k": k_cache, "v": v_cache, "qs": qs, "ks": ks, "vs": vs, "o": o, "lse": rows, "sinks": sinks, "seqused_k": cache_seqlens,
                  "page_table": block_table}, q.device)
    return o, rows


_OPTIONS = ("bool causal=False, int window_left=-1, int window_right=-1, float softcap=0.0, Tensor? sinks=None, float? scale=None, "
            "ScalarType? out_dtype=None, bool lse=False) -> (Tensor, Tensor)")
_library = None
if not hasattr(torch.ops.attest, "attention"):  # another exported file may have defined it
    _library = torch.library.Library("attest", "FRAGMENT")
    _library.define("attention(Tensor q, Tensor k, Tensor v, Tensor qs, Tensor ks, Tensor vs, bool causal=False, "
                    "float? scale=None, ScalarType? out_dtype=None) -> Tensor")
    _library.define("attention_lse(Tensor q, Tensor k, Tensor v, Tensor qs, Tensor ks, Tensor vs, bool causal=False, "
                    "float? scale=None, ScalarType? out_dtype=None) -> (Tensor, Tensor)")
    _library.define("attention_varlen(Tensor q, Tensor k, Tensor v, Tensor qs, Tensor ks, Tensor vs, Tensor cu_seqlens_q, Tensor cu_seqlens_k, "
                    "SymInt max_seqlen_q, SymInt max_seqlen_k, " + _OPTIONS)
    _library.define("attention_with_kvcache(Tensor q, Tensor k_cache, Tensor v_cache, Tensor qs, Tensor ks, Tensor vs, Tensor cache_seqlens, "
                    "Tensor? block_table=None, " + _OPTIONS)
    _library.impl("attention", _attention, "CUDA")
    _library.impl("attention_lse", lambda *args: _attention(*args, **{"lse": True}), "CUDA")
    _library.impl("attention_varlen", _varlen, "CUDA")
    _library.impl("attention_with_kvcache", _kvcache, "CUDA")

    @torch.library.register_fake("attest::attention", lib=_library)
    def _fake(q, k, v, qs, ks, vs, causal=False, scale=None, out_dtype=None):
        _shapes(q, k, v)
        return q.new_empty(q.shape, dtype=out_dtype or _DEFAULT_OUT)

    @torch.library.register_fake("attest::attention_lse", lib=_library)
    def _fake_lse(q, k, v, qs, ks, vs, causal=False, scale=None, out_dtype=None):
        return _fake(q, k, v, qs, ks, vs, causal, scale, out_dtype), q.new_empty(q.shape[:3], dtype=torch.float32)

    @torch.library.register_fake("attest::attention_varlen", lib=_library)
    def _fake_varlen(q, k, v, qs, ks, vs, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal=False, window_left=-1, window_right=-1,
                     softcap=0.0, sinks=None, scale=None, out_dtype=None, lse=False):
        return q.new_empty(q.shape, dtype=out_dtype or _DEFAULT_OUT), q.new_empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32)

    @torch.library.register_fake("attest::attention_with_kvcache", lib=_library)
    def _fake_kvcache(q, k_cache, v_cache, qs, ks, vs, cache_seqlens, block_table=None, causal=False, window_left=-1, window_right=-1, softcap=0.0,
                      sinks=None, scale=None, out_dtype=None, lse=False):
        return (q.new_empty(q.shape, dtype=out_dtype or _DEFAULT_OUT),
                q.new_empty((q.shape[0], q.shape[2], q.shape[1]) if lse else (0,), dtype=torch.float32))


def attention(q, k, v, qs, ks, vs, *, causal=False, scale=None, out_dtype=None, return_lse=False):
    """Return softmax(q kᵀ scale) v for FP8 tensors [B,H,S,D] with one float32 scale per head.

    k and v may have fewer heads than q (grouped heads) and another length. scale is 1/sqrt(D) by
    default. The result has out_dtype, torch.float16 or torch.bfloat16. It is computed on the current
    stream. With return_lse the result is a pair: the second tensor, [B,H,S], has the log-sum-exp of
    each row.
    """
    if torch.compiler.is_compiling():
        op = torch.ops.attest.attention_lse if return_lse else torch.ops.attest.attention
        return op(q, k, v, qs, ks, vs, causal, scale, out_dtype)
    return _attention(q, k, v, qs, ks, vs, causal, scale, out_dtype, return_lse)


def attention_varlen(q, k, v, qs, ks, vs, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, *, causal=False, window=(-1, -1), softcap=0.0,
                     sinks=None, scale=None, out_dtype=None, return_lse=False):
    """Return attention of packed sequences, with the arguments of flash_attn_varlen_func.

    q is [total_q,H,D]; k and v are [total_k,Hkv,D]. Sequence i has the rows cu_seqlens[i] to
    cu_seqlens[i+1]. max_seqlen_q and max_seqlen_k are at least the longest lengths. window is the number
    of keys that a query sees before and after its own, -1 is all. sinks has one logit per head. The
    log-sum-exp is [H,total_q].
    """
    run = torch.ops.attest.attention_varlen if torch.compiler.is_compiling() else _varlen
    o, rows = run(q, k, v, qs, ks, vs, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal, window[0], window[1], softcap, sinks, scale, out_dtype,
                  return_lse)
    return (o, rows) if return_lse else o


def attention_with_kvcache(q, k_cache, v_cache, qs, ks, vs, cache_seqlens, block_table=None, *, causal=False, window=(-1, -1), softcap=0.0, sinks=None,
                           scale=None, out_dtype=None, return_lse=False):
    """Return attention of new queries to a cache, with the arguments of flash_attn_with_kvcache.

    q is [B,S,H,D]. The cache is [B,rows,Hkv,D], or [pages,page size,Hkv,D] with the pages of each
    sequence in block_table, [B,most pages]. The first cache_seqlens[i] rows of sequence i count, the new
    keys included. The last query stands at the last key. The log-sum-exp is [B,H,S].
    """
    run = torch.ops.attest.attention_with_kvcache if torch.compiler.is_compiling() else _kvcache
    o, rows = run(q, k_cache, v_cache, qs, ks, vs, cache_seqlens, block_table, causal, window[0], window[1], softcap, sinks, scale, out_dtype, return_lse)
    return (o, rows) if return_lse else o


def quantize(x, heads=1):
    """Return x in FP8 and one float32 scale per head, bit for bit as attest quantises.

    heads is the dimension of the heads: 1 for [B,H,S,D] and packed [total,H,D], 2 for caches [B,S,H,D]. x is
    about result * scale. Elements that are not finite make their head NaN.
    """
    if x.dim() < 3 or not 0 <= heads < x.dim() or not x.is_floating_point():
        raise TypeError("x is a tensor %s of %s with heads in dimension %d, want floats [B,H,S,D], [total,H,D] or [B,S,H,D]" % (tuple(x.shape), x.dtype, heads))
    if _FORMAT not in _MAX:
        raise AttestError("the kernels of this file take %s, which quantize does not write" % _FORMAT)
    x = x.detach().float()
    if x.numel() == 0:
        return x.to(_DTYPE), torch.ones(x.shape[heads], dtype=torch.float32, device=x.device)
    largest = x.abs().amax(dim=[i for i in range(x.dim()) if i != heads])
    # Everything is exact or in float64, so that eager and compiled code have the same bits: a compiler may divide float32 with an
    # error, or multiply by a reciprocal instead. In float64 both give this quotient, because its divisor is 7 times a power of two.
    scales = torch.where(largest <= 1e-6, torch.ones_like(largest), (largest.double() / _MAX[_FORMAT]).float())
    exact = x.double() / scales.double().view([-1 if i == heads else 1 for i in range(x.dim())])
    # Round to odd, to the 24 bits of float32: rounding to FP8 afterwards then rounds only once.
    bits = exact.view(torch.int64)
    odd = torch.where(bits & _BELOW_FLOAT32 != 0, bits | (_BELOW_FLOAT32 + 1), bits) & ~_BELOW_FLOAT32
    return odd.view(torch.float64).float().to(_DTYPE).contiguous(), scales


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """torch.nn.functional.scaled_dot_product_attention with FP8 inside: it quantises and calls attention."""
    if attn_mask is not None:
        raise NotImplementedError("attn_mask is not supported: use is_causal, or PyTorch's function")
    if dropout_p != 0.0:
        raise NotImplementedError("dropout_p is %g: there is no dropout" % dropout_p)
    if is_causal and query.shape[-2] != key.shape[-2]:
        raise NotImplementedError("is_causal with %d queries and %d keys: PyTorch aligns this mask to the first key, attest to the last; "
                                  "use attention(…, causal=True) if you want that" % (query.shape[-2], key.shape[-2]))
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise ValueError("query has %d heads and key has %d: set enable_gqa=True" % (query.shape[1], key.shape[1]))
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError("%s requires a gradient, but attention of attest has no backward pass; use torch.no_grad()" % name)
    (q, qs), (k, ks), (v, vs) = quantize(query), quantize(key), quantize(value)
    out = query.dtype if query.dtype in _OUTPUTS else torch.float16
    o = attention(q, k, v, qs, ks, vs, causal=is_causal, scale=scale, out_dtype=out)
    return o if out == query.dtype else o.to(query.dtype)


sdpa = scaled_dot_product_attention
