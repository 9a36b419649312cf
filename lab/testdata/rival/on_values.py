"""A library for tests, which wants to be given files: its attention is V, right, or rounded."""

import array
import math
import os
import struct


class Library:
    def hello(self):
        kinds = [{"name": name, "dtypes": ["f16"]} for name in ("first", "second", "right", "events", "coarse")]
        return {"versions": {"values": "1.0, nvcc 12.4"}, "device": "no card", "uuid": "GPU-0", "implementations": kinds}

    def prepare(self, request):
        return Case(request)


class Case:
    def __init__(self, request):
        self.request, self.values = request, load(request, "v")
        kind = request["implementation"]
        self.clock = "events" if kind == "events" else "host"
        if kind in ("right", "events", "coarse"):
            self.values = attention(request)
            if kind == "coarse":  # an output type with steps of 1/16
                self.values = array.array("f", (round(16 * x) / 16 for x in self.values))
        self.note = "given " + os.path.dirname(request["inputs"]["v"])

    def set_bytes(self):
        return 4096

    def warm_up(self, ms):
        pass

    def run(self, n, mode, cache):
        return {"micros": [200.0 + i % 3 for i in range(n)], "launches": 4, "sets": 1, "clock": self.clock}

    def rows(self, places, path):
        (_, heads, queries, _), dv = self.request["q"], self.request["v"][3]
        with open(path, "wb") as f:
            for b, h, s in places:
                at = ((b * heads + h) * queries + s) * dv
                self.values[at : at + dv].tofile(f)


def load(request, name):
    """Q, K or V from a file of half-precision numbers, or of e4m3 with a scale for each batch and head."""
    with open(request["inputs"][name], "rb") as f:
        data = f.read()
    if request["inputs"]["dtype"] == "f16":
        return array.array("f", (x for (x,) in struct.iter_unpack("<e", data)))
    _, heads, rows, d = request[name]
    scales = request["inputs"]["scales"][name]
    scale = lambda i: scales[i // (heads * rows * d)][i // (rows * d) % heads]
    return array.array("f", (e4m3(byte) * scale(i) for i, byte in enumerate(data)))


def e4m3(byte):
    exponent, fraction = byte >> 3 & 15, byte & 7
    size = math.ldexp(fraction, -9) if exponent == 0 else math.ldexp(8 + fraction, exponent - 10)
    return -size if byte & 0x80 else size


def attention(request):
    """O in plain Python, over a few rows."""
    (batch, heads, queries, d), (_, heads_kv, keys, _) = request["q"], request["k"]
    dv = request["v"][3]
    files = {name: load(request, name) for name in "qkv"}
    out = array.array("f")
    row = lambda x, at, n=d: x[at * n : (at + 1) * n]
    for b in range(batch):
        for h in range(heads):
            first = (b * heads_kv + h * heads_kv // heads) * keys
            for s in range(queries):
                seen = s + 1 + keys - queries if request["causal"] else keys
                q = row(files["q"], (b * heads + h) * queries + s)
                scores = [sum(map(float.__mul__, q, row(files["k"], first + j))) / math.sqrt(d) for j in range(seen)]
                top = max(scores)
                p = [math.exp(x - top) for x in scores]
                rows = [row(files["v"], first + j, dv) for j in range(seen)]
                out.extend(sum(map(float.__mul__, p, column)) / sum(p) for column in zip(*rows))
    return out
