"""Times calls that queue work on PyTorch's current stream.

As attest times its own: a kernel that only waits holds the stream until all of a
sample is queued behind it, so that Python is not in the figures. No sample is
dropped but those for which the wait was too short.
"""

import math
import time

import torch

GRAPH_MICROS = 1000.0  # how long a replay should last
LONG_MICROS = 10_000.0  # a replay of this length may have fewer launches than FEWEST
FEWEST, MOST, FEWEST_LONG = 10, 1000, 2


class Timed:
    def __init__(self, call):
        self.call = call  # call(set) queues one launch
        self.rubbish = None  # what fills the L2 cache for a cold start
        self.cycles = 200_000
        self.graphs = {}
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def between(self, queue, cold=False):
        while True:
            if cold:
                self.rubbish.fill_(7)
            torch.cuda._sleep(self.cycles)
            self.start.record()
            queue()
            self.end.record()
            late = self.start.query()
            self.end.synchronize()
            if not late:
                return self.start.elapsed_time(self.end) * 1000
            if self.cycles > 40_000_000:
                raise RuntimeError("the host does not manage to queue a launch within 20 ms: is it overloaded?")
            self.cycles *= 2

    def warm_up(self, ms):
        start, runs = time.monotonic(), 0
        while runs < 3 or (time.monotonic() - start) * 1000 < ms:
            self.call(0)
            torch.cuda.synchronize()
            runs += 1

    def events(self, n, sets, flush):
        """flush is how many bytes to write before each sample, 0 to start warm."""
        if not flush:
            self.call(0)
        elif self.rubbish is None:
            self.rubbish = torch.empty(flush, dtype=torch.uint8, device="cuda")
        return [self.between(lambda: self.call(i % sets), flush > 0) for i in range(n)]

    def replays(self, n, sets):
        graph, launches = self.graph(sets)
        graph.replay()
        torch.cuda.synchronize()
        return [self.between(graph.replay) / launches for _ in range(n)], launches

    def shortest(self):
        """The shortest of a few launches, to choose among kernels: one by one if each takes long, else in a graph."""
        one = lambda: self.between(lambda: self.call(0))
        self.call(0)
        if one() > GRAPH_MICROS:
            return min(one() for _ in range(3))
        return min(self.replays(3, 1)[0])

    def graph(self, sets):
        if sets not in self.graphs:
            graph = self.capture(FEWEST, 1)
            self.between(graph.replay)
            each = self.between(graph.replay) / FEWEST
            fewest = min(max(math.ceil(LONG_MICROS / each), FEWEST_LONG), FEWEST)
            launches = min(max(math.ceil(GRAPH_MICROS / each), fewest), MOST)
            launches = -(-launches // sets) * sets  # whole turns through the sets
            if (launches, sets) != (FEWEST, 1):
                graph = self.capture(launches, sets)
            self.graphs[sets] = (graph, launches)
        return self.graphs[sets]

    def capture(self, launches, sets):
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # what happens only once must not be captured
            for i in range(min(3, sets)):
                self.call(i)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(launches):
                self.call(i % sets)
        return graph
