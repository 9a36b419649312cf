"""cuDNN's attention as JAX calls it, in 16 bits and in FP8.

JAX shows no events and no graphs. A sample is one compiled loop of many calls,
each of which waits for the one before, by the host's clock; what starting the
loop costs is divided by their number too.
"""

import math
import os
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others use the card too

import jax
import jax.numpy as jnp
import jaxlib
import numpy

import check
from refusals import Missing, Unsupported

LOOP_MICROS = 20_000.0  # how long a loop should last, so that its start is little of it
MOST_SETS = 4  # the sets of a cold loop stand in it one after another
SCALE_S, SCALE_O = 256.0, 64.0  # of P and O, which are bytes too

DTYPES = {"f16": jnp.float16, "bf16": jnp.bfloat16, "f32": jnp.float32, "e4m3": jnp.float8_e4m3fn, "e5m2": jnp.float8_e5m2}


def fp8_params():
    one = lambda x: jnp.full((1, 1, 1, 1), x, jnp.float32)
    names = ["amax_dQ", "amax_dK", "amax_dV", "amax_dP", "descale_q", "descale_k", "descale_v", "descale_dO", "descale_dP",
             "scale_dQ", "scale_dK", "scale_dV", "scale_dP"]
    p = {n: one(1.0) for n in names}
    p["descale_s"], p["scale_s"], p["scale_o"], p["descale_o"] = one(1 / SCALE_S), one(SCALE_S), one(SCALE_O), one(1 / SCALE_O)
    return p


class Library:
    implementations = {"cudnn": ["f16", "bf16", "e4m3"]}

    def __init__(self):
        cards = [d for d in jax.devices() if d.platform == "gpu"]
        if not cards:
            raise Missing("JAX is here and sees no GPU")
        self.card = cards[0]

    def hello(self):
        return {
            "versions": {"jax": jax.__version__, "jaxlib": jaxlib.__version__},
            "device": self.card.device_kind,
            "uuid": "",
            "implementations": [{"name": n, "dtypes": d} for n, d in self.implementations.items()],
        }

    def prepare(self, request):
        name, dtype = request["implementation"], request["dtype"]
        if dtype not in self.implementations.get(name, []):
            raise Unsupported(f"{name} has no {dtype}")
        return Case(request)


