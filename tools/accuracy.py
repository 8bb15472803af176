"""Test accuracy against sweeps and training seconds, with the settings of an experiment.

python tools/accuracy.py DATA_DIR [--experiment 20ng] [--topics 20 50 100 200 400] [--sweeps 60] [--every 10]
                         [--seeds 0] [OVERRIDE ...]

Overrides are those of `plugsamp fit` (weights.variance=0.001). Seconds are CPU seconds of the training
process, data reading and evaluation left out; BLAS is on one thread. Of each line, "last" predicts with the
last draw, "mean" with all draws kept since the burn-in (every fifth sweep from the middle on).
"""

from __future__ import annotations

import argparse
import time

import plugsamp as ps
from plugsamp import hydra_source
from plugsamp.commands import run_fit
from plugsamp.commands.fit import Settings
from plugsamp.fitting.recording import Recording
from plugsamp.hydra_source import compose


def accuracy(predictor, corpus) -> float:
    return float((predictor.predict(corpus).labels == corpus.responses.ravel()).mean())


def follow(chain, test, sweeps: int, every: int, label: str) -> None:
    kept = Recording(chain)
    cpu = 0.0
    while chain.sweep < sweeps:
        start = time.process_time()
        info = next(chain.sweeps(1))
        cpu += time.process_time() - start
        if chain.sweep > sweeps // 2 and chain.sweep % 5 == 0:
            kept.keep()
        if chain.sweep % every:
            continue
        last = Recording(chain)
        last.keep()
        mean = f"{accuracy(kept.draws(), test):.4f}" if kept.n_kept else "-"
        rate = 1e9 * cpu / chain.sweep / len(chain.state.z)
        print(
            f"{label:>10} sweep {chain.sweep:4d} {cpu:7.1f} s {rate:6.0f} ns/token"
            f"  last {accuracy(last.draws(), test):.4f}  mean {mean}  moved {info.moved:.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data_dir", help="folder of public corpora")
    parser.add_argument("--experiment", default="20ng", help="of conf/experiment (default %(default)s)")
    parser.add_argument(
        "--topics",
        type=int,
        nargs="+",
        default=[20, 50, 100, 200, 400],
        help="numbers of topics (default %(default)s)",
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[0], help="a chain each (default %(default)s)"
    )
    parser.add_argument("--sweeps", type=int, default=60, help="of a chain (default %(default)s)")
    parser.add_argument(
        "--every", type=int, default=10, help="sweeps between two evaluations (default %(default)s)"
    )
    parser.epilog = "Further arguments are overrides of `plugsamp fit`, such as weights.variance=0.001."
    given, overrides = parser.parse_known_args()
    train = test = None
    for n_topics in given.topics:
        for seed in given.seeds:
            wanted = [f"experiment={given.experiment}", f"data_dir={given.data_dir}", f"n_topics={n_topics}"]
            config = compose([*wanted, *overrides])
            settings = Settings.of(config)
            chosen = {g: hydra_source.object_of(g, config[g]) for g in hydra_source.CONFIG_GROUPS}
            if train is None:
                train, test = chosen["corpus"].read()
            chain = ps.Chain(
                train, run_fit.check(settings, chosen), chosen["kernel"], seed=seed,
                weight_update=settings.weight_update, weight_passes=settings.weight_passes,
            )  # fmt: skip
            follow(chain, test, given.sweeps, given.every, f"K={n_topics}/{seed}")


if __name__ == "__main__":
    main()
