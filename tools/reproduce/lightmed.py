"""Paper 000: composed Metropolis–Hastings for supervised topics."""

from __future__ import annotations

import time

import plugsamp as ps
from tools.reproduce.study import Context, Study, series

SETS = {
    "word": ["word"],
    "doc": ["doc"],
    "word, doc": ["word", "doc"],
    "word, doc, exp": ["word", "doc", "exp"],
}


ACCEPTANCE = ("acceptance_word", "acceptance_doc", "acceptance_exp")


def by_topics(context: Context):
    """Accuracy and CPU time a token against K, dense and composed in turn."""
    kernels = {
        "dense": ps.kernels.Dense(),
        "composed, mixture of 6": ps.kernels.ComposedMH(composition="mixture", steps=6),
        "composed, cycle of 6": ps.kernels.ComposedMH(steps=6),
    }
    for n_topics in context.size((20, 50, 100, 200, 400), (4, 8)):
        for label, kernel in kernels.items():
            setup = context.experiment("20ng_dense", f"n_topics={n_topics}")
            sweeps = context.size(40, 3)
            fitted, seconds = setup.fit(sweeps, context.seed, kernel=kernel)
            start = time.process_time()
            accuracy = setup.accuracy(fitted.predictor)
            yield {
                "topics": n_topics, "kernel": label, "cpu_seconds": seconds,
                "ns_token": 1e9 * seconds / sweeps / setup.train.n_tokens,
                "accuracy": accuracy, "test_cpu_seconds": time.process_time() - start,
            }  # fmt: skip


def draw_by_topics(rows, figure):
    for axes, y in zip(figure.subplots(1, 2), ("accuracy", "ns_token"), strict=True):
        for label, (xs, ys) in series(rows, "topics", y, "kernel").items():
            axes.plot(xs, ys, "o-", label=label)
        axes.set(xlabel="topics K", xscale="log", ylabel=y.replace("_", " a "))
    figure.axes[0].legend(fontsize="small")


def compositions(context: Context):
    """What proposals, composition and steps do to accuracy and time."""
    setup = context.experiment("20ng_dense", f"n_topics={context.size(100, 6)}")
    for composition in ("cycle", "mixture"):
        for label, proposals in SETS.items():
            for steps in context.size((1, 2, 4, 6, 10), (1, 2)):
                if composition == "mixture" and len(proposals) == 1:
                    continue
                kernel = ps.kernels.ComposedMH(proposals, composition, steps)
                sweeps = context.size(30, 3)
                fitted, seconds = setup.fit(sweeps, context.seed, kernel=kernel)
                last = fitted.trace[-1]
                yield {
                    "composition": composition, "proposals": label, "steps": steps,
                    "accuracy": setup.accuracy(fitted.predictor), "cpu_seconds": seconds,
                    "moved": last["moved"],
                    **{key: last.get(key, float("nan")) for key in ACCEPTANCE},
                }  # fmt: skip


def draw_compositions(rows, figure):
    rows = [{**row, "key": f"{row['proposals']} ({row['composition']})"} for row in rows]
    axes = figure.subplots()
    for label, (xs, ys) in series(rows, "cpu_seconds", "accuracy", "key").items():
        axes.plot(xs, ys, "o-", label=label)
    axes.set(xlabel="CPU seconds of 30 sweeps; points are numbers of steps", ylabel="test accuracy")
    axes.legend(fontsize="small")


STUDIES = (
    Study(
        "lightmed_topics", "000 figures 1, 2 and 4: accuracy and time against K, flat where dense grows",
        by_topics, draw_by_topics,
    ),
    Study(
        "lightmed_compositions", "000 figures 5 to 7: proposals, composition and number of steps",
        compositions, draw_compositions,
    ),
)  # fmt: skip
