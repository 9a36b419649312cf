"""Times calls that queue work on PyTorch's current stream.

As attest times its own: a kernel that only waits holds the stream until all of a
sample is queued behind it, so that Python is not in the figures. No sample is
dropped but those for which the wait was too short.
"""

import math
import time

import torch

GRAPH_MICROS = 1000.0  # how long a replay should last
FEWEST, MOST = 10, 1000


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

    def graph(self, sets):
        if sets not in self.graphs:
            graph = self.capture(FEWEST, 1)
            self.between(graph.replay)
            each = self.between(graph.replay) / FEWEST
            launches = min(max(math.ceil(GRAPH_MICROS / each), FEWEST), MOST)
            launches = -(-launches // sets) * sets  # whole turns through the sets
            self.graphs[sets] = (self.capture(launches, sets), launches)
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
