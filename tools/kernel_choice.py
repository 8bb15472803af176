"""Which token kernel gets furthest in the same CPU time: what `kernel=auto` goes by.

python tools/kernel_choice.py [--topics 20 100 250 1000] [--outputs 0 1 2 20 90] [--lengths 10 170 1000]
                              [--tokens 100000] [--words 10000] [--seconds 1.0] [--collapse full partial]
                              [--late] [--csv FILE] [--smoke]
python tools/kernel_choice.py --data DIR [--corpora 20ng_counts ...] [--topics 100 250 400] [--kernels ...]

Documents are made up: words of a few themes each, and labels that go with the first of them, an output a
label. In every cell (topics, outputs, mean length, collapse) the kernels start from the same topics,
random ones or, for topics that are a variable, those of 15 collapsed sweeps, and take turns sweep by
sweep until each has had the CPU time of a cell (--seconds is that of K = 100; more topics get more).
Printed are, for each kernel, CPU nanoseconds a token of a sweep and the CPU time to the log joint (words
and responses) that the best one had after half of the time, as a part of the time that the dense kernel
needed ("-": not within the cell's time; where dense is not there in time, its whole time counts and
ratios are upper limits).

With --data, corpora below DIR instead: without labels (--outputs 0) or with theirs (--outputs 1), then with
the score of the last draw on the test documents.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import plugsamp as ps
from plugsamp.fitting.recording import Recording

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools.bench_kernels import corpus as themed

START = 15
HEADER = "topics outputs length collapse  best            of dense (ns a token)"


def kernels(collapse: str, supervised: bool) -> dict:
    """Candidates by label."""
    made = {"dense": ps.kernels.Dense(collapse)}
    if supervised:
        made |= {
            f"{label} x{steps}": ps.kernels.ComposedMH(proposals, "cycle", steps, collapse)
            for label, proposals, steps in (
                ("word doc exp", ["word", "doc", "exp"], 6),
                ("sparse", ["sparse"], 2),
                ("sparse_exp", ["sparse_exp"], 2),
            )
        }
    elif collapse == "full":
        made |= {
            "sparse": ps.kernels.SparseLDA(),
            "alias": ps.kernels.AliasLDA(),
            "light": ps.kernels.LightLDA(),
        }
    else:
        made |= {"sparse_pc": ps.kernels.SparsePCLDA(), "light_pc": ps.kernels.LightPCLDA()}
    return made


def documents(n_tokens: int, length: int, n_outputs: int, n_words: int) -> ps.Corpus:
    """Made-up documents of this length with an output a label."""
    n_tokens = max(n_tokens, 100 * length)
    plain = themed(n_tokens, 0, n_words, length)
    if not n_outputs:
        return plain
    first = themed(n_tokens, 50, n_words, length).responses.astype(int)
    labels = (first[:, None] % max(n_outputs, 2) == np.arange(n_outputs)).astype(int)
    return ps.Corpus(plain.words, plain.offsets, n_words=plain.n_words, responses=labels)


class Racer:
    """A chain, its CPU seconds, and its log joint after every sweep."""

    def __init__(self, data, model, kernel, z, eta):
        self.chain = ps.Chain(data, model, kernel, init=z)
        self.chain.set_state(eta=eta)
        self.seconds, self.curve = 0.0, []

    def step(self) -> None:
        start = time.process_time()
        self.chain.run(1)
        self.seconds += time.process_time() - start
        parts = self.chain.log_joint()
        self.curve.append((self.seconds, parts["words"] + parts.get("responses", 0.0)))

    def time_to(self, level: float) -> float:
        """CPU seconds to a log joint, interpolated within a sweep; infinite if it was not reached."""
        before = (0.0, -math.inf)
        for seconds, value in self.curve:
            if value >= level:
                if not math.isfinite(before[1]):
                    return seconds
                share = (level - before[1]) / (value - before[1])
                return before[0] + share * (seconds - before[0])
            before = (seconds, value)
        return math.inf

    def best_by(self, seconds: float) -> float:
        """The highest log joint up to then."""
        return max((v for s, v in self.curve if s <= seconds), default=-math.inf)


def model_of(n_topics: int, supervised: bool) -> ps.Model:
    if not supervised:
        return ps.Model(n_topics, 0.1, 0.01)
    return ps.Model(
        n_topics, 6.4 / n_topics, 0.01, loss=ps.losses.Hinge(102.4), weights=ps.priors.Normal(0.001)
    )


def start(data, model, late: bool):
    """(z, eta) that all candidates start from."""
    if late:
        kernel = ps.kernels.SparseLDA() if model.loss.unsupervised else ps.kernels.ComposedMH()
        chain = ps.Chain(data, model, kernel).run(START)
        return chain.z, chain.eta
    z = np.random.default_rng(0).integers(0, model.n_topics, data.n_tokens)
    return z, None


def race(data, model, collapse: str, seconds: float, late=False, only=None) -> dict[str, Racer]:
    """All candidates, in turns, until each has had its seconds."""
    z, eta = start(data, model, late or collapse == "partial")
    supervised = not model.loss.unsupervised
    racers = {
        label: Racer(data, model, k, z, eta)
        for label, k in kernels(collapse, supervised).items()
        if not only or label in only
    }
    while True:
        running = [racer for racer in racers.values() if racer.seconds < seconds]
        if not running:
            return racers
        for racer in running:
            racer.step()


def outcome(racers: dict[str, Racer], n_tokens: int, seconds: float) -> list[dict]:
    """A row a kernel: its sweeps, and its time to what the best had after half of the time."""
    level = max(racer.best_by(seconds / 2) for racer in racers.values())
    if not math.isfinite(level):  # a sweep takes longer than that
        level = max(racer.curve[0][1] for racer in racers.values())
    dense = racers["dense"].time_to(level)
    unit = min(dense, racers["dense"].seconds)
    rows = []
    for label, racer in racers.items():
        times = np.diff([0.0] + [s for s, _ in racer.curve])
        rows.append(
            {
                "kernel": label, "ns_token": 1e9 * float(np.median(times)) / n_tokens,
                "sweeps": len(racer.curve), "of_dense": racer.time_to(level) / unit,
            }
        )  # fmt: skip
    return rows


def made_up(given, writer) -> None:
    """Every cell of made-up documents."""
    print(HEADER)
    for length in given.lengths:
        for n_outputs in given.outputs:
            data = documents(given.tokens, length, n_outputs, given.words)
            for n_topics in given.topics:
                for collapse in given.collapse:
                    model = model_of(n_topics, n_outputs > 0)
                    cell(data, model, n_outputs, length, collapse, given, writer)


def real(given, writer) -> None:
    """The training documents of a corpus of conf/corpus, without labels and with them."""
    from tools.reproduce.study import Context

    print(HEADER)
    for name in given.corpora:
        for n_topics in given.topics:
            context = Context(Path(), given.data, tokens=given.tokens)
            setup = context.experiment("20ng_dense", f"n_topics={n_topics}", f"corpus={name}")
            data = setup.train
            length = round(data.n_tokens / data.n_documents)
            for collapse in given.collapse:
                if 0 in given.outputs:
                    cell(data, model_of(n_topics, False), 0, length, collapse, given, writer)
                if given.outputs != [0]:
                    n_outputs = setup.model.coding(data).n_outputs
                    cell(data, setup.model, n_outputs, length, collapse, given, writer, setup)


def cell(data, model, n_outputs: int, length: int, collapse: str, given, writer, setup=None) -> None:
    """Race in one cell; write its rows and print its line, with scores where there are test documents."""
    seconds = given.seconds * (model.n_topics / 100) ** 0.6
    racers = race(data, model, collapse, seconds, given.late, given.kernels)
    rows = outcome(racers, data.n_tokens, seconds)
    where = {"topics": model.n_topics, "outputs": n_outputs, "length": length, "collapse": collapse}
    shown = []
    for row in rows:
        racer = racers[row["kernel"]]
        row["log_joint_token"] = racer.curve[-1][1] / data.n_tokens
        text = "-" if math.isinf(row["of_dense"]) else format(row["of_dense"], ".2f")
        shown.append(f"{row['kernel']} {text} ({row['ns_token']:.0f})")
        if setup is not None:
            keeper = Recording(racer.chain)
            keeper.keep()
            row["score"] = setup.score(keeper.draws())
            shown[-1] += f" {row['log_joint_token']:.3f} score {row['score']:.3f}"
        writer({**where, **row})
    best = min(rows, key=lambda row: row["of_dense"])
    print(
        f"{model.n_topics:6} {n_outputs:7} {length:6} {collapse:8}  {best['kernel']:15} " + "  ".join(shown),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--topics",
        type=int,
        nargs="+",
        help="numbers of topics (default 20 100 250 1000, with --data 100 250 400)",
    )
    parser.add_argument(
        "--outputs",
        type=int,
        nargs="+",
        default=[0, 1, 2, 20, 90],
        help="numbers of outputs; with --data 0 for no labels, else theirs (default %(default)s)",
    )
    parser.add_argument(
        "--lengths",
        type=int,
        nargs="+",
        default=[10, 170, 1000],
        help="mean tokens of made-up documents (default %(default)s)",
    )
    parser.add_argument("--tokens", type=int, help="100,000 made-up ones, or all of the data")
    parser.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        help="CPU time of each kernel in a cell of 100 topics (default %(default)s)",
    )
    parser.add_argument(
        "--words",
        type=int,
        default=10_000,
        help="of made-up documents, how many different ones (default %(default)s)",
    )
    parser.add_argument(
        "--collapse",
        nargs="+",
        default=["full", "partial"],
        choices=["full", "partial"],
        help="topics integrated out, or kept (default %(default)s)",
    )
    parser.add_argument("--kernels", nargs="+", help="only these; dense is always needed")
    parser.add_argument("--corpora", nargs="+", default=["20ng_counts"], help="with --data: of conf/corpus")
    parser.add_argument("--late", action="store_true", help="from topics of 15 sweeps, whatever the collapse")
    parser.add_argument(
        "--data", type=Path, help="folder of public corpora; without it documents are made up"
    )
    parser.add_argument(
        "--csv", type=Path, default=Path("kernel_choice.csv"), help="what is written (default %(default)s)"
    )
    parser.add_argument("--smoke", action="store_true", help="one tiny cell, some seconds: does it run")
    given = parser.parse_args()
    if given.smoke:
        given.topics, given.outputs, given.lengths = [4], [0, 2], [10]
        given.tokens, given.seconds = 2000, 0.1
    if given.tokens is None and given.data is None:
        given.tokens = 100_000
    if given.topics is None:
        given.topics = [20, 100, 250, 1000] if given.data is None else [100, 250, 400]
    fields = ["topics", "outputs", "length", "collapse", "kernel", "ns_token", "sweeps", "of_dense"]
    fields += ["log_joint_token", "score"]
    with open(given.csv, "w", newline="", encoding="utf-8") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = csv.DictWriter(file, fields, lineterminator="\n")
        table.writeheader()

        def writer(row: dict) -> None:
            table.writerow(row)
            file.flush()

        (made_up if given.data is None else real)(given, writer)


if __name__ == "__main__":
    main()
