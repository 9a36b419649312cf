"""Whether a rival computes attention at all: a few rows in float64."""

import math

import numpy


def rows(q):
    """Eight heads and eight rows of each, spread evenly."""
    b, h, s, _ = q
    spread = lambda n: sorted({i * (n - 1) // 7 for i in range(8)}) if n > 1 else [0]
    return [(i // h, i % h, spread(s)) for i in spread(b * h)]


def row(q, k, v, scale):
    """Attention of one query to these keys, of which there may be none."""
    if len(k) == 0:
        return numpy.zeros(v.shape[1])
    scores = k @ q * scale
    p = numpy.exp(scores - scores.max())
    return p @ v / p.sum()


def errors(request, scale, head, out_row):
    """The largest and the mean error of out_row(b, h, s) against float64.

    head(x, b, h) gives a head of Q, K or V, which is x = 0, 1 or 2, as the library got it.
    """
    worst, total, count = 0.0, 0.0, 0
    (_, heads, queries, _), (_, heads_kv, keys, _) = request["q"], request["k"]
    for b, h, picked in rows(request["q"]):
        places = (h, h * heads_kv // heads, h * heads_kv // heads)
        q, k, v = (numpy.asarray(head(x, b, at), dtype=numpy.float64) for x, at in enumerate(places))
        for s in picked:
            seen = max(s + 1 + keys - queries, 0) if request["causal"] else keys
            want = row(q[s], k[:seen], v[:seen], scale)
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
