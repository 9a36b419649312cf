"""FlashAttention-3, timed as PyTorch's attention is."""

from importlib import metadata

import flash_attn_interface

import on_torch
import torch
from refusals import Unsupported
from timed_torch import Timed

# num_splits 0 lets the library choose into how many parts it splits the keys; its default is one part.
OPTIONS = [{}, {"num_splits": 0}, {"num_splits": 0, "pack_gqa": True}]

# The options that were the fastest, by case, for cases that differ only in their inputs.
FASTEST = {}


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

    scales = {}  # the options q_descale, k_descale and v_descale, if the inputs have scales

    def scaled(self, given, scales, dtype):
        """Bytes stay as they are, with a scale for each batch and head of K."""
        if dtype.itemsize > 1:
            return super().scaled(given, scales, dtype)
        if self.shape[1] != self.k[1]:
            raise Unsupported("query heads that share a head of K must have the same scale")
        self.scales = {name + "_descale": torch.tensor(scales[name], dtype=torch.float32, device="cuda") for name in "qkv"}
        return given

    def inputs(self, which):
        return [x.transpose(1, 2).contiguous() for x in super().inputs(which)]

    def as_given(self, i):
        x = self.sets[0][i].transpose(1, 2)
        return x.float() * self.scales["qkv"[i] + "_descale"][:, :, None, None] if self.scales else x

    def result(self):
        return self.out.transpose(1, 2)

    def choose(self):
        """Try the ways to split keys and to pack heads that the library leaves to its caller, and keep the fastest."""
        if self.k != self.v and left_out("HDIMDIFF192"):
            raise Unsupported("this build has no kernels for V with another head dimension than K")
        case = (self.shape, self.k, self.v, self.request["causal"], self.request["dtype"], bool(self.scales))
        if case in FASTEST:
            extra = FASTEST[case]
            self.call = self.bind(extra)
            return self.remark(extra)
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
        FASTEST[case] = extra
        return self.remark(extra)

    def remark(self, extra):
        return ", ".join(["layout [B, S, H, D]", *(f"{name} {value}" for name, value in extra.items())])

    def bind(self, extra):
        options = {"softmax_scale": self.scale, "causal": self.request["causal"], **self.scales, **extra}

        def call(q, k, v):
            out = flash_attn_interface.flash_attn_func(q, k, v, **options)
            return out[0] if isinstance(out, tuple) else out  # some versions return the LSE, too

        return call

    def refuse(self, e):
        """Raise Unsupported if the library says that it does not support the case."""
        if not isinstance(e, NotImplementedError) and not any(words in str(e) for words in ("does not support", "we only support")):
            raise e
        raise Unsupported(str(e).splitlines()[0]) from e
