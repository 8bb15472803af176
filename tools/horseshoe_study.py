"""Which topics speak for a response: the horseshoe and the normal prior, where the truth is known.

python tools/horseshoe_study.py [FOLDER] [--data-sets 10] [--smoke] [--no-plot]

Documents of K topics are simulated; a real response depends on few of them, and noise is added. The same
model is fitted with either prior, topics and weights together. Chains start at the true topics: asked is what
the priors make of the weights, not whether a chain finds the topics. FOLDER gets horseshoe_study.csv, a row a
data set, prior and topic, and the picture horseshoe_study.png of the first data set, which needs matplotlib:
pip install 'plugsamp[plots]'.

"Taken for a signal" is a topic whose posterior mean is at least a tenth of the largest of its fit.
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import plugsamp as ps

#: Weights of the signals in the units of y; the residual has standard deviation NOISE.
SIGNALS = (6.0, -5.0, 5.0, -4.0, 4.0)
NOISE = 0.5

#: Of the normal prior: the mean square of the true weights, which is the best that one variance can be.
VARIANCE = 3.0

PRIORS = {"normal": ps.priors.Normal(VARIANCE, intercept_variance=100.0), "horseshoe": ps.priors.Horseshoe()}


@dataclass(frozen=True)
class Size:
    """Of the simulation and of its fits."""

    documents: int = 250
    length: int = 150
    topics: int = 40
    words: int = 1000
    sweeps: int = 600


SMOKE = Size(documents=120, length=80, topics=12, words=200, sweeps=150)


def simulate(size: Size, seed: int):
    """A corpus, the topic of each token, and the weight of each topic (K,): signals are drawn at random."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(size.words, 0.03), size.topics)
    theta = rng.dirichlet(np.full(size.topics, 0.1), size.documents)
    n_topics = [rng.multinomial(size.length, row) for row in theta]
    counts, z = [], []
    for row in n_topics:
        words = np.array([rng.multinomial(n, phi[k]) for k, n in enumerate(row)]).T  # (V, K)
        counts.append(words.sum(axis=1))
        z.append(np.repeat(np.nonzero(words)[1], words[words > 0]))  # tokens by word, as a corpus has them
    weights = np.zeros(size.topics)
    weights[rng.choice(size.topics, len(SIGNALS), replace=False)] = SIGNALS
    y = 1.0 + np.array(n_topics) / size.length @ weights + rng.normal(0, NOISE, size.documents)
    return ps.Corpus.from_counts(np.array(counts), responses=y), np.concatenate(z), weights


def study(size: Size, seed: int) -> list[dict]:
    """Rows of one data set."""
    corpus, z, weights = simulate(size, seed)
    rows = []
    for name, prior in PRIORS.items():
        model = ps.Model(
            size.topics, alpha=0.1, beta=0.03, loss="gaussian", weights=prior, intercept=True
        )  # fmt: skip
        burn_in = size.sweeps // 3
        result = ps.fit(corpus, model, seed=seed, sweeps=size.sweeps, burn_in=burn_in, thin=1, init=z)
        eta = result.eta[:, 0, : size.topics]
        mean, (low, high) = eta.mean(axis=0), np.quantile(eta, (0.05, 0.95), axis=0)
        for k in range(size.topics):
            values = (weights[k], mean[k], low[k], high[k])
            rounded = dict(zip(("true", "mean", "low", "high"), (f"{v:.5f}" for v in values), strict=True))
            rows.append({"data_set": seed, "prior": name, "topic": k, **rounded})
    return rows


def outcome(rows: list[dict]) -> dict[str, float]:
    """What one prior makes of one data set."""
    true = np.array([float(row["true"]) for row in rows])
    mean = np.array([float(row["mean"]) for row in rows])
    size, signal = np.abs(mean), true != 0
    taken = size >= 0.1 * size.max()
    return {
        "signals taken": int(taken[signal].sum()),
        "others taken": int(taken[~signal].sum()),
        "largest other": float(size[~signal].max()),
        "median other": float(np.median(size[~signal])),
        "error of signals": float(np.sqrt(((mean - true)[signal] ** 2).mean())),
        "error of others": float(np.sqrt((mean[~signal] ** 2).mean())),
    }


def draw(rows: list[dict], path: Path) -> None:
    """The picture: posterior means and 90 % intervals, true weights behind them."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(len(PRIORS), 1, figsize=(8, 6), sharex=True, sharey=True)
    for panel, name in zip(panels, PRIORS, strict=True):
        mine = [row for row in rows if row["prior"] == name]
        true, mean, low, high = (
            np.array([float(row[key]) for row in mine]) for key in ("true", "mean", "low", "high")
        )
        order = np.argsort(-np.abs(true), kind="stable")
        true, mean, low, high = true[order], mean[order], low[order], high[order]
        place = np.arange(len(true))
        panel.axhline(0, color="0.8", linewidth=1, zorder=0)
        panel.scatter(place, true, marker="_", s=140, color="black", label="true weight", zorder=1)
        for part, colour, label in ((true != 0, "C3", "signal"), (true == 0, "C0", "other topic")):
            panel.vlines(place[part], low[part], high[part], color=colour, linewidth=1.5, zorder=2)
            panel.scatter(place[part], mean[part], s=22, color=colour, zorder=3, label=label)
        panel.set_title(f"{name} prior", loc="left")
        panel.set_ylabel("weight")
    panels[0].legend(frameon=False, loc="upper right")
    panels[-1].set_xlabel("topic, signals first: posterior mean and 90 % interval")
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path("horseshoe_study"), help="what is written (%(default)s)"
    )
    parser.add_argument("--data-sets", type=int, default=10, help="how many are simulated, seeds 0, 1, ...")
    parser.add_argument("--smoke", action="store_true", help="one small data set, some seconds")
    parser.add_argument("--no-plot", action="store_true", help="the table alone, without matplotlib")
    given = parser.parse_args(arguments)
    if not given.no_plot and find_spec("matplotlib") is None:
        print(
            "the picture needs matplotlib: pip install 'plugsamp[plots]'; --no-plot writes the table alone",
            file=sys.stderr,
        )
        return 2
    given.folder.mkdir(parents=True, exist_ok=True)
    size = SMOKE if given.smoke else Size()
    every, outcomes = [], {name: [] for name in PRIORS}
    for seed in range(1 if given.smoke else given.data_sets):
        rows = study(size, seed)
        every += rows
        for name, kept in outcomes.items():
            kept.append(outcome([row for row in rows if row["prior"] == name]))
            print(f"data set {seed} {name:9}", *(f"{k} {v:.2f}" for k, v in kept[-1].items()), flush=True)
        if seed == 0 and not given.no_plot:
            draw(rows, given.folder / "horseshoe_study.png")
    with open(given.folder / "horseshoe_study.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, every[0])
        writer.writeheader()
        writer.writerows(every)
    n = len(outcomes["normal"])
    print(f"\nmean of {n} data sets (standard error), {len(SIGNALS)} signals of {size.topics} topics")
    for name, kept in outcomes.items():
        cells = []
        for key in kept[0]:
            values = np.array([o[key] for o in kept])
            error = f" ({values.std(ddof=1) / np.sqrt(n):.2f})" if n > 1 else ""
            cells.append(f"{key} {values.mean():.2f}{error}")
        print(f"{name:9}", "; ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
