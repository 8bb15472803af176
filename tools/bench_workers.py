"""Worker processes against the serial backend: speed-up, overhead, start-up, and where the time goes.

python tools/bench_workers.py [--data DIR] [--cases supervised unsupervised ...] [--pairs 5] [--sweeps 3]
       [--workers 2] [--many 16] [--awake] [--parts speed ceiling overhead startup]

With --data, 20ng_counts below DIR is the corpus, otherwise the made-up one of bench_kernels.py. Chains take
turns, so that what else the machine does meets all of them; ratios are medians of pairs, with the range.

A busy machine lends workers less than whole cores, so next to wall time there is CPU time: the parent's own,
which is serial, and the workers'. And a bound: pieces timed one by one by the serial chain, laid on so many
workers as they get free, plus the parent's CPU time, with the pieces taking as much longer as they did in
the workers. It is what the ratio comes to on idle cores with memory to match, and what Amdahl makes of 64.

The ceiling is what the machine gives: as many serial chains as there are workers, which share nothing, all at
once against one alone, between the same pairs. Cores that share caches, memory or a host give less than their
number, and no division of the work can give more.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import statistics
import time
import warnings
from collections import defaultdict
from contextlib import contextmanager, nullcontext

import numpy as np
from bench_kernels import corpus
from twins import twins

import plugsamp as ps
from plugsamp.backends import processes
from plugsamp.fitting.running import trace_row

K = ps.kernels
CASES = {
    "supervised": (100, "hinge", K.Dense("partial")),
    "collapsed": (100, "hinge", K.Dense("full")),
    "unsupervised": (1000, "none", K.SparsePCLDA()),
    "rotated": (1000, "none", K.SparseLDA()),
}
BOUNDS = (2, 16, 64)


def documents(folder: str | None, supervised: bool):
    if folder is None:
        return corpus(1_200_000, 20 if supervised else 0)
    path = f"{folder}/20ng_counts/train.svm.gz"
    return ps.registry.resolve("readers", "svmlight", path=path).read().train


def cpu_of(pids) -> np.ndarray:
    """CPU seconds that processes have had, on Linux."""
    found = []
    for pid in pids:
        with open(f"/proc/{pid}/schedstat") as file:
            found.append(int(file.read().split()[0]) * 1e-9)
    return np.array(found)


class Meter:
    """Takes the time of a chain's parts: phases, and what the parent does between them."""

    #: What of the parent's work is named.
    SECTIONS = ("_draw_weights", "_draw_phi", "_spread_weights", "_draw_loss_parameters")

    def __init__(self, chain):
        self.chain, self.serial = chain, not hasattr(chain.work, "pids")
        self.clear()
        run = chain.work.run

        def timed(phase, sweep, n, **given):
            before, now = self._clocks(), time.perf_counter()
            if self.serial:
                result = []
                for piece in range(n):
                    start = time.process_time()
                    result += chain.phases.run(phase, sweep, [piece], given)
                    self.pieces[phase, piece].append(time.process_time() - start)
            else:
                result = run(phase, sweep, n, **given)
            self.wall[phase] += time.perf_counter() - now
            after = self._clocks()
            self.parent[phase] += after[0] - before[0]
            self.workers[phase] += float((after[1] - before[1]).sum())
            self.runs[phase].append(n)
            return result

        chain.work.run = timed
        for name in self.SECTIONS:
            setattr(chain, name, self._section(name.strip("_"), getattr(chain, name)))

    def clear(self) -> None:
        self.wall, self.parent, self.workers = (defaultdict(float) for _ in range(3))
        self.runs, self.pieces, self.sweeps = defaultdict(list), defaultdict(list), []
        self.total = [0.0, 0.0]

    def _clocks(self):
        return time.process_time(), cpu_of([] if self.serial else self.chain.work.pids)

    def _section(self, name, work):
        def timed(*arguments):
            inside = sum(self.parent.values())
            start = time.process_time()
            result = work(*arguments)
            inside = sum(self.parent.values()) - inside
            self.parent[name] += time.process_time() - start - inside
            return result

        return timed

    def sweep(self, n: int, trace: bool) -> float:
        """Do n sweeps; wall seconds of one."""
        before, start = self._clocks(), time.perf_counter()
        for info in self.chain.sweeps(n):
            if trace:
                begun, had = time.process_time(), sum(self.parent.values())
                trace_row(self.chain, info, 0.0)
                self.parent["trace"] += time.process_time() - begun - (sum(self.parent.values()) - had)
        seconds = (time.perf_counter() - start) / n
        after = self._clocks()
        self.total[0] += after[0] - before[0]
        self.total[1] += float((after[1] - before[1]).sum())
        self.sweeps.append(n)
        return seconds


