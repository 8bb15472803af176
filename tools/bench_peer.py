"""Seconds a sweep of unsupervised kernels against tomotopy's LDA with one worker, in turn in one run.

python tools/bench_peer.py [--data DIR] [--topics 20 100] [--sweeps 5] [--rounds 3]

Needs tomotopy (pip install tomotopy). With --data, 20ng_counts below DIR is the corpus, otherwise the made-up
one of bench_kernels.py. Prints CPU nanoseconds a token, medians over rounds, and the ratio to tomotopy's;
both chains have done ten sweeps before the first round. alpha = .1, beta = .01. Time alone: the samplers do
not need the same number of sweeps.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import tomotopy
from bench_kernels import KERNELS, UNSUPERVISED, corpus

import plugsamp as ps

WARM_UP = 10


def documents(folder: str | None):
    if folder is None:
        return corpus(500_000, 0)
    path = Path(folder) / "20ng_counts" / "train.svm.gz"
    return ps.registry.resolve("readers", "svmlight", path=str(path)).read().train


def peer(data, n_topics: int):
    model = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=0.01, seed=0)
    for first, last in zip(data.offsets, data.offsets[1:], strict=False):
        if last > first:
            model.add_doc([str(w) for w in data.words[first:last]])
    model.optim_interval = 0
    return lambda n: model.train(n, workers=1)


def ours(data, n_topics: int, name: str, options: dict):
    kernel = ps.registry.resolve("kernels", name, **options)
    return ps.Chain(data, ps.Model(n_topics, alpha=0.1, beta=0.01), kernel).run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of public corpora; without it documents are made up")
    parser.add_argument(
        "--topics", type=int, nargs="+", default=[20, 100], help="numbers of topics (default %(default)s)"
    )
    parser.add_argument("--sweeps", type=int, default=5, help="of a chain in its turn (default %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=3, help="of turns, of which medians are taken (default %(default)s)"
    )
    given = parser.parse_args()
    data = documents(given.data)
    for n_topics in given.topics:
        runs = {"tomotopy": peer(data, n_topics)}
        for label, (name, options) in (KERNELS | UNSUPERVISED).items():
            if "exp" not in options.get("proposals", ()):
                runs[label] = ours(data, n_topics, name, options)
        for run in runs.values():
            run(WARM_UP)
        seconds: dict[str, list[float]] = {label: [] for label in runs}
        for _ in range(given.rounds):
            for label, run in runs.items():
                start = time.process_time()
                run(given.sweeps)
                seconds[label].append((time.process_time() - start) / given.sweeps)
        median = {label: statistics.median(times) for label, times in seconds.items()}
        print(f"K={n_topics} N={data.n_tokens:,}; CPU ns a token, ratio to tomotopy {tomotopy.__version__}")
        for label, value in median.items():
            ns, ratio = 1e9 * value / data.n_tokens, value / median["tomotopy"]
            print(f"  {label:20} {ns:7.1f} {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    main()
