"""Serial chains in processes of their own that share nothing: what the machine gives to several at once."""

from __future__ import annotations

import multiprocessing
import time
import warnings
from contextlib import contextmanager

import plugsamp as ps
from plugsamp.fitting.running import trace_row


def _chain(connection, data, model, kernel, z, trace: bool) -> None:
    """Do as many sweeps as told, again and again; 0 ends it."""
    warnings.simplefilter("ignore")
    chain = ps.Chain(data, model, kernel, init=z).run(2)
    connection.send(None)
    while n := connection.recv():
        start, used = time.perf_counter(), time.process_time()
        for info in chain.sweeps(n):
            if trace:
                trace_row(chain, info, 0.0)
        connection.send((time.perf_counter() - start, time.process_time() - used))


class Twins:
    """Some chains alike, which run alone or all at once."""

    def __init__(self, connections):
        self._connections = connections
        #: Of each pair, the wall and the CPU seconds of one chain's sweep: alone, and the others at work.
        self.alone, self.together = [], []

    def pair(self, n: int, swap: bool) -> None:
        for few in (True, False) if not swap else (False, True):
            at_work = self._connections[: 1 if few else None]
            for connection in at_work:
                connection.send(n)
            found = [connection.recv() for connection in at_work]
            wall, cpu = max(f[0] for f in found) / n, sum(f[1] for f in found) / len(found) / n
            (self.alone if few else self.together).append((wall, cpu))

    @property
    def throughput(self) -> list[float]:
        """Of each pair: sweeps in a second of all at once over those of one alone."""
        number = len(self._connections)
        return [number * a[0] / b[0] for a, b in zip(self.alone, self.together, strict=True)]

    @property
    def cpu(self) -> list[float]:
        """Of each pair: CPU time of a sweep with the others at work over that alone."""
        return [b[1] / a[1] for a, b in zip(self.alone, self.together, strict=True)]


@contextmanager
def twins(n: int, data, model, kernel, z, trace: bool):
    """`n` chains from topics `z`."""
    context = multiprocessing.get_context("spawn")
    processes, connections = [], []
    try:
        for _ in range(n):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_chain, args=(theirs, data, model, kernel, z, trace), daemon=True
            )
            process.start()
            processes.append(process)
            connections.append(ours)
        for connection in connections:
            connection.recv()
        yield Twins(connections)
        for connection in connections:
            connection.send(0)
        for process in processes:
            process.join(60)
    finally:
        for process in processes:
            process.kill()
            process.join()