def makespan(times, n: int) -> float:
    """When the last of `n` workers is done that take pieces in order as they get free."""
    free = [0.0] * n
    for t in times:
        heapq.heappush(free, heapq.heappop(free) + t)
    return max(free)


def bounds(serial: Meter, parallel: Meter, numbers):
    """By number of workers: serial CPU seconds over those of the parent and of its slowest worker."""
    n_serial, n_parallel = sum(serial.sweeps), sum(parallel.sweeps)
    whole = serial.total[0] / n_serial
    parent = parallel.total[0] / n_parallel
    worked = parallel.total[1] / n_parallel
    phases = defaultdict(dict)
    for (phase, piece), times in serial.pieces.items():
        phases[phase][piece] = sum(times) / n_serial
    sampled = sum(sum(p.values()) for p in phases.values())
    stretch = worked / sampled
    spans = {}
    for n in numbers:
        spans[n] = sum(
            max(makespan([p[i] for i in sorted(p)], n), sum(p.values()) / n) for p in phases.values()
        )
    return whole, parent, worked, stretch, {n: whole / (parent + stretch * s) for n, s in spans.items()}


@contextmanager
def chains(data, n_topics, loss, kernel, numbers):
    """A serial chain and some with workers, from the same topics."""
    first = ps.Chain(data.with_responses(None), ps.Model(n_topics, 0.1, 0.01, loss="none"), "sparse").run(10)
    model = ps.Model(n_topics, 0.1, 0.01, loss=loss)
    made = {0: ps.Chain(data, model, kernel, init=first.z)}
    for n in numbers:
        made[n] = ps.Chain(data, model, kernel, init=first.z, backend=ps.backends.Processes(workers=n))
    try:
        yield {n: Meter(chain) for n, chain in made.items()}
    finally:
        for chain in made.values():
            chain.close()


def ratio(above, below) -> str:
    return ranged(a / b for a, b in zip(above, below, strict=True))


def ranged(values) -> str:
    found = sorted(values)
    return f"{statistics.median(found):.2f} ({found[0]:.2f}-{found[-1]:.2f})"


def beside(chain, given):
    """Serial chains like `chain`, if the ceiling is asked for."""
    if "ceiling" not in given.parts:
        return nullcontext()
    return twins(given.workers, chain.corpus, chain.model, chain.kernel, chain.z, given.trace)


def speed(name: str, data, given) -> None:
    n_topics, loss, kernel = CASES[name]
    with (
        chains(data, n_topics, loss, kernel, (given.workers, given.many)) as meters,
        beside(meters[0].chain, given) as alike,
    ):
        outputs = meters[0].chain.state.n_outputs
        print(
            f"\n{name}: {kernel!r}, K={n_topics}, {outputs} outputs, N={data.n_tokens:,}, V={data.n_words:,}"
        )
        for meter in meters.values():
            meter.sweep(2, given.trace)
            meter.clear()
        walls = defaultdict(list)
        for pair in range(given.pairs):
            order = list(meters) if pair % 2 == 0 else list(meters)[::-1]
            for n in order:
                walls[n].append(meters[n].sweep(given.sweeps, given.trace))
            if alike is not None:
                alike.pair(given.sweeps, pair % 2 == 1)
        few, many = given.workers, given.many
        print(f"  wall, serial / {few} workers: {ratio(walls[0], walls[few])}")
        if alike is not None:
            print(
                f"  ceiling, {few} serial chains at once / one alone: {ranged(alike.throughput)}, CPU "
                f"{ranged(alike.cpu)} times that alone"
            )
            gained = [a / b for a, b in zip(walls[0], walls[few], strict=True)]
            print(f"  {few} workers' ratio / the ceiling: {ratio(gained, alike.throughput)}")
        print(f"  wall, {many} workers / {few}: {ratio(walls[many], walls[few])}")
        whole, parent, worked, stretch, bound = bounds(meters[0], meters[few], BOUNDS)
        print(
            f"  CPU ms a sweep: serial {1e3 * whole:.1f}; {few} workers: parent {1e3 * parent:.1f} "
            f"({parent / (parent + worked):.1%} of all), workers "
            f"{1e3 * worked:.1f} ({stretch:.2f} x the pieces)"
        )
        m = meters[many]
        total = sum(m.total) / sum(m.sweeps)
        print(f"  CPU, {many} workers / {few}: {total / (parent + worked):.2f}")
        if meters[few].chain.phases.division is None:
            print("  bound: " + ", ".join(f"{n} workers {b:.2f}x" for n, b in bound.items()))
        one, two = sum(meters[0].sweeps), sum(meters[few].sweeps)
        print("  part                 pieces  serial ms  largest  parent ms  workers ms  wall ms")
        names = dict.fromkeys([*meters[0].parent, *meters[few].parent])
        for part in names:
            here, there = meters[0], meters[few]
            pieces = [t for (p, _), t in here.pieces.items() if p == part]
            largest = max((statistics.median(t) for t in pieces), default=0.0)
            print(
                f"  {part:20} {len(pieces) or '':>6} {1e3 * here.parent[part] / one:10.2f} "
                f"{1e3 * largest:8.2f} {1e3 * there.parent[part] / two:10.2f} "
                f"{1e3 * there.workers[part] / two:11.2f} {1e3 * there.wall[part] / two:8.2f}"
            )
        rest = [(m.total[0] - sum(m.parent.values())) / sum(m.sweeps) for m in (meters[0], meters[few])]
        print(f"  {'the rest':20} {'':6} {1e3 * rest[0]:10.2f} {'':8} {1e3 * rest[1]:10.2f}", flush=True)


