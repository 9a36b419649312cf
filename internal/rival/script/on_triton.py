"""A fused attention kernel in Triton, timed as PyTorch's are."""

import torch
import triton

import fused_triton
import on_torch
from refusals import Unsupported
from timed_torch import Timed

# Rows of a block, keys of a step, warps, stages: tried in turn, the fastest stays.
CONFIGS = [
    (64, 64, 4, 3),
    (128, 64, 4, 3),
    (128, 64, 8, 3),
    (128, 128, 8, 2),
    (128, 128, 8, 3),
    (64, 32, 4, 3),
    (32, 32, 4, 2),
]


class Library(on_torch.Library):
    implementations = {"fused": ["f16", "bf16", "e5m2", "e4m3"]}

    def hello(self):
        h = super().hello()
        h["versions"]["triton"] = triton.__version__
        return h

    def case(self, request):
        return Case(request)


class Case(on_torch.Case):
    def inputs(self, which):
        """Bytes of V are kept transposed: the tensor cores want them so."""
        q, k, v = super().inputs(which)
        if self.eight_bits():
            v = v.transpose(2, 3).contiguous()
        return [q, k, v]

    def eight_bits(self):
        return self.request["dtype"] in ("e4m3", "e5m2")

    def as_given(self, i):
        x = self.sets[0][i]
        return x.transpose(2, 3) if i == 2 and self.eight_bits() else x

    def choose(self):
        queries, d, keys = *self.shape[2:], self.kv[2]
        if d not in (32, 64, 128) or queries % 32 or keys % 32:
            raise Unsupported(f"this kernel takes D of 32, 64 or 128 and S in steps of 32, not Q {list(self.shape)}, K {list(self.kv)}")
        if self.request["causal"] and queries != keys:
            raise Unsupported("this kernel's causal mask needs as many keys as queries")
        self.results = torch.empty(self.shape, dtype=torch.float16, device="cuda")
        if self.request["dtype"] == "bf16":
            self.results = self.results.to(torch.bfloat16)
        kinds = ["descriptors", "pointers"] if fused_triton.has_descriptors() else ["pointers"]
        best, reasons = None, []
        for kind in kinds:
            for config in CONFIGS:
                if queries % config[0] or keys % config[1]:
                    continue
                try:
                    micros = self.try_config(kind, config)
                except Exception as e:  # out of shared memory, or a compiler that gives up
                    reasons.append(f"{kind} {config}: {type(e).__name__}: {(str(e) or '-').splitlines()[0]}")
                    continue
                if best is None or micros < best[0]:
                    best = (micros, kind, config)
            if best:
                break
        if best is None:
            raise Unsupported("no configuration works: " + "; ".join(reasons[:2]))
        _, kind, config = best
        self.call = self.bind(kind, config)
        note = "%s, blocks %dx%d, %d warps, %d stages" % (kind, *config)
        if self.eight_bits():
            note += ", V stored transposed"
        return note

    def bind(self, kind, config):
        made = {}  # descriptors of a set, made once

        def call(q, k, v):
            if v.data_ptr() not in made:
                made[v.data_ptr()] = fused_triton.bind(kind, q, k, v, self.results, self.scale, config, self.eight_bits(), self.request["causal"])
            made[v.data_ptr()]()
            return self.results

        return call

    def try_config(self, kind, config):
        """The least of a few replays: launched one by one, a short kernel would wait for Python."""
        call = self.bind(kind, config)
        micros, _ = Timed(lambda _: call(*self.sets[0])).replays(3, 1)
        return min(micros)
