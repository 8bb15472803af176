"""Compare `plugsamp.tune` with the default and with a grid of 24 settings, on other documents.

python tools/compare_tune.py run DATA RESULTS [--corpora bbc usbills] [--words]
python tools/compare_tune.py table RESULTS

DATA is a folder of corpora as tools/tune_defaults.py takes them. Of each at most 800 documents are for
training, of which the grid and the search hold out the same fifth. All others that tools/tune_defaults.py
sets aside are for testing. RESULTS is a file of JSON lines, one a task; what is there already is not done
again. Scores are accuracy, or micro-F1 of several labels.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path

import numpy as np
from tune_defaults import load, rows_of, tasks

import plugsamp as ps
from plugsamp.tuning.search import Search
from plugsamp.tuning.settings import with_setting
from plugsamp.tuning.tune import search_of

MOST, TOKENS, K, SWEEPS = 800, 80_000, 50, 100
GRID = {"n_topics": [25, 50, 100], "cost": [3.0, 10.0, 30.0, 102.4], "variance": [0.01, 0.1]}


def parts(path: Path, field: str, stop_words: str) -> tuple[ps.Corpus, list[ps.Corpus]]:
    """Return training documents, and test documents in two corpora."""
    corpora = load(path, field, stop_words)
    train = corpora["fit"]
    n = min(MOST, int(np.searchsorted(np.cumsum(train.lengths), TOKENS)))
    return train.take(range(min(n, train.n_documents))), [corpora["choose"], corpora["test"]]


def tested(posterior, tests) -> float:
    found = [(posterior.evaluate(test).main, test.n_documents) for test in tests]
    return sum(score * n for score, n in found) / sum(n for _, n in found)


def compare(train: ps.Corpus, tests, options: dict) -> dict:
    """Return test scores, CPU seconds and settings of the default, the grid and the search."""
    model, options = ps.Model(K, loss="hinge"), {"sweeps": SWEEPS, "seed": 0} | options
    found = {}

    def noted(name: str, begun: float, posterior, more: dict) -> None:
        seconds = time.process_time() - begun
        found[name] = {"seconds": round(seconds, 2), "test": round(tested(posterior, tests), 5)} | more

    begun = time.process_time()
    noted("default", begun, ps.fit(train, model, **options), {})
    begun = time.process_time()
    whole = search_of(train, model, GRID, settings=24, **options)
    whole.__class__ = Grid
    best = whole.run()
    chosen = with_setting(model, whole.settings[best])
    noted("grid", begun, ps.fit(train, chosen, **options), {"best": whole.settings[best]})
    begun = time.process_time()
    tuned = ps.tune(train, model, **options)
    noted("tune", begun, tuned.posterior, {"best": tuned.best})
    return found


class Grid(Search):
    """All settings to all sweeps."""

    def ladder(self) -> list[tuple[int, int]]:
        return [(len(self.settings), self.sweeps)]


def run(data: Path, results: Path, only, words: bool) -> None:
    done = {row["corpus"] for row in rows_of(results)}
    for name, (path, field) in tasks(data).items():
        if name in done or (only and not {name, name.split(":")[0]} & set(only)):
            continue
        train, tests = parts(path, field, "none" if words else "english")
        options = {"covariates": ps.Covariates(words="tfidf")} if words else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = {"corpus": name, "n": train.n_documents} | compare(train, tests, options)
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


def table(results: Path) -> None:
    rows, ways = rows_of(results), ("default", "grid", "tune")
    print(f"{'task':34} documents  " + "  ".join(f"{way:>17}" for way in ways))
    for row in rows:
        cells = (f"{row[way]['test']:.3f} {row[way]['seconds']:9.1f} s" for way in ways)
        print(f"{row['corpus']:34} {row['n']:9}  " + "  ".join(f"{cell:>17}" for cell in cells))
    means = {way: np.array([(row[way]["test"], row[way]["seconds"]) for row in rows]) for way in ways}
    cells = (f"{m[:, 0].mean():.4f} {m[:, 1].sum():8.1f} s" for m in means.values())
    print(f"{'mean; seconds in all':34} {'':9}  " + "  ".join(f"{cell:>17}" for cell in cells))
    for a, b in itertools.combinations(ways, 2):
        d = means[b][:, 0] - means[a][:, 0]
        print(f"{b} less {a}: {d.mean():+.4f} (se {d.std(ddof=1) / np.sqrt(len(d)):.4f}), time "
              f"{means[b][:, 1].sum() / means[a][:, 1].sum():.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    fits = commands.add_parser("run", help="fit and score")
    fits.add_argument("data", type=Path, help="folder of corpora")
    fits.add_argument("results", type=Path, help="file of JSON lines")
    fits.add_argument("--corpora", nargs="+", help="names, by default all")
    fits.add_argument("--words", action="store_true", help="with tf-idf of all words as covariates")
    shown = commands.add_parser("table", help="compare")
    shown.add_argument("results", type=Path, help="file of JSON lines")
    given = parser.parse_args()
    if given.command == "run":
        run(given.data, given.results, given.corpora, given.words)
    else:
        table(given.results)


if __name__ == "__main__":
    main()
