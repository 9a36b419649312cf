"""PyTorch's scaled_dot_product_attention, one backend at a time."""

import math

import torch
import torch.nn.functional as F

import check
from refusals import Missing, Unsupported
from timed_torch import Timed

DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}


class Library:
    implementations = {name: ["f16", "bf16"] for name in ("flash", "cudnn", "efficient", "math")}

    def __init__(self):
        if not torch.cuda.is_available():
            raise Missing("PyTorch is here and sees no GPU")
        self.card = torch.cuda.get_device_properties(0)

    def hello(self):
        return {
            "versions": {
                "torch": torch.__version__,
                "cuda": torch.version.cuda or "",
                "cudnn": str(torch.backends.cudnn.version() or ""),
            },
            "device": self.card.name,
            "uuid": "GPU-" + str(getattr(self.card, "uuid", "")),
            "implementations": [{"name": n, "dtypes": d} for n, d in self.implementations.items()],
        }

    def prepare(self, request):
        name, dtype = request["implementation"], request["dtype"]
        if dtype not in self.implementations.get(name, []):
            raise Unsupported(f"{name} has no {dtype}")
        torch.cuda.empty_cache()  # what dropped cases left
        return self.case(request)

    def case(self, request):
        return Case(request)


class Case:
    """One call of attention: its inputs, and how it is launched."""

    def __init__(self, request):
        """Makes the inputs and runs once, so that refusals come here."""
        self.request, self.shape, self.k, self.v = request, tuple(request["q"]), tuple(request["k"]), tuple(request["v"])
        self.scale = request.get("scale") or 1 / math.sqrt(self.shape[3])
        self.l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0) or 64 << 20
        self.sets = [self.inputs(0)]
        self.note = self.choose()
        self.timed = Timed(self.launch)
        self.launch(0)
        torch.cuda.synchronize()

    def inputs(self, which):
        """Q, K and V of a set: from files for the first one, else from the seed."""
        dtype = DTYPES[self.request["dtype"]]
        files = self.request.get("inputs")
        if files and which == 0:
            given = [self.load(files[name], shape, DTYPES[files["dtype"]]) for name, shape in self.operands()]
            scales = files.get("scales")
            return self.scaled(given, scales, dtype) if scales else [x.to(dtype) for x in given]
        g = torch.Generator(device="cuda").manual_seed(self.request["seed"] + 1000 * which)
        return [torch.randn(shape, generator=g, device="cuda").to(dtype) for _, shape in self.operands()]

    def scaled(self, given, scales, dtype):
        """The numbers of files, times a scale for each batch and head."""
        if dtype.itemsize == 1:
            raise Unsupported("it takes no scales of heads")
        return [(x.float() * self.factors(scales[name])).to(dtype) for x, (name, _) in zip(given, self.operands())]

    def factors(self, scales):
        return torch.tensor(scales, dtype=torch.float32, device="cuda")[:, :, None, None]

    def operands(self):
        return [("q", self.shape), ("k", self.k), ("v", self.v)]

    def load(self, path, shape, dtype):
        with open(path, "rb") as f:
            data = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8)
        want = math.prod(shape) * dtype.itemsize
        if data.numel() != want:
            raise ValueError(f"{path} has {data.numel()} bytes, the shape needs {want}")
        return data.view(dtype).reshape(shape).cuda()

    def choose(self):
        """Picks what launch calls; returns a remark, or ""."""
        from torch.nn.attention import SDPBackend, sdpa_kernel

        causal = self.request["causal"]
        if causal and self.shape[2] != self.k[2]:
            raise Unsupported("its causal mask begins with the first key, not at the last one's end")
        options = {"scale": self.scale, "is_causal": causal, "enable_gqa": self.shape[1] != self.k[1]}
        backend = {
            "flash": SDPBackend.FLASH_ATTENTION,
            "cudnn": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION,
            "math": SDPBackend.MATH,
        }[self.request["implementation"]]

        def call(q, k, v):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, **options)

        self.call = call
        try:
            with torch.no_grad():
                call(*self.sets[0])
        except RuntimeError as e:
            if "No available kernel" in str(e):
                raise Unsupported(f"{self.request['implementation']} has no kernel for Q {list(self.shape)}, K {list(self.k)}, V {list(self.v)} in {self.request['dtype']}") from e
            raise
        return ""

    def launch(self, which):
        with torch.no_grad():
            self.out = self.call(*self.sets[which])

    def set_bytes(self):
        out = self.out.numel() * self.out.element_size()
        return sum(x.numel() * x.element_size() for x in self.sets[0]) + out

    def need_sets(self):
        """As many sets as are gone from the L2 cache when their turn comes again."""
        need = max(2, -(-3 * self.l2 // self.set_bytes()))
        while len(self.sets) < need:
            self.sets.append(self.inputs(len(self.sets)))
        return need

    def warm_up(self, ms):
        self.timed.warm_up(ms)

    def run(self, n, mode, cache):
        cold = cache == "cold"
        sets = self.need_sets() if cold else 1
        if mode == "graph":
            micros, launches = self.timed.replays(n, sets)
        else:
            micros, launches = self.timed.events(n, sets, 2 * self.l2 if cold else 0), 1
        return {"micros": micros, "launches": launches, "sets": sets, "clock": "events"}

    def output(self, path):
        """Runs once more on the first set and says how right that is."""
        self.launch(0)
        out = self.result().float().cpu().contiguous()
        if path:
            with open(path, "wb") as f:
                f.write(out.numpy().tobytes())
        head = lambda x, b, h: self.as_given(x)[b, h].double().cpu().numpy()
        return {
            "checksum": check.checksum(out.numpy()),
            "error": check.errors(self.request, self.scale, head, lambda b, h, s: out[b, h, s].numpy()),
        }

    def rows(self, places, path):
        """Runs once more on the first set and writes the rows of O at [b, h, s]."""
        self.launch(0)
        b, h, s = torch.tensor(places, device="cuda").T
        with open(path, "wb") as f:
            f.write(self.result()[b, h, s].float().cpu().contiguous().numpy().tobytes())

    def as_given(self, i):
        """Q, K or V of the first set, in the shape of the case."""
        return self.sets[0][i]

    def result(self):
        """O, in the shape of the case."""
        return self.out
