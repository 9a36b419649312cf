"""Whether a rival computes attention at all: a few rows in float64."""

import math

import numpy


def rows(shape):
    """Eight heads and eight rows of each, spread evenly."""
    b, h, s, _ = shape
    spread = lambda n: sorted({i * (n - 1) // 7 for i in range(8)}) if n > 1 else [0]
    return [(i // h, i % h, spread(s)) for i in spread(b * h)]


def errors(shape, scale, head, out_row):
    """The largest and the mean error of out_row(b, h, s) against float64.

    head(b, h) gives Q, K and V of a head as the library got them.
    """
    worst, total, count = 0.0, 0.0, 0
    for b, h, picked in rows(shape):
        q, k, v = (numpy.asarray(x, dtype=numpy.float64) for x in head(b, h))
        for s in picked:
            scores = k @ q[s] * scale
            p = numpy.exp(scores - scores.max())
            want = p @ v / p.sum()
            got = numpy.asarray(out_row(b, h, s), dtype=numpy.float64)
            diff = numpy.abs(got - want)
            if not numpy.isfinite(diff).all():
                return {"max": math.nan, "mean": math.nan, "rows": count}
            worst, total, count = max(worst, float(diff.max())), total + float(diff.mean()), count + 1
    return {"max": worst, "mean": total / count, "rows": count}


def checksum(out):
    """Of a float32 array: enough to see that two outputs are not the same."""
    out = numpy.asarray(out, dtype=numpy.float64)
    good = numpy.isfinite(out)
    return {"sum": float(out[good].sum()), "abs": float(numpy.abs(out[good]).sum()), "bad": int(out.size - good.sum())}
