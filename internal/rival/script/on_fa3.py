"""FlashAttention-3, timed as PyTorch's attention is."""

from importlib import metadata

import flash_attn_interface

import on_torch
from refusals import Unsupported


def version():
    """That of the package, or what a build of one's own says of itself."""
    try:
        return metadata.version("flash_attn_3")
    except metadata.PackageNotFoundError:
        return getattr(flash_attn_interface, "__version__", "unknown")


class Library(on_torch.Library):
    implementations = {"forward": ["f16", "bf16", "e4m3"]}

    def hello(self):
        h = super().hello()
        h["versions"]["fa3"] = version()
        return h

    def case(self, request):
        return Case(request)


class Case(on_torch.Case):
    """Its tensors are [B, S, H, D], and of bytes the output is in bf16."""

    def inputs(self, which):
        return [x.transpose(1, 2).contiguous() for x in super().inputs(which)]

    def as_given(self, i):
        return self.sets[0][i].transpose(1, 2)

    def result(self):
        return self.out.transpose(1, 2)

    def choose(self):
        options = {"softmax_scale": self.scale, "causal": self.request["causal"]}

        def call(q, k, v):
            out = flash_attn_interface.flash_attn_func(q, k, v, **options)
            return out[0] if isinstance(out, tuple) else out  # some versions return the LSE, too

        self.call = call
        try:
            call(*self.sets[0])
        except RuntimeError as e:  # NotImplementedError is one, too
            if not isinstance(e, NotImplementedError) and "does not support" not in str(e):
                raise  # not a build with some of the kernels
            raise Unsupported(str(e).splitlines()[0]) from e
        return "layout [B, S, H, D]"
