"""A library for tests: what it does depends on the implementation asked for."""

import os
import sys
import time

from refusals import Unsupported


class Library:
    def hello(self):
        print("a library that greets on standard output")
        return {
            "versions": {"fake": "1.0"},
            "device": "no card",
            "uuid": "GPU-0",
            "implementations": [{"name": "good", "dtypes": ["f16"]}],
        }

    def prepare(self, request):
        how = request["implementation"]
        if how == "unsupported":
            raise Unsupported("fake has no such thing")
        if how == "raises":
            raise RuntimeError("CUDA error: everything is wrong\nwith a second line")
        if how == "dies":
            print("terminate called after throwing", file=sys.stderr)
            sys.stderr.flush()
            os._exit(3)
        if how == "hangs":
            time.sleep(600)
        if how == "subprocess":  # as a compiler would be started
            import subprocess

            subprocess.run([sys.executable, "-c", "import sys; sys.stdin.read(); print('compiled')"], check=True)
        return Case(request)


class Case:
    def __init__(self, request):
        self.request, self.warm = request, 0
        self.note = "seed %(seed)d, Q %(q)s, K %(k)s, V %(v)s, causal %(causal)s" % request

    def set_bytes(self):
        return 4096

    def warm_up(self, ms):
        self.warm += ms

    def run(self, n, mode, cache):
        if mode == "event":
            raise Unsupported("no events")
        first = 20.0 if cache == "cold" else 10.0
        return {"micros": [first + i / 100 for i in range(n)], "launches": 7, "sets": 1, "clock": "host"}

    def output(self, path):
        (b, h, s, _), d = self.request["q"], self.request["v"][3]
        if path:
            import array

            with open(path, "wb") as f:
                array.array("f", range(b * h * s * d)).tofile(f)
        nan = float("nan")
        return {"checksum": {"sum": 6.0, "abs": 6.0, "bad": 0}, "error": {"max": nan, "mean": 0.5, "rows": 4}}

    def rows(self, places, path):
        import array

        (_, h, s, _), d = self.request["q"], self.request["v"][3]
        with open(path, "wb") as f:
            for b, head, row in places:
                first = ((b * h + head) * s + row) * d
                array.array("f", range(first, first + d)).tofile(f)
