"""Parts of a sweep of the kernels that keep Φ as a variable: tables, topics of tokens, the draw of Φ.

python tools/sweep_parts.py [--data DIR] [--topics 100 1000] [--sweeps 5] [--warm-up 6]
                            [--kernels light_pc sparse_pc]

With --data, 20ng_counts below DIR is the corpus, otherwise the made-up one of bench_kernels.py. Prints CPU
nanoseconds a token, medians over sweeps after those of --warm-up from random topics, the share of Φ and
tables, and the ratio of the whole and of the tokens alone to those of the first number of topics. The chains
take turns, a sweep each, and ratios are medians over turns: what else the machine does changes all times
of a turn alike. The same for full kernels (light, alias), which have no Φ.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from bench_kernels import corpus

import plugsamp as ps


def documents(folder: str | None):
    if folder is None:
        return corpus(500_000, 0)
    path = Path(folder) / "20ng_counts" / "train.svm.gz"
    return ps.registry.resolve("readers", "svmlight", path=str(path)).read()[0]


def parts(chain) -> tuple[float, float, float]:
    """CPU seconds of the tables, tokens and topics of one more sweep."""
    sweep = chain.sweep + 1
    marks = [time.process_time()]
    chain.phases.sampler.refresh_words(0, chain.state.n_words)
    chain.phases.sampler.refresh(chain.seed, sweep)
    marks.append(time.process_time())
    chain.work.run("documents", sweep, chain.phases.n_document_blocks)
    marks.append(time.process_time())
    if chain.kernel.partial:
        chain._draw_phi(sweep)
    marks.append(time.process_time())
    chain.sweep = sweep
    return tuple(b - a for a, b in pairwise(marks))


def report(name: str, topics: list[int], times: np.ndarray) -> None:
    """One line each number of topics, from ns a token by turn, number of topics and part."""
    tokens, whole = times[:, :, 1], times.sum(axis=2)
    for at, n_topics in enumerate(topics):
        tables, middle, phi = np.median(times[:, at], axis=0)
        share = np.median(1 - tokens[:, at] / whole[:, at])
        ratios = np.median(whole[:, at] / whole[:, 0]), np.median(tokens[:, at] / tokens[:, 0])
        print(
            f"{name:12} {n_topics:6} {tables:8.1f} {middle:8.1f} {phi:8.1f} {np.median(whole[:, at]):8.1f} "
            f"{share:6.2f} {ratios[0]:6.2f} {ratios[1]:6.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of public corpora; without it documents are made up")
    parser.add_argument(
        "--topics", type=int, nargs="+", default=[100, 1000], help="numbers of topics (default %(default)s)"
    )
    parser.add_argument(
        "--sweeps", type=int, default=5, help="of which medians are taken (default %(default)s)"
    )
    parser.add_argument("--warm-up", type=int, default=6, help="sweeps before them (default %(default)s)")
    parser.add_argument(
        "--kernels", nargs="+", default=["light_pc", "sparse_pc"], help="names (default %(default)s)"
    )
    given = parser.parse_args()
    data = documents(given.data)
    print(f"N={data.n_tokens:,} V={data.n_words:,}; CPU ns a token")
    print("kernel            K   tables   tokens      phi      all  share  ratio  tokens' ratio")
    for name in given.kernels:
        chains = [
            ps.Chain(data, ps.Model(n_topics, alpha=0.1, beta=0.01, loss="none"), name)
            for n_topics in given.topics
        ]
        for chain in chains:
            chain.run(given.warm_up)
        turns = [[parts(chain) for chain in chains] for _ in range(given.sweeps)]
        report(name, given.topics, 1e9 * np.array(turns) / data.n_tokens)


if __name__ == "__main__":
    main()
