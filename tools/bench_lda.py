"""Log joint a token against wall time: our unsupervised kernels and tomotopy's LDA with one worker, one run.

python tools/bench_lda.py [--data DIR] [--topics 100 400 1000] [--kernels sparse dense] [--csv FILE] [--smoke]

Needs tomotopy (pip install tomotopy). With --data, 20ng_counts below DIR is the corpus, otherwise the made-up
one of bench_kernels.py. alpha = .1, beta = .01. The samplers take turns, some sweeps each, so that what else
the machine does meets all of them. Time is wall time of everything between data in memory and the state:
our chain's construction with its start, tomotopy's preparation. The log joint is log p(w, z) / N, computed
outside the time: ours by plugsamp.diagnostics, tomotopy's by itself (`ll_per_word`); at the end tomotopy's
state is evaluated by our formula too, and a difference stops the run.

Prints, for each level of the log joint, the seconds to reach it (interpolated) and their ratio to tomotopy's.
A kernel is NAME or NAME:OPTION=VALUE,..., such as sparse:start=random.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time

import numpy as np
import tomotopy
from bench_peer import documents

import plugsamp as ps
from plugsamp.diagnostics import log_documents, log_topics

ALPHA, BETA = 0.1, 0.01
#: What to reach, by topics; the last counts.
LEVELS = {100: (-9.0, -8.8, -8.6), 400: (-9.4, -9.2, -9.0), 1000: (-10.0, -9.8, -9.7)}
STEP = 2


class Ours:
    """A chain, its seconds and its log joint."""

    def __init__(self, data, n_topics: int, given: str):
        name, _, options = given.partition(":")
        options = dict(part.split("=") for part in options.split(",") if part)
        kernel = ps.registry.resolve("kernels", name, **options)
        start = time.perf_counter()
        self.chain = ps.Chain(data, ps.Model(n_topics, ALPHA, BETA, loss="none"), kernel)
        self.seconds, self.n_tokens = time.perf_counter() - start, data.n_tokens

    def run(self, n: int) -> None:
        start = time.perf_counter()
        self.chain.run(n)
        self.seconds += time.perf_counter() - start

    def log_joint(self) -> float:
        return self.chain.log_joint()["words"] / self.n_tokens


class Peer:
    """tomotopy's LDA with one worker."""

    def __init__(self, data, n_topics: int):
        self.data, self.n_topics = data, n_topics
        self.model = tomotopy.LDAModel(k=n_topics, alpha=ALPHA, eta=BETA, seed=0)
        for first, last in zip(data.offsets, data.offsets[1:], strict=False):
            if last > first:
                self.model.add_doc([str(w) for w in data.words[first:last]])
        self.model.optim_interval = 0
        self.seconds = 0.0
        self.run(0)

    def run(self, n: int) -> None:
        start = time.perf_counter()
        self.model.train(n, workers=1)
        self.seconds += time.perf_counter() - start

    def log_joint(self) -> float:
        return self.model.ll_per_word

    def by_our_formula(self) -> float:
        """The log joint of the model's state, by plugsamp.diagnostics."""
        table = np.zeros((len(self.model.used_vocabs), self.n_topics), np.int32)
        rows = []
        for document in self.model.docs:
            topics = np.asarray(document.topics)
            np.add.at(table, (np.asarray(document.words), topics), 1)
            rows.append(np.unique(topics, return_counts=True))
        indptr = np.cumsum([0] + [len(topics) for topics, _ in rows])
        topics, counts = (np.concatenate(part) for part in zip(*rows, strict=True))
        lengths = np.array([len(document.words) for document in self.model.docs])
        total = log_documents(indptr, topics, counts, lengths, np.full(self.n_topics, ALPHA))
        return (total + log_topics(table, table.sum(axis=0), BETA)) / lengths.sum()


def seconds_to(curve, level: float) -> float:
    """Seconds at which a curve of (sweep, seconds, log joint) first reaches a level; NaN if never."""
    before = None
    for _, seconds, value in curve:
        if value >= level:
            if before is None:
                return seconds
            share = (level - before[1]) / (value - before[1])
            return before[0] + share * (seconds - before[0])
        before = seconds, value
    return float("nan")


def curves(data, n_topics: int, kernels, goal: float | None, sweeps: int):
    """{name: [(sweep, seconds, log joint), ...]}, each until the goal or so many sweeps."""
    runs = {"tomotopy": Peer(data, n_topics), **{name: Ours(data, n_topics, name) for name in kernels}}
    found = {name: [(0, run.seconds, run.log_joint())] for name, run in runs.items()}
    waiting = dict(runs)
    for sweep in range(STEP, sweeps + 1, STEP):
        for name, run in list(waiting.items()):
            run.run(STEP)
            found[name].append((sweep, run.seconds, run.log_joint()))
            if goal is not None and found[name][-1][2] >= goal:
                del waiting[name]
        if not waiting:
            break
    ours, theirs = runs["tomotopy"].by_our_formula(), runs["tomotopy"].log_joint()
    if abs(ours - theirs) > 1e-3:
        sys.exit(f"the log joints are not the same quantity: {ours} by our formula, {theirs} by tomotopy")
    return found


def levels_for(n_topics: int, found) -> tuple:
    if n_topics in LEVELS:
        return LEVELS[n_topics]
    top = min(curve[-1][2] for curve in found.values())
    return tuple(top - back for back in (0.4, 0.2, 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of public corpora; without it documents are made up")
    parser.add_argument(
        "--topics",
        type=int,
        nargs="+",
        default=[100, 400, 1000],
        help="numbers of topics (default %(default)s)",
    )
    parser.add_argument(
        "--kernels", nargs="+", default=["sparse"], help="NAME or NAME:OPTION=VALUE,... (default %(default)s)"
    )
    parser.add_argument("--sweeps", type=int, default=300, help="at most (default %(default)s)")
    parser.add_argument("--csv", help="also write the curves to this file")
    parser.add_argument("--smoke", action="store_true", help="seconds: a small corpus, few topics and sweeps")
    given = parser.parse_args()
    topics, sweeps = ([10], 4) if given.smoke else (given.topics, given.sweeps)
    data = documents(None) if not given.smoke else ps.Corpus.from_counts(
        np.random.default_rng(0).poisson(0.2, size=(200, 300))
    )  # fmt: skip
    if given.data and not given.smoke:
        data = documents(given.data)
    rows = []
    for n_topics in topics:
        goal = LEVELS.get(n_topics, (None,))[-1] if given.data else None
        found = curves(data, n_topics, given.kernels, goal, sweeps)
        print(f"K={n_topics} N={data.n_tokens:,} tomotopy {tomotopy.__version__}; wall seconds (ratio) to")
        levels = levels_for(n_topics, found) if given.data else levels_for(0, found)
        print(
            f"  {'':28}" + "".join(f"{level:>17.3f}" for level in levels) + f"{'sweeps':>9}{'ns a token':>12}"
        )
        peer = [seconds_to(found["tomotopy"], level) for level in levels]
        for name, curve in found.items():
            times = [seconds_to(curve, level) for level in levels]
            cells = "".join(f"{t:9.2f} ({t / p:5.3f})" for t, p in zip(times, peer, strict=True))
            ns = 1e9 * (curve[-1][1] - curve[0][1]) / (curve[-1][0] * data.n_tokens)
            print(f"  {name:28}{cells}{curve[-1][0]:9}{ns:12.1f}", flush=True)
            rows += [(n_topics, name, *point) for point in curve]
    if given.csv:
        with open(given.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("topics", "sampler", "sweep", "seconds", "log_joint"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
