"""Tests an exported file on a GPU: python3 torch_test.py attest_attention.py [FOLDER [SECTION...]]

It runs the functions eagerly, compiled and in CUDA graphs, on odd shapes and other streams, on caches and packed
sequences, with tensors that must be refused, and in a small transformer. It compares with float64 and measures the
host time of a call beside PyTorch's. FOLDER gets outputs that the Go library can compare bit by bit.
"""
import importlib.util
import math
import os
import sys
import time

import torch
import torch.nn.functional as F

start = time.time()
spec = importlib.util.spec_from_file_location("attest_attention", sys.argv[1])
attest = importlib.util.module_from_spec(spec)
sys.modules["attest_attention"] = attest
spec.loader.exec_module(attest)
torch.manual_seed(0)
dev = "cuda"
fails = 0
print("torch %s, %s, import %.2f s, %d kernels for %s" % (torch.__version__, torch.cuda.get_device_name(), time.time() - start,
                                                        len(attest._BUNDLE["kernels"]), attest._BUNDLE["chip"]["target"]))


def check(ok, text):
    global fails
    fails += not ok
    print("%s  %s" % ("ok  " if ok else "FAIL", text), flush=True)


def section(name, f):
    global fails
    try:
        f()
    except Exception as e:  # one broken section must not hide the others
        fails += 1
        import traceback
        print("FAIL %s: %s: %s" % (name, type(e).__name__, str(e)[:600]))
        traceback.print_exc(limit=4)


def make(b, h, hkv, sq, skv, d, dtype=torch.float16):
    return (torch.randn(b, h, sq, d, device=dev, dtype=dtype), torch.randn(b, hkv, skv, d, device=dev, dtype=dtype),
            torch.randn(b, hkv, skv, d, device=dev, dtype=dtype))


def reference(q8, k8, v8, qs, ks, vs, causal, scale=None):
    q = q8.double() * qs.double()[None, :, None, None]
    k = k8.double() * ks.double()[None, :, None, None]
    v = v8.double() * vs.double()[None, :, None, None]
    g = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(g, 1), v.repeat_interleave(g, 1)
    s = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if causal:
        i = torch.arange(s.shape[-2], device=dev)[:, None] + s.shape[-1] - s.shape[-2]
        s = s.masked_fill(torch.arange(s.shape[-1], device=dev)[None, :] > i, -math.inf)
    return s.softmax(-1) @ v


def quantised(q, k, v):
    (a, x), (b, y), (c, z) = attest.quantize(q), attest.quantize(k), attest.quantize(v)
    return a, b, c, x, y, z


def eager():
    for shape in ((1, 8, 8, 512, 512, 64), (2, 3, 3, 77, 77, 64), (1, 8, 2, 33, 1000, 64), (3, 5, 5, 1, 301, 64), (1, 16, 16, 2048, 2048, 128),
                  (2, 8, 2, 129, 257, 128), (1, 2, 2, 17, 8191, 64)):
        for causal in (False, True):
            for out in (torch.float16, torch.bfloat16):
                t = quantised(*make(*shape))
                o = attest.attention(*t, causal=causal, out_dtype=out)
                want = reference(*t, causal)
                err = (o.double() - want).abs().max().item()
                rel = ((o.double() - want).pow(2).mean().sqrt() / want.pow(2).mean().sqrt()).item()
                check(rel < 0.06 and o.dtype == out, "eager %s causal=%d %s: max error %.4f, relative rms %.4f" % (shape, causal, out, err, rel))
    t = quantised(*make(1, 4, 4, 100, 100, 64))
    rel = lambda o, w: ((o.double() - w).pow(2).mean().sqrt() / w.pow(2).mean().sqrt()).item()
    check(rel(attest.attention(*t, scale=0.5), reference(*t, False, 0.5)) < 0.06, "scale=0.5")


def bits():
    t = quantised(*make(2, 8, 8, 300, 300, 64))
    a = attest.attention(*t)
    check(all(torch.equal(a, attest.attention(*t)) for _ in range(20)), "20 runs give the same bits")
    check(torch.equal(a, torch.ops.attest.attention(*t)), "torch.ops.attest.attention gives the same bits")
    x = torch.randn(2, 4, 50, 64) * torch.tensor([1e-9, 1.0, 100.0, 3e-3])[None, :, None, None]
    q, s = attest.quantize(x.cuda())
    d = q.double().cpu() * s.double().cpu()[None, :, None, None]
    step = 2.0 ** -3 * x.double().abs().clamp_min(1e-30)
    check(bool((((d - x.double()).abs() <= step + s.double().cpu()[None, :, None, None] * 2.0 ** -9)).all()), "quantize is within half a step of FP8 (loose bound)")


