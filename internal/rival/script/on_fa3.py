"""FlashAttention-3, timed as PyTorch's attention is."""

from importlib import metadata

import flash_attn_interface

import on_torch
from refusals import Unsupported
from timed_torch import Timed

# num_splits 0 lets the library choose into how many parts it splits the keys; its default is one part.
OPTIONS = [{}, {"num_splits": 0}, {"num_splits": 0, "pack_gqa": True}]


def version():
    """Return the version of the package, or the one that a build of its source states."""
    try:
        return metadata.version("flash_attn_3")
    except metadata.PackageNotFoundError:
        return getattr(flash_attn_interface, "__version__", "unknown")


def left_out(feature):
    """Report whether a build of the source left a feature out. Such a build computes some cases with slower kernels."""
    try:
        import flash_attn_config
    except ImportError:  # a package, which has all features
        return False
    return flash_attn_config.CONFIG["build_flags"].get("FLASHATTENTION_DISABLE_" + feature, False)


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
        """Try the ways to split keys and to pack heads that the library leaves to its caller, and keep the fastest."""
        if self.k != self.v and left_out("HDIMDIFF192"):
            raise Unsupported("this build has no kernels for V with another head dimension than K")
        best = None
        for extra in OPTIONS:
            call = self.bind(extra)
            try:
                micros = Timed(lambda _: call(*self.sets[0])).shortest()
            except TypeError:  # a version without the option
                continue
            except RuntimeError as e:  # NotImplementedError is one, too
                if not extra:
                    self.refuse(e)
                continue
            if best is None or micros < best[0]:
                best = (micros, extra, call)
        _, extra, self.call = best
        return ", ".join(["layout [B, S, H, D]", *(f"{name} {value}" for name, value in extra.items())])

    def bind(self, extra):
        options = {"softmax_scale": self.scale, "causal": self.request["causal"], **extra}

        def call(q, k, v):
            out = flash_attn_interface.flash_attn_func(q, k, v, **options)
            return out[0] if isinstance(out, tuple) else out  # some versions return the LSE, too

        return call

    def refuse(self, e):
        """Raise Unsupported if the library says that it does not support the case."""
        if not isinstance(e, NotImplementedError) and not any(words in str(e) for words in ("does not support", "we only support")):
            raise e
        raise Unsupported(str(e).splitlines()[0]) from e