def spread(values) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} ({low:.2f}, {high:.2f})"


def overhead(given) -> None:
    """What a sweep costs more in one worker than here: all its messages and none of the gain."""
    for loss, kernel in (("hinge", K.Dense("partial")), ("none", K.SparsePCLDA())):
        data = corpus(500 * 170, 20 if loss == "hinge" else 0)
        model = ps.Model(20, loss=loss)
        serial = ps.Chain(data, model, kernel).run(5)
        with ps.Chain(data, model, kernel, backend=ps.backends.Processes(workers=1)) as one:
            one.run(5)
            more, cpu = [], []
            for _ in range(20 * given.pairs):
                marks = [time.process_time()]
                a = next(serial.sweeps(1)).seconds
                marks.append(time.process_time())
                before = cpu_of(one.work.pids).sum()
                b = next(one.sweeps(1)).seconds
                after = cpu_of(one.work.pids).sum()
                marks.append(time.process_time())
                more.append(1e3 * (b - a))
                cpu.append(1e3 * (after - before + marks[2] - 2 * marks[1] + marks[0]))
        print(f"overhead, 500 documents, {loss}, ms a sweep: wall {spread(more)}, CPU {spread(cpu)}")


def spent() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def startup(data, given) -> None:
    """From nothing to workers that know the chain, less the making of the chain itself."""
    model = ps.Model(100, loss="none")
    for n in (given.workers, given.many):
        more, cpu = [], []
        for _ in range(given.pairs):
            marks = [(time.perf_counter(), spent())]
            ps.Chain(data, model, "sparse_pc")
            marks.append((time.perf_counter(), spent()))
            ps.Chain(data, model, "sparse_pc", backend=ps.backends.Processes(workers=n)).close()
            marks.append((time.perf_counter(), spent()))
            wall, used = np.diff(marks, axis=0).T
            more.append(wall[1] - wall[0])
            cpu.append(used[1] - used[0])
        print(
            f"start-up and end of {n} workers, s: wall {statistics.median(more):.2f} ({min(more):.2f}-"
            f"{max(more):.2f}), CPU {statistics.median(cpu):.2f} of all processes"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of public corpora; without it documents are made up")
    parser.add_argument(
        "--cases", nargs="+", default=list(CASES), choices=list(CASES), help="models (default %(default)s)"
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        default=["speed", "ceiling", "overhead", "startup"],
        help="what is measured (default %(default)s)",
    )
    parser.add_argument(
        "--no-trace", dest="trace", action="store_false", help="sweeps alone, without log joint"
    )
    parser.add_argument("--awake", action="store_true", help="workers beyond the cores do not sleep")
    for name, default, what in (
        ("pairs", 5, "turns of both, of which medians are taken"), ("sweeps", 3, "of a chain in its turn"),
        ("workers", 2, "processes"), ("many", 16, "and so many of them, more than there are cores"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} (default %(default)s)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.awake:
        processes.cores.all_cores = lambda: given.many
    if "speed" in given.parts:
        for name in given.cases:
            data = documents(given.data, CASES[name][1] != "none")
            speed(name, data, given)
    if "overhead" in given.parts:
        overhead(given)
    if "startup" in given.parts:
        startup(documents(given.data, False), given)


if __name__ == "__main__":
    main()