def compiled():
    def f(q, k, v, qs, ks, vs):
        return attest.attention(q, k, v, qs, ks, vs, causal=True).float() * 2
    t = quantised(*make(1, 8, 8, 256, 256, 64))
    g = torch.compile(f, fullgraph=True)
    check(torch.equal(g(*t), f(*t)), "torch.compile, fullgraph")
    t2 = quantised(*make(1, 8, 8, 100, 100, 64))
    check(torch.equal(g(*t2), f(*t2)), "torch.compile, another length")
    quantize = torch.compile(attest.quantize, fullgraph=True)
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        x = make(2, 8, 8, 333, 333, 64, dtype)[0] * torch.tensor([1e-9, 1, 100, 3e-3, 7, 1e-5, 0.3, 0], device=dev, dtype=dtype)[None, :, None, None]
        (a, s), (b, r) = quantize(x), attest.quantize(x)
        codes, scales = (a.view(torch.uint8) != b.view(torch.uint8)).sum().item(), (s != r).sum().item()
        check(codes == 0 and scales == 0, "quantize of %s, compiled: %d codes and %d scales differ from eager ones" % (dtype, codes, scales))
    for dtype in (torch.bfloat16, torch.float16):
        q, k, v = make(1, 8, 8, 256, 256, 64, dtype)
        h = torch.compile(lambda q, k, v: attest.scaled_dot_product_attention(q, k, v, is_causal=True), fullgraph=True)
        got, want = h(q, k, v), attest.scaled_dot_product_attention(q, k, v, is_causal=True)
        check(torch.equal(got, want), "torch.compile of the SDPA-like call, %s: %d of %d elements differ, by up to %.4f" % (
            dtype, (got != want).sum().item(), got.numel(), (got.float() - want.float()).abs().max().item()))
    # test_schema multiplies its inputs, which PyTorch cannot do in FP8.
    torch.library.opcheck(torch.ops.attest.attention.default, t, test_utils=("test_faketensor",))
    check(True, "torch.library.opcheck")


