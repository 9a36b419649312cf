"""Attention kernels in Triton, timed as PyTorch's are: one for many queries, one for few."""

import torch
import triton

import decode_triton
import fused_triton
import on_torch
from refusals import Unsupported
from timed_torch import Timed

# Rows of a block, keys of a step, warps, stages. All of them are tried, and the fastest is timed.
CONFIGS = [
    (64, 64, 4, 3),
    (128, 64, 4, 3),
    (128, 64, 8, 3),
    (128, 128, 8, 2),
    (128, 128, 8, 3),
    (64, 32, 4, 3),
    (32, 32, 4, 2),
]

# Keys of a step, warps, stages, and blocks per SM that split the keys.
DECODE_CONFIGS = [(n, warps, stages, waves) for n, warps, stages in ((64, 4, 3), (128, 4, 3), (128, 8, 3), (32, 4, 4)) for waves in (1, 2, 4)]

MOST_DECODE_ROWS = 64  # queries times the query heads that share a head of K


class Library(on_torch.Library):
    implementations = {"fused": ["f16", "bf16", "e5m2", "e4m3"], "decode": ["f16", "bf16", "e5m2", "e4m3"]}

    def hello(self):
        h = super().hello()
        h["versions"]["triton"] = triton.__version__
        return h

    def case(self, request):
        return Decode(request) if request["implementation"] == "decode" else Fused(request)


class Case(on_torch.Case):
    """A case whose configuration is found by timing all of them."""

    def one_head_dim(self):
        if self.k != self.v:
            raise Unsupported(f"this kernel takes K and V of one size, not K {list(self.k)}, V {list(self.v)}")

    def eight_bits(self):
        return self.request["dtype"] in ("e4m3", "e5m2")

    def empty_results(self):
        self.results = torch.empty(self.shape, dtype=torch.bfloat16 if self.request["dtype"] == "bf16" else torch.float16, device="cuda")

    def fastest(self, candidates):
        """Keep the fastest of (name, bind) and return its name. bind(q, k, v) returns a launch."""
        best, reasons = None, []
        for name, bind in candidates:
            call = self.remember(bind)
            try:
                micros = Timed(lambda _: call(*self.sets[0])).shortest()
            except Exception as e:  # out of shared memory, or a compiler that gives up
                reasons.append(f"{name}: {type(e).__name__}: {(str(e) or '-').splitlines()[0]}")
                continue
            if best is None or micros < best[0]:
                best = (micros, name, call)
        if best is None:
            raise Unsupported("no configuration works: " + "; ".join(reasons[:2]))
        _, name, self.call = best
        return name

    def remember(self, bind):
        """Return a call that binds each set of inputs only once."""
        bound = {}

        def call(q, k, v):
            if v.data_ptr() not in bound:
                bound[v.data_ptr()] = bind(q, k, v)
            bound[v.data_ptr()]()
            return self.results

        return call


class Fused(Case):
    def inputs(self, which):
        """Bytes of V are kept transposed: the tensor cores want them so."""
        q, k, v = super().inputs(which)
        if self.eight_bits():
            v = v.transpose(2, 3).contiguous()
        return [q, k, v]

    def as_given(self, i):
        x = self.sets[0][i]
        return x.transpose(2, 3) if i == 2 and self.eight_bits() else x

    def choose(self):
        self.one_head_dim()
        queries, d, keys = *self.shape[2:], self.k[2]
        if d not in (32, 64, 128, 256) or queries % 32 or keys % 32:
            raise Unsupported(f"this kernel takes D of 32, 64, 128 or 256 and S in steps of 32, not Q {list(self.shape)}, K {list(self.k)}")
        if self.request["causal"] and queries != keys:
            raise Unsupported("this kernel's causal mask needs as many keys as queries")
        self.empty_results()
        note = None
        for kind in ["descriptors", "pointers"] if fused_triton.has_descriptors() else ["pointers"]:
            try:
                note = self.fastest(list(self.candidates(kind, queries, keys)))
                break
            except Unsupported as e:
                refused = e
        if note is None:
            raise refused
        return note + (", V stored transposed" if self.eight_bits() else "")

    def candidates(self, kind, queries, keys):
        for config in CONFIGS:
            if queries % config[0] or keys % config[1]:
                continue
            yield "%s, blocks %dx%d, %d warps, %d stages" % (kind, *config), lambda q, k, v, config=config: fused_triton.bind(
                kind, q, k, v, self.results, self.scale, config, self.eight_bits(), self.request["causal"]
            )


class Decode(Case):
    def choose(self):
        self.one_head_dim()
        rows, d = self.shape[1] // self.k[1] * self.shape[2], self.shape[3]
        if d not in (32, 64, 128, 256) or rows > MOST_DECODE_ROWS:
            raise Unsupported(f"this kernel takes D of 32, 64, 128 or 256 and at most {MOST_DECODE_ROWS} rows per head of K, not Q {list(self.shape)}, K {list(self.k)}")
        self.empty_results()
        return self.fastest(
            ("keys by %d, %d warps, %d stages, %d blocks per SM" % config,
             lambda q, k, v, config=config: decode_triton.bind(q, k, v, self.results, self.scale, config, self.request["causal"]))
            for config in DECODE_CONFIGS
        )
