"""FP8 attention for PyTorch, written by attest. This file needs PyTorch and the NVIDIA driver, no compiler.

    import attest_attention as attest

    o = attest.scaled_dot_product_attention(q, k, v, is_causal=True)     # f16 or bf16 tensors [B,H,S,D]

    q8, qs = attest.quantize(q)                                          # FP8 and one scale per head
    o = attest.attention(q8, k8, v8, qs, ks, vs, causal=True)            # or torch.ops.attest.attention

attention runs on the current stream, under torch.compile and in CUDA graphs. Call it once before a capture, because the
driver compiles a kernel when it is first used. It has no backward pass.
A causal mask is aligned to the last key: query i sees keys 0 to i + Skv - Sq.
"""

# ---
import torch

_FORMATS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "u8": torch.uint8}
_MAX = {"e4m3": 448.0, "e5m2": 57344.0}
_OUTPUTS = {torch.float16: "f16", torch.bfloat16: "bf16"}
_FORMAT = _BUNDLE["kernels"][0]["fixed"]["format"]
_DTYPE = _FORMATS[_FORMAT]
_DEFAULT_OUT = next(d for d, name in _OUTPUTS.items() if name == _BUNDLE["kernels"][0]["fixed"]["output"])
_SEVEN = ["q", "k", "v", "qs", "ks", "vs", "o"]
_plans = {}
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
    if t.requires_grad:
        raise ValueError("%s requires a gradient, but attention of attest has no backward pass; use %s.detach()" % (name, name))


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


def _plan(q, k, v, qs, ks, vs, causal, scale, out_dtype):
    """Check the tensors and return the plan for their sizes. This runs once per combination of sizes."""
    b, h, hkv, sq, skv, d = _shapes(q, k, v)
    for name, t in (("q", q), ("k", k), ("v", v)):
        _check(name, t, _DTYPE, None)
    for name, t, n in (("qs", qs, h), ("ks", ks, hkv), ("vs", vs, hkv)):
        _check(name, t, torch.float32, (n,))
    for name, t in (("k", k), ("v", v), ("qs", qs), ("ks", ks), ("vs", vs)):
        if t.device != q.device:
            raise ValueError("%s is on %s, but q is on %s" % (name, t.device, q.device))
    if out_dtype not in _OUTPUTS:
        raise TypeError("out_dtype is %s, want torch.float16 or torch.bfloat16" % out_dtype)
    if causal and sq > skv:
        raise ValueError("causal attention with %d queries and %d keys: the first queries would see no key" % (sq, skv))
    if 0 in (b, h, sq, skv):
        return None
    env = names(b, h, hkv, sq, skv, d, scale)
    facts = {"D": str(d), "format": _FORMAT, "output": _OUTPUTS[out_dtype], "mask": "causal" if causal else "none", "lse": "false"}
    return Plan(q.device.index, env, facts, scale is not None)


def _attention(q, k, v, qs, ks, vs, causal=False, scale=None, out_dtype=None):
    out_dtype = out_dtype or _DEFAULT_OUT
    # A dtype, a device or a layout that is wrong gives another key, so checks run once per key.
    key = (q.shape, k.shape, v.shape, q.dtype, k.dtype, v.dtype, qs.shape, ks.shape, vs.shape, qs.dtype, ks.dtype, vs.dtype,
           q.is_contiguous(), k.is_contiguous(), v.is_contiguous(), qs.is_contiguous(), ks.is_contiguous(), vs.is_contiguous(),
           q.device, k.device, v.device, qs.device, ks.device, vs.device, causal, scale, out_dtype,
           q.requires_grad or k.requires_grad or v.requires_grad)
    plan = _plans.get(key, 0)
    device = q.device
    if plan == 0 and device.type == "cuda":
        with torch.cuda.device(device):
            torch.empty(1, device=device)  # the context of the device is current now
            plan = _plan(q, k, v, qs, ks, vs, causal, scale, out_dtype)
        if len(_plans) > 65536:
            _plans.clear()
        _plans[key] = plan
    elif plan == 0:
        _plan(q, k, v, qs, ks, vs, causal, scale, out_dtype)
        raise AttestError("q is on %s, want a CUDA device" % device)
    o = torch.empty(q.shape, dtype=out_dtype, device=device)
    if plan is None:
        return o.zero_()
    if device.index != torch.cuda.current_device():
        with torch.cuda.device(device):
            _queue(plan, q, k, v, qs, ks, vs, o, device)
    else:
        _queue(plan, q, k, v, qs, ks, vs, o, device)
    return o