def lengths_of(b, most):
    """Lengths from 1 to most, the longest among them."""
    n = torch.randint(1, most + 1, (b,), device=dev, dtype=torch.int32)
    n[b // 2] = most
    return n


def rows_seen(s, sq, causal, window):
    """Mask the logits of one sequence: the last query stands at the last key."""
    at = torch.arange(s.shape[-2], device=dev)[:, None] + s.shape[-1] - sq
    key = torch.arange(s.shape[-1], device=dev)[None, :]
    hidden = torch.zeros(s.shape[-2:], dtype=torch.bool, device=dev)
    if causal or window[1] >= 0:
        hidden |= key > at + (0 if causal else window[1])
    if window[0] >= 0:
        hidden |= key < at - window[0]
    return s.masked_fill(hidden, -math.inf)


def one(q, k, v, causal=False, window=(-1, -1), softcap=0.0, sinks=None):
    """Attention of one sequence in float64, [S,H,D], and its log-sum-exp [H,S]."""
    g = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(g, 1), v.repeat_interleave(g, 1)
    s = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(q.shape[-1])
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    s = rows_seen(s, q.shape[0], causal, window)
    if sinks is not None:
        s = torch.cat([s, sinks.double()[:, None, None].expand(-1, s.shape[1], 1)], -1)
    lse = s.logsumexp(-1)
    p = (s - lse[..., None]).exp().nan_to_num(0)[..., :k.shape[0]]
    return torch.einsum("hqk,khd->qhd", p, v), lse


def near(o, want, text, limit=0.06):
    rel = ((o.double() - want).pow(2).mean().sqrt() / want.pow(2).mean().sqrt()).item()
    check(rel < limit, "%s: relative rms %.4f" % (text, rel))


def has(**facts):
    return any(all(k["fixed"].get(n) == v for n, v in facts.items()) for k in attest._BUNDLE["kernels"])


def caches():
    for b, h, hkv, sq, most, d, page in ((5, 32, 8, 1, 700, 128, 64), (3, 8, 8, 4, 300, 64, 16), (17, 16, 1, 1, 2000, 128, 256), (2, 32, 4, 2, 5000, 128, 0)):
        n = lengths_of(b, most)
        q, qs = attest.quantize(torch.randn(b, sq, h, d, device=dev), heads=2)
        size = page or most
        columns = -(-most // size)
        pages = b * columns + 7 if page else b
        k, ks = attest.quantize(torch.randn(pages, size, hkv, d, device=dev), heads=2)
        v, vs = attest.quantize(torch.randn(pages, size, hkv, d, device=dev), heads=2)
        table = torch.randperm(pages, device=dev)[:b * columns].view(b, columns).to(torch.int32) if page else None
        for causal, window in ((True, (-1, -1)), (False, (-1, -1)), (False, (100, 0))):
            if window[0] >= 0 and not has(mask="window", D=str(d)):
                continue
            want, rows = [], []
            for i in range(b):
                flat = (lambda x: x[table[i].long()].flatten(0, 1)) if page else (lambda x: x[i])
                kk, vv = (flat(x)[:n[i]].double() * s.double()[None, :, None] for x, s in ((k, ks), (v, vs)))
                o, l = one(q[i].double() * qs.double()[None, :, None], kk, vv, causal and n[i] >= sq, window)
                want.append(o)
                rows.append(l)
            spoiled, kk, vv = table, k.clone(), v.clone()
            for i in range(b):  # what is behind the end of a sequence must not matter
                used = -(-int(n[i]) // size)
                last = int(table[i, used - 1]) if page else i
                kk.view(torch.uint8)[last, int(n[i]) - (used - 1) * size:] = 0x7f
                vv.view(torch.uint8)[last, int(n[i]) - (used - 1) * size:] = 0x7f
                if page:
                    spoiled = spoiled.clone()
                    spoiled[i, used:] = -1
            text = "kvcache B=%d H=%d/%d Sq=%d most=%d D=%d page=%d causal=%d window=%s" % (b, h, hkv, sq, most, d, page, causal, window)
            keep = torch.ones(b, dtype=torch.bool, device=dev) if not causal else n >= sq
            o = attest.attention_with_kvcache(q, kk, vv, qs, ks, vs, n, spoiled, causal=causal, window=window)
            near(o[keep], torch.stack(want)[keep], text)
            mask = "causal" if causal else "window" if window[0] >= 0 else "none"
            if has(lse="true", keys="paged" if page else "padded", mask=mask, D=str(d)):
                o2, l = attest.attention_with_kvcache(q, kk, vv, qs, ks, vs, n, spoiled, causal=causal, window=window, return_lse=True)
                err = (l.double() - torch.stack(rows))[keep].abs().max().item()
                check(err < 0.02, text + ": log-sum-exp, largest error %.4f" % err)
    f = torch.compile(lambda *t: attest.attention_with_kvcache(*t, causal=True) * 2, fullgraph=True)
    args = (q, k, v, qs, ks, vs, n)
    check(torch.equal(f(*args), attest.attention_with_kvcache(*args, causal=True) * 2), "kvcache, compiled")
    want = attest.attention_with_kvcache(*args, causal=True)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        o = attest.attention_with_kvcache(*args, causal=True)
    for _ in range(3):
        o.zero_()
        g.replay()
    torch.cuda.synchronize()
    check(torch.equal(o, want), "kvcache, graph replayed three times")


def packed():
    for h, hkv, d, most_q, most_k in ((8, 2, 64, 4, 600), (32, 8, 128, 1, 900), (4, 4, 128, 400, 400)):
        nq, nk = lengths_of(6, most_q), lengths_of(6, most_k)
        nk = torch.maximum(nk, nq)
        zero = torch.zeros(1, dtype=torch.int32, device=dev)
        cq, ck = torch.cat([zero, nq.cumsum(0).int()]), torch.cat([zero, nk.cumsum(0).int()])
        q, qs = attest.quantize(torch.randn(int(cq[-1]), h, d, device=dev))
        k, ks = attest.quantize(torch.randn(int(ck[-1]), hkv, d, device=dev))
        v, vs = attest.quantize(torch.randn(int(ck[-1]), hkv, d, device=dev))
        text = "varlen H=%d/%d D=%d, up to %d queries and %d keys" % (h, hkv, d, most_q, most_k)
        try:
            o = attest.attention_varlen(q, k, v, qs, ks, vs, cq, ck, most_q, most_k, causal=True)
        except attest.AttestError as e:
            print("      %s: refused: %s" % (text, str(e)[:200]))
            continue
        want = [one(*(t[c[i]:c[i + 1]].double() * s.double()[None, :, None] for t, c, s in ((q, cq, qs), (k, ck, ks), (v, ck, vs))), True)[0] for i in range(6)]
        near(o, torch.cat(want), text)


def dump():
    """Write outputs for the Go library: inputs are float32, and the names say the shape."""
    if len(sys.argv) < 3:
        return
    for shape in ((1, 8, 8, 512, 512, 64), (2, 8, 8, 256, 256, 64), (1, 4, 1, 64, 1024, 128), (1, 16, 16, 1024, 1024, 128), (2, 32, 8, 1, 4096, 128),
                  (3, 5, 5, 129, 129, 64), (2, 20, 20, 777, 777, 64), (1, 40, 8, 300, 1500, 128), (17, 3, 3, 200, 200, 128), (1, 6, 6, 3000, 3000, 64)):
        for causal in (0, 1):
            q, k, v = make(*shape, dtype=torch.float32)
            o = attest.attention(*quantised(q, k, v), causal=bool(causal), out_dtype=torch.float16)
            name = "-".join(map(str, shape + (causal,)))
            for part, t in (("q", q), ("k", k), ("v", v), ("o", o)):
                t.cpu().contiguous().numpy().tofile(os.path.join(sys.argv[2], name + "." + part))


def graphs():
    t = quantised(*make(2, 8, 8, 512, 512, 64))
    want = attest.attention(*t, causal=True)
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        attest.attention(*t, causal=True)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        o = attest.attention(*t, causal=True)
    o.zero_()
    g.replay()
    torch.cuda.synchronize()
    check(torch.equal(o, want), "CUDA graph")
    fresh = quantised(*make(2, 8, 8, 512, 512, 64))
    for a, b in zip(t, fresh):
        a.copy_(b)
    g.replay()
    torch.cuda.synchronize()
    check(torch.equal(o, attest.attention(*fresh, causal=True)), "CUDA graph with new inputs")


def streams():
    t = quantised(*make(4, 16, 16, 2048, 2048, 64))
    want = attest.attention(*t)
    torch.cuda.synchronize()
    s = torch.cuda.Stream()
    a, b, c, x, y, z = t
    with torch.cuda.stream(s):
        torch.cuda._sleep(50_000_000)
        k2 = b.clone()  # on s, behind the sleep: a kernel on another stream would read rubbish
        o = attest.attention(a, k2, c, x, y, z)
    s.synchronize()
    check(torch.equal(o, want), "another stream")


def refusals():
    q, k, v = make(1, 8, 8, 64, 64, 64)
    a, b, c, x, y, z = quantised(q, k, v)
    wide = quantised(*make(1, 8, 8, 64, 64, 80))
    cases = [("float16 inputs", TypeError, lambda: attest.attention(q, k, v, x, y, z)),
             ("wrong scales", ValueError, lambda: attest.attention(a, b, c, x[:3], y, z)),
             ("float64 scales", TypeError, lambda: attest.attention(a, b, c, x.double(), y, z)),
             ("not contiguous", ValueError, lambda: attest.attention(a.transpose(1, 2), b.transpose(1, 2), c.transpose(1, 2), x, y, z)),
             ("three dimensions", ValueError, lambda: attest.attention(a[0], b, c, x, y, z)),
             ("D = 80", RuntimeError, lambda: attest.attention(*wide)),
             ("on the CPU", (ValueError, RuntimeError), lambda: attest.attention(a.cpu(), b.cpu(), c.cpu(), x.cpu(), y.cpu(), z.cpu())),
             ("heads that do not divide", ValueError, lambda: attest.attention(a, b[:, :3].contiguous(), c[:, :3].contiguous(), x, y[:3], z[:3])),
             ("a mask", NotImplementedError, lambda: attest.sdpa(q, k, v, attn_mask=torch.ones(64, 64, device=dev))),
             ("a gradient", ValueError, lambda: attest.sdpa(q.requires_grad_(), k, v))]
    for name, kind, f in cases:
        try:
            f()
            check(False, "%s was accepted" % name)
        except kind as e:
            check(True, "%s: %s" % (name, str(e)[:160]))
        except Exception as e:
            check(False, "%s: %s %s" % (name, type(e).__name__, str(e)[:160]))
    for _ in range(2):  # a refusal is not remembered as a plan
        try:
            attest.attention(a.transpose(1, 2), b.transpose(1, 2), c.transpose(1, 2), x, y, z)
            check(False, "the second refusal")
        except ValueError:
            check(True, "refused again")
    check(attest.attention(a[:, :, :0], b, c, x, y, z).shape == (1, 8, 0, 64), "no query")
    qt = torch.randn(2, 50, 8, 64, device=dev, dtype=torch.bfloat16).transpose(1, 2)
    o = attest.sdpa(qt, qt, qt, is_causal=True)
    w = F.scaled_dot_product_attention(qt.float(), qt.float(), qt.float(), is_causal=True)
    check((o.float() - w).pow(2).mean().sqrt().item() < 0.06, "SDPA-like call with a transposed view")


class Block(torch.nn.Module):
    def __init__(self, dim, heads, attention):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(dim, 3 * dim), torch.nn.Linear(dim, dim)
        self.mlp = torch.nn.Sequential(torch.nn.LayerNorm(dim), torch.nn.Linear(dim, 4 * dim), torch.nn.GELU(), torch.nn.Linear(4 * dim, dim))
        self.norm, self.heads, self.attention = torch.nn.LayerNorm(dim), heads, attention

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, s, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(self.attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, d))
        return x + self.mlp(x)


def transformer():
    with torch.no_grad():
        model = torch.nn.Sequential(*[Block(512, 8, F.scaled_dot_product_attention) for _ in range(4)]).to(dev, torch.bfloat16).eval()
        x = torch.randn(2, 333, 512, device=dev, dtype=torch.bfloat16)
        want = model(x).float()
        for m in model:
            m.attention = attest.scaled_dot_product_attention
        got = model(x).float()
        rel = ((got - want).pow(2).mean().sqrt() / want.pow(2).mean().sqrt()).item()
        check(rel < 0.05, "transformer, eager: relative difference to SDPA %.4f" % rel)
        c = torch.compile(model)
        rel = ((c(x).float() - got).pow(2).mean().sqrt() / got.pow(2).mean().sqrt()).item()
        check(rel < 0.05, "transformer, compiled: relative difference %.4f" % rel)
        s = torch.cuda.Stream()
        with torch.cuda.stream(s):
            model(x)
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = model(x)
        g.replay()
        torch.cuda.synchronize()
        rel = ((y.float() - got).pow(2).mean().sqrt() / got.pow(2).mean().sqrt()).item()
        check(rel < 0.01, "transformer, graph: relative difference %.4f" % rel)


def host():
    t = quantised(*make(1, 8, 8, 64, 64, 64))
    q, k, v = make(1, 8, 8, 64, 64, 64)

    def per_call(f, n=2000):
        best = math.inf
        for _ in range(3):
            torch.cuda.synchronize()
            s = time.perf_counter()
            for _ in range(n):
                f()
            e = time.perf_counter()
            torch.cuda.synchronize()
            best = min(best, (e - s) / n * 1e6)
        return best
    with torch.no_grad():
        ours = per_call(lambda: attest.attention(*t))
        op = per_call(lambda: torch.ops.attest.attention(*t))
        sdpa = per_call(lambda: F.scaled_dot_product_attention(q, k, v))
    check(ours <= 15, "host time per call: attention %.1f us, torch.ops.attest.attention %.1f us, SDPA of PyTorch %.1f us" % (ours, op, sdpa))


def speed():
    for shape in ((1, 8, 8, 512, 512, 64), (4, 32, 32, 4096, 4096, 128)):
        t, (q, k, v) = quantised(*make(*shape)), make(*shape)
        for name, f in (("attest", lambda: attest.attention(*t)), ("SDPA", lambda: F.scaled_dot_product_attention(q, k, v))):
            f()
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                for _ in range(10):
                    f()
            g.replay()
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            for _ in range(5):
                g.replay()
            b.record()
            torch.cuda.synchronize()
            print("      %s %s: %.1f us" % (shape, name, a.elapsed_time(b) * 1e3 / 50))


for name, f in (("dump", dump), ("host", host), ("eager", eager), ("bits", bits), ("caches", caches), ("packed", packed), ("graphs", graphs),
                ("streams", streams), ("refusals", refusals), ("speed", speed), ("transformer", transformer), ("compiled", compiled)):
    if len(sys.argv) < 4 or name in sys.argv[3:]:
        section(name, f)
print("%s, %.0f s" % ("%d FAILED" % fails if fails else "all passed", time.time() - start))
sys.exit(fails > 0)
