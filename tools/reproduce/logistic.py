"""Paper 003: the logistic loss, its cost, burn-in, and where the time goes."""

from __future__ import annotations

import time

import plugsamp as ps
from plugsamp.keeper import PosteriorKeeper
from tools.reproduce.study import Context, Study, series


def cost(context: Context):
    """Training and test accuracy and test time against c; the prior of the weights as tuned for c = 256."""
    for c in context.size((1, 4, 9, 25, 100, 256, 1000), (1, 25)):
        setup = context.experiment("20ng_logistic", f"loss.cost={c}", f"n_topics={context.size(50, 5)}")
        fitted, seconds = setup.fit(context.size(60, 3), context.seed)
        start = time.process_time()
        accuracy = setup.accuracy(fitted.predictor)
        test_seconds = time.process_time() - start
        yield {
            "cost": c, "test_accuracy": accuracy,
            "train_accuracy": setup.accuracy(fitted.predictor, setup.train),
            "cpu_seconds": seconds, "test_cpu_seconds": test_seconds,
        }  # fmt: skip


def draw_cost(rows, figure):
    axes = figure.subplots()
    for y in ("train_accuracy", "test_accuracy"):
        axes.plot([row["cost"] for row in rows], [row[y] for row in rows], "o-", label=y.replace("_", " "))
    axes.set(xscale="log", xlabel="cost c", ylabel="accuracy")
    axes.legend()


def burn_in(context: Context):
    """Test accuracy of the last draw alone, after so many sweeps from random topics, for three alphas."""
    for alpha_sum in context.size((1.0, 6.4, 25.0), (6.4,)):
        setup = context.experiment(
            "20ng_logistic", f"alpha_sum={alpha_sum}", f"n_topics={context.size(50, 5)}"
        )
        chain = ps.Chain(setup.train, setup.model, setup.kernel, seed=context.seed)
        for until in context.size((1, 2, 5, 10, 20, 40, 80, 160), (1, 3)):
            chain.run(until - chain.sweep)
            keeper = PosteriorKeeper(chain)
            keeper.keep()
            accuracy = setup.accuracy(keeper.predictor())
            yield {"alpha_sum": alpha_sum, "sweep": until, "test_accuracy": accuracy}


def draw_burn_in(rows, figure):
    axes = figure.subplots()
    for label, (xs, ys) in series(rows, "sweep", "test_accuracy", "alpha_sum").items():
        axes.plot(xs, ys, "o-", label=f"sum of alpha {label}")
    axes.set(xscale="log", xlabel="burn-in sweeps", ylabel="test accuracy of one draw")
    axes.legend()


def parts(context: Context):
    """The share of a sweep that augmentation, topics and weights take."""
    for n_topics in context.size((20, 50, 100, 200), (4, 8)):
        setup = context.experiment("20ng_logistic", f"n_topics={n_topics}")
        chain = ps.Chain(setup.train, setup.model, setup.kernel, seed=context.seed)
        chain.run(context.size(5, 1))
        seconds = {"augmentation": 0.0, "all": 0.0, "weights": 0.0}
        for _ in range(context.size(5, 1)):
            start = time.process_time()
            chain.augment()
            augmented = time.process_time()
            chain.run(1)
            done = time.process_time()
            chain._draw_weights(chain.sweep)
            seconds["augmentation"] += augmented - start
            seconds["all"] += done - augmented
            seconds["weights"] += time.process_time() - done
        topics = seconds["all"] - seconds["augmentation"] - seconds["weights"]
        yield {
            "topics": n_topics, "augmentation": seconds["augmentation"] / seconds["all"],
            "weights": seconds["weights"] / seconds["all"], "tokens": topics / seconds["all"],
        }  # fmt: skip


def draw_parts(rows, figure):
    axes = figure.subplots()
    bottom = [0.0] * len(rows)
    for part in ("tokens", "augmentation", "weights"):
        heights = [row[part] for row in rows]
        axes.bar([str(row["topics"]) for row in rows], heights, bottom=bottom, label=part)
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
    axes.set(xlabel="topics K", ylabel="share of a sweep")
    axes.legend()


STUDIES = (
    Study("logistic_cost", "003 figures 1, 2 and 5: accuracy against the cost c", cost, draw_cost),
    Study(
        "logistic_burn_in", "003 figures 3 and 4: accuracy against burn-in and alpha", burn_in, draw_burn_in
    ),
    Study("logistic_parts", "003 table 1: where the time of a sweep goes", parts, draw_parts),
)