def _queue(plan, q, k, v, qs, ks, vs, o, device):
    if plan.names == _SEVEN:  # no workspace: the usual case
        qa, ka, va = q.data_ptr(), k.data_ptr(), v.data_ptr()
        if (qa | ka | va) & 15:
            raise ValueError("q, k and v must begin at multiples of 16 bytes: use clone()")
        plan.run((qa, ka, va, qs.data_ptr(), ks.data_ptr(), vs.data_ptr(), o.data_ptr()), _current_stream(device.index))
        return
    tensors = {"q": q, "k": k, "v": v, "qs": qs, "ks": ks, "vs": vs, "o": o}
    for m in plan.workspaces:  # the allocator of PyTorch knows streams and graphs
        make = torch.zeros if m["init"] else torch.empty
        tensors[m["name"]] = make(m["bytes"], dtype=torch.uint8, device=device)
    missing = [n for n in plan.names if n not in tensors]
    if missing:
        raise AttestError("the kernel needs the operands %s, which this file does not pass" % ", ".join(missing))
    plan.run([tensors[n].data_ptr() for n in plan.names], _current_stream(device.index))


_library = None
if not hasattr(torch.ops.attest, "attention"):  # another exported file may have defined it
    _library = torch.library.Library("attest", "FRAGMENT")
    _library.define("attention(Tensor q, Tensor k, Tensor v, Tensor qs, Tensor ks, Tensor vs, bool causal=False, "
                    "float? scale=None, ScalarType? out_dtype=None) -> Tensor")
    _library.impl("attention", _attention, "CUDA")

    @torch.library.register_fake("attest::attention", lib=_library)
    def _fake(q, k, v, qs, ks, vs, causal=False, scale=None, out_dtype=None):
        _shapes(q, k, v)
        return q.new_empty(q.shape, dtype=out_dtype or _DEFAULT_OUT)


def attention(q, k, v, qs, ks, vs, *, causal=False, scale=None, out_dtype=None):
    """Return softmax(q kᵀ scale) v for FP8 tensors [B,H,S,D] with one float32 scale per head.

    k and v may have fewer heads than q (grouped heads) and another length. scale is 1/sqrt(D) by
    default. The result has out_dtype, torch.float16 or torch.bfloat16. It is computed on the current
    stream.
    """
    if torch.compiler.is_compiling():
        return torch.ops.attest.attention(q, k, v, qs, ks, vs, causal, scale, out_dtype)
    return _attention(q, k, v, qs, ks, vs, causal, scale, out_dtype)


def quantize(x):
    """Return x [B,H,S,D] in FP8 and one float32 scale per head, bit for bit as attest quantises.

    x is about result * scale. Elements that are not finite make their head NaN.
    """
    if x.dim() != 4 or not x.is_floating_point():
        raise TypeError("x is a tensor %s of %s, want four dimensions [B,H,S,D] of floats" % (tuple(x.shape), x.dtype))
    if _FORMAT not in _MAX:
        raise AttestError("the kernels of this file take %s, which quantize does not write" % _FORMAT)
    x = x.detach().float()
    if x.numel() == 0:
        return x.to(_DTYPE), torch.ones(x.shape[1], dtype=torch.float32, device=x.device)
    largest = x.abs().amax(dim=(0, 2, 3))
    scales = torch.where(largest <= 1e-6, torch.ones_like(largest), largest / _MAX[_FORMAT])
    exact = x.double() / scales.double()[None, :, None, None]
    # Round to odd in float32 first: rounding to FP8 afterwards then rounds only once.
    near = exact.float()
    bits = near.view(torch.int32)
    bits = torch.where(near.double().abs() > exact.abs(), bits - 1, bits)
    bits = torch.where(near.double() != exact, bits | 1, bits)
    return bits.view(torch.float32).to(_DTYPE).contiguous(), scales


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
