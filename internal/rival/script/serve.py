"""Times the attention of an installed library, one JSON request a line.

Started by attest as: python serve.py torch|triton|jax [JOBS]
JOBS says what will be compiled, in JSON; compile_triton.py describes it. Each request has an "op"; each answer has "ok", and when that is false a "kind"
("missing", "unsupported" or "failed") and a "why" in words.
"""

import gc
import importlib
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys
import time
import traceback

from refusals import Missing, Unsupported

MOST_WORKERS, MOST_SECONDS = 14, 60  # of the processes that compile ahead


def clean(value):
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(v) for v in value]
    return value


def private_streams():
    """Keeps the protocol's ends of the pipes to this program.

    Libraries print to standard output, and the compilers that they start inherit
    standard input.
    """
    wire, requests = os.fdopen(os.dup(1), "w"), os.fdopen(os.dup(0), "r")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return requests, wire


class Server:
    """A library, and the cases that were prepared with it."""

    def __init__(self, library):
        try:
            module = importlib.import_module("on_" + library)
        except ImportError as e:
            raise Missing(f"{e}; install it, or name another Python with ATTEST_PYTHON") from e
        self.library = module.Library()
        self.cases = {}
        gc.freeze()  # the collections of drop need not look at what was imported

    def answer(self, request):
        op = request["op"]
        if op == "hello":
            return {"python": platform.python_version(), **self.library.hello()}
        if op == "prepare":
            case = self.library.prepare(request)
            self.cases[request["case"]] = case
            return {"note": case.note, "bytes": case.set_bytes()}
        if op == "drop":
            self.cases.pop(request["case"], None)
            gc.collect()  # a case and its timer refer to each other
            return {}
        case = self.cases[request["case"]]
        if op == "warmup":
            case.warm_up(request["ms"])
            return {}
        if op == "run":
            return case.run(request["n"], request["mode"], request["cache"])
        if op == "output":
            return case.output(request.get("file"))
        if op == "rows":
            case.rows(request["rows"], request["file"])
            return {}
        raise ValueError(f"no operation {op!r}")


class Ahead:
    """Processes that compile ahead what a library will need, for libraries with a compiler."""

    def __init__(self, library, jobs):
        script = importlib.util.find_spec("compile_" + library) if jobs else None
        count = min(max((os.cpu_count() or 1) - 2, 1), MOST_WORKERS) if script else 0
        self.end = time.monotonic() + MOST_SECONDS
        self.workers = [
            subprocess.Popen([sys.executable, script.origin, jobs[0], str(i), str(count)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for i in range(count)
        ]

    def wait(self):
        """Wait for them: they use the GPU, too. What they have not compiled in time is compiled when it is timed."""
        for worker in self.workers:
            try:
                worker.wait(max(self.end - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                worker.kill()
        self.workers = []


def safely(work):
    try:
        return {"ok": True, **work()}
    except Missing as e:
        return {"ok": False, "kind": "missing", "why": str(e)}
    except Unsupported as e:
        return {"ok": False, "kind": "unsupported", "why": str(e)}
    except Exception as e:
        traceback.print_exc()
        first = (str(e) or "no message").splitlines()[0]
        return {"ok": False, "kind": "failed", "why": f"{type(e).__name__}: {first}"}


def main():
    requests, wire = private_streams()
    server, ahead = None, Ahead(sys.argv[1], sys.argv[2:])
    for line in requests:
        request = json.loads(line)
        if request["op"] == "close":
            break

        def work():
            nonlocal server
            if server is None:
                server = Server(sys.argv[1])
            ahead.wait()
            return server.answer(request)

        json.dump(clean(safely(work)), wire, allow_nan=False)
        wire.write("\n")
        wire.flush()


main()