class Case:
    def __init__(self, request):
        self.request, self.shape, self.k, self.v, self.loops = request, tuple(request["q"]), tuple(request["k"]), tuple(request["v"]), {}
        self.scale = request.get("scale") or 1 / math.sqrt(self.shape[3])
        self.sets = [self.inputs(0)]
        self.choose()
        self.once = jax.jit(self.call)
        try:
            self.once(*self.sets[0])[0].block_until_ready()
        except (NotImplementedError, ValueError) as e:
            raise Unsupported(str(e).splitlines()[0]) from e
        self.note = "layout [B, S, H, D], " + ("output in e4m3" if self.eight_bits() else "with a slice of one element after each call")

    def eight_bits(self):
        return self.request["dtype"] == "e4m3"

    def inputs(self, which):
        """Q, K and V as [B, S, H, D]."""
        dtype, files = DTYPES[self.request["dtype"]], self.request.get("inputs")
        if files and which == 0:
            if files.get("scales"):
                raise Unsupported("its inputs have no scales of heads")
            given = [self.load(files[n], s, DTYPES[files["dtype"]]) for n, s in self.operands()]
        else:
            keys = jax.random.split(jax.random.key(self.request["seed"] + 1000 * which), 3)
            given = [jax.random.normal(k, s, jnp.float32) for k, (_, s) in zip(keys, self.operands())]
        return [jnp.transpose(x, (0, 2, 1, 3)).astype(dtype) for x in given]

    def operands(self):
        return [("q", self.shape), ("k", self.k), ("v", self.v)]

    def load(self, path, shape, dtype):
        data = numpy.fromfile(path, dtype=numpy.dtype(dtype))
        if data.size != math.prod(shape):
            raise ValueError(f"{path} has {data.size} elements, the shape needs {math.prod(shape)}")
        return jnp.asarray(data.reshape(shape))

    def choose(self):
        """Sets call(q, k, v) to return the output and something small that follows from it."""
        causal = self.request["causal"]
        if causal and self.shape[2] != self.k[2]:
            raise Unsupported("its causal mask begins with the first key, not at the last one's end")
        if self.eight_bits():
            from jax._src.cudnn.fused_attention_stablehlo import MaskType, dot_product_attention

            params, mask = fp8_params(), MaskType.CAUSAL if causal else MaskType.NO_MASK

            def call(q, k, v):
                out, amax, _ = dot_product_attention(q, k, v, scale=self.scale, mask_type=mask, use_fp8=True, fp8_params=params)
                return out, amax.reshape(())

        else:

            def call(q, k, v):
                out = jax.nn.dot_product_attention(q, k, v, scale=self.scale, is_causal=causal, implementation="cudnn")
                return out, out[0, 0, 0, 0].astype(jnp.float32)

        self.call = call

    def set_bytes(self):
        q, _, v = self.sets[0]
        return sum(x.nbytes for x in self.sets[0]) + q.nbytes * v.shape[3] // q.shape[3]

    def loop(self, sets):
        """A compiled loop of so many rounds over the sets, and how many launches it is."""
        if sets in self.loops:
            return self.loops[sets]
        while len(self.sets) < sets:
            self.sets.append(self.inputs(len(self.sets)))

        def build(rounds):
            def whole(given):
                def body(_, made):
                    made = list(made)
                    for i, (q, k, v) in enumerate(given):  # each waits for what the one before made
                        q, _ = jax.lax.optimization_barrier((q, made[i - 1]))
                        made[i] = self.call(q, k, v)[1]
                    return tuple(made)  # what nobody asks for, the compiler leaves out

                return jax.lax.fori_loop(0, rounds, body, (jnp.float32(0),) * sets)

            f = jax.jit(whole).lower(self.sets[:sets]).compile()
            return lambda: jax.block_until_ready(f(self.sets[:sets]))

        few = build(10)
        few()
        each = self.clock(few) / (10 * sets)
        rounds = max(1, math.ceil(LOOP_MICROS / each / sets))
        run = build(rounds)
        run()
        self.loops[sets] = (run, rounds * sets)
        return self.loops[sets]

    def all_there(self, run, launches):
        """Refuses a loop over several sets of which the compiler left calls out."""
        warm, n = self.loop(1)
        if self.clock(run) / launches < 0.75 * self.clock(warm) / n:
            raise RuntimeError("a launch in a loop over several sets takes less than three quarters of one over the same set")

    def clock(self, f):
        start = time.perf_counter()
        f()
        return (time.perf_counter() - start) * 1e6

    def warm_up(self, ms):
        start, runs = time.monotonic(), 0
        while runs < 3 or (time.monotonic() - start) * 1000 < ms:
            self.once(*self.sets[0])[0].block_until_ready()
            runs += 1

    def run(self, n, mode, cache):
        if mode != "graph":
            raise Unsupported("JAX has no events: only back-to-back launches can be timed")
        sets = 1
        if cache == "cold":
            sets = max(2, -(-3 * (64 << 20) // self.set_bytes()))
            if sets > MOST_SETS:
                raise Unsupported(f"a cold loop would need {sets} sets of inputs, which JAX would compile into one program")
        run, launches = self.loop(sets)
        run()
        self.all_there(run, launches)
        return {"micros": [self.clock(run) / launches for _ in range(n)], "launches": launches, "sets": sets, "clock": "host"}

    def output(self, path):
        out = jnp.transpose(self.once(*self.sets[0])[0], (0, 2, 1, 3)).astype(jnp.float32)
        out = numpy.asarray(out / SCALE_O if self.eight_bits() else out)
        if path:
            out.tofile(path)
        head = lambda x, b, h: numpy.asarray(self.sets[0][x][b, :, h].astype(jnp.float32))
        return {"checksum": check.checksum(out), "error": check.errors(self.request, self.scale, head, lambda b, h, s: out[b, h, s])}

    def rows(self, places, path):
        """Writes the rows of O at [b, h, s]."""
        b, h, s = numpy.array(places).T
        out = numpy.asarray(self.once(*self.sets[0])[0])[b, s, h].astype(numpy.float32)
        (out / SCALE_O if self.eight_bits() else out).tofile(path)
