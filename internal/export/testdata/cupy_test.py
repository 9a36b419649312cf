"""Runs the exported file for CuPy: cupy_test.py FILE FOLDER writes inputs and outputs to the folder."""
import importlib.util
import os
import sys

import numpy

try:
    import cupy
except ImportError:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin"))
    import cupy
print("CuPy", getattr(cupy, "__version__", "is not installed: a stand-in with numpy arrays in managed memory"))

spec = importlib.util.spec_from_file_location("attest_attention", sys.argv[1])
attest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(attest)


def on_cpu(a):
    if hasattr(cupy, "asnumpy"):
        return cupy.asnumpy(a)
    cupy.ready()
    return numpy.array(a)


random = numpy.random.default_rng(5)
for b, h, hkv, sq, skv, d, causal in [
    (1, 8, 8, 512, 512, 64, 0), (3, 5, 5, 129, 129, 64, 1), (2, 8, 2, 4, 4096, 64, 0), (1, 8, 2, 300, 1000, 64, 1), (1, 2, 2, 5000, 5000, 64, 0),
]:
    x = {n: random.standard_normal(s, numpy.float32) for n, s in (("q", (b, h, sq, d)), ("k", (b, hkv, skv, d)), ("v", (b, hkv, skv, d)))}
    codes, scales = {}, {}
    for n, a in x.items():
        c, s = attest.quantize(cupy.asarray(a))
        codes[n], scales[n] = cupy.asarray(c), cupy.asarray(s)
    for _ in range(2):  # the second call uses the plan of the first
        o = attest.attention(codes["q"], codes["k"], codes["v"], scales["q"], scales["k"], scales["v"], causal=bool(causal))
    name = os.path.join(sys.argv[2], "-".join(map(str, (b, h, hkv, sq, skv, d, causal))))
    for n, a in x.items():
        a.tofile(name + "." + n)
    on_cpu(o).tofile(name + ".o")

q8, qs = codes["q"], scales["q"]
wrong = {
    "want 4": lambda: attest.attention(q8[0], q8, q8, qs, qs, qs),
    "want float32": lambda: attest.attention(q8, q8, q8, cupy.asarray(numpy.ones(2)), qs, qs),
    "do not fit": lambda: attest.attention(q8, q8, cupy.asarray(numpy.zeros((1, 1, 8, 64), numpy.uint8)), qs, qs, qs),
}
for text, call in wrong.items():
    try:
        call()
    except (TypeError, ValueError) as e:
        assert text in str(e), e
    else:
        raise AssertionError("no error with %r" % text)
