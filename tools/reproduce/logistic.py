"""Zhu et al. 2013: the logistic loss by its cost, sweeps and alpha, against other models, and its time."""

from __future__ import annotations

import time

import numpy as np

import plugsamp as ps
from plugsamp.fitting.recording import Recording
from plugsamp.fitting.second_step import SecondStep
from tools.reproduce.claims import Claim, pick, span
from tools.reproduce.study import Context, Study, from_zero, log_axis, series

BINARY, MULTICLASS = "paper003_20ng_binary", "paper003_20ng"


def _fitted(context: Context, setup, seed: int, **options) -> dict:
    """Accuracies and CPU times of one fit; predictions use the draws of its second half."""
    fitted, seconds = setup.fit(context.size(setup.settings.sweeps, 3), seed, **options)
    start = time.process_time()
    test = setup.score(fitted)
    tested = time.process_time() - start
    return {
        "test_accuracy": test, "train_accuracy": setup.score(fitted, setup.train),
        "cpu_seconds": seconds, "test_cpu_seconds": tested,
    }  # fmt: skip


def _mean(found: list[dict]) -> dict:
    return {key: float(np.mean([row[key] for row in found])) for key in found[0]}


def _models(cost: int) -> dict:
    """Overrides and options by what the figures call them."""
    hinge = ("loss=hinge", "weights.variance=0.001", "alpha_sum=6.4", "~loss.cost")
    svm = {"supervised": "two_step", "second_step": SecondStep("linear_svc")}
    return {
        "c = 1": (("loss.cost=1",), {}),
        f"c = {cost}": ((f"loss.cost={cost}",), {}),
        "hinge (MedLDA)": (hinge, {}),
        "LDA, then SVM": ((), svm),
    }


def _compare(experiment: str, cost: int, topics: tuple, n_seeds: int):
    def rows(context: Context):
        for n_topics in context.size(topics, (4,)):
            for label, (overrides, options) in _models(cost).items():
                setup = context.experiment(experiment, f"n_topics={n_topics}", *overrides)
                seeds = range(context.seed, context.seed + context.size(n_seeds, 1))
                found = [_fitted(context, setup, seed, **options) for seed in seeds]
                yield {"topics": n_topics, "model": label, "cost": cost, **_mean(found)}

    return rows


def draw_compare(rows, figure):
    columns = ("test_accuracy", "cpu_seconds", "test_cpu_seconds")
    for axes, y in zip(figure.subplots(1, 3), columns, strict=True):
        for label, (xs, ys) in series(rows, "topics", y, "model").items():
            axes.plot(xs, ys, "o-", label=label)
        axes.set(xlabel="topics K", ylabel=y.replace("_", " "))
        if y != "test_accuracy":
            from_zero(axes)
    figure.axes[0].legend(fontsize="small")


def _claims_compare(number: str):
    def claims(rows):
        cost = rows[0]["cost"]
        mean = {
            label: float(np.mean([row["test_accuracy"] for row in pick(rows, model=label)]))
            for label in dict.fromkeys(row["model"] for row in rows)
        }
        plain, tuned, hinge, svm = (
            mean["c = 1"],
            mean[f"c = {cost}"],
            mean["hinge (MedLDA)"],
            mean["LDA, then SVM"],
        )
        shown = f"mean over K: c = {cost} {tuned:.3f}, c = 1 {plain:.3f}"
        yield Claim(
            f"Zhu et al. 2013, fig. {number}",
            f"c = {cost} is much better than c = 1",
            shown,
            tuned > plain + 0.02,
        )
        yield Claim(
            f"Zhu et al. 2013, fig. {number}",
            "LDA followed by an SVM lies between the two",
            f"{shown}, LDA and SVM {svm:.3f}",
            plain < svm < tuned,
        )
        yield Claim(
            f"Zhu et al. 2013, fig. {number}",
            f"c = {cost} is comparable with Gibbs MedLDA",
            f"{tuned:.3f} and {hinge:.3f}",
            abs(tuned - hinge) < 0.025,
        )
        times = {
            label: float(np.mean([row["test_cpu_seconds"] for row in pick(rows, model=label)]))
            for label in mean
        }
        ratio = max(times.values()) / min(times.values())
        yield Claim(
            f"Zhu et al. 2013, fig. {number}",
            "testing takes about as long as with MedLDA and LDA",
            f"the slowest takes {ratio:.2f} of the time of the quickest",
            ratio < 1.5,
        )

    return claims


def cost(context: Context):
    """Training and test accuracy, and both times, against c."""
    for n_topics in context.size((10, 30), (4, 8)):
        for c in context.size((1, 4, 9, 25, 100, 256, 1000), (1, 25)):
            setup = context.experiment(BINARY, f"loss.cost={c}", f"n_topics={n_topics}")
            seeds = range(context.seed, context.seed + context.size(2, 1))
            yield {"topics": n_topics, "cost": c} | _mean([_fitted(context, setup, seed) for seed in seeds])


def draw_cost(rows, figure):
    for axes, y in zip(
        figure.subplots(1, 3), ("train_accuracy", "test_accuracy", "cpu_seconds"), strict=True
    ):
        for label, (xs, ys) in series(rows, "cost", y, "topics").items():
            axes.plot(xs, ys, "o-", label=f"K = {label}")
        axes.set(xlabel="cost c", ylabel=y.replace("_", " "))
        log_axis(axes, [row["cost"] for row in rows])
    from_zero(figure.axes[2])
    figure.axes[0].legend()


def claims_cost(rows):
    middle = [row for row in rows if 9 <= row["cost"] <= 100]
    by_topics = series(middle, "cost", "test_accuracy", "topics")
    widest = max(max(values) - min(values) for _, values in by_topics.values())
    one = pick(rows, cost=1)
    yield Claim(
        "Zhu et al. 2013, fig. 5",
        "test accuracy is stable for c from 9 to 100",
        f"{span([r['test_accuracy'] for r in middle], '.3f')}, at most {widest:.3f} apart at one K",
        widest < 0.05,
    )
    yield Claim(
        "Zhu et al. 2013, fig. 5",
        "with c = 1 training and test accuracy are low",
        f"c = 1: training {_span(one, 'train_accuracy')}, test {_span(one, 'test_accuracy')}; c of 9 to 100: "
        f"{_span(middle, 'train_accuracy')}, {_span(middle, 'test_accuracy')}",
        np.mean([r["test_accuracy"] for r in one]) < np.mean([r["test_accuracy"] for r in middle]) - 0.02,
    )
    high = [row for row in rows if row["cost"] > 100]
    if high:
        yield Claim(
            "Zhu et al. 2013, fig. 5",
            "a large c does not overfit",
            f"c above 100: test {span([r['test_accuracy'] for r in high], '.3f')}",
            min(r["test_accuracy"] for r in high) > np.mean([r["test_accuracy"] for r in middle]) - 0.03,
        )


def _span(rows, column: str) -> str:
    return span([row[column] for row in rows])


def _burn_in(experiment: str, topics: tuple, marks: tuple):
    def rows(context: Context):
        for n_topics in context.size(topics, (4,)):
            setup = context.experiment(experiment, f"n_topics={n_topics}")
            chain = ps.Chain(setup.train, setup.model, setup.kernel, seed=context.seed)
            seconds = 0.0
            for until in context.size(marks, (0, 1, 3)):
                start = time.process_time()
                chain.run(until - chain.sweep)
                seconds += time.process_time() - start
                if until == 0:  # weights for topics that are random
                    chain.augment()
                    chain._draw_weights(0)
                keeper = Recording(chain)
                keeper.keep()
                yield {
                    "topics": n_topics, "sweeps": until, "test_accuracy": setup.score(keeper.draws()),
                    "cpu_seconds": seconds,
                }  # fmt: skip

    return rows


def draw_burn_in(rows, figure):
    for axes, y in zip(figure.subplots(1, 2), ("test_accuracy", "cpu_seconds"), strict=True):
        for label, (xs, ys) in series(rows, "sweeps", y, "topics").items():
            axes.plot(xs, ys, "o-", label=f"K = {label}")
        axes.set(xlabel="sweeps of burn-in", ylabel=y.replace("_", " "))
    left, marks = figure.axes[0], sorted({row["sweeps"] for row in rows})
    left.set_xscale("symlog", linthresh=1)
    left.minorticks_off()
    left.set_xticks(marks, [str(mark) for mark in marks])
    left.set_ylabel("test accuracy of a single draw")
    left.legend()


def _claims_burn_in(number: str, enough: int):
    def claims(rows):
        late = [row for row in rows if row["sweeps"] >= enough] or rows[-1:]
        none = pick(rows, sweeps=0)
        by_topics = series(late, "sweeps", "test_accuracy", "topics")
        widest = max(max(values) - min(values) for _, values in by_topics.values())
        yield Claim(
            f"Zhu et al. 2013, fig. {number}",
            f"from random topics accuracy rises fast and is stable from {enough} sweeps on",
            f"{_span(none, 'test_accuracy')} without burn-in, {_span(late, 'test_accuracy')} from {enough} "
            f"sweeps on, at most {widest:.3f} apart at one K",
            widest < 0.05,
        )
        last = max(row["sweeps"] for row in rows)
        times = {r["sweeps"]: r["cpu_seconds"] for r in rows if r["topics"] == rows[0]["topics"]}
        half = times.get(last // 2)
        if half:
            yield Claim(
                f"Zhu et al. 2013, fig. {number}",
                "training time is linear in the sweeps",
                f"{last} sweeps take {times[last] / half:.2f} times the time of {last // 2}",
                1.6 < times[last] / half < 2.4,
            )

    return claims


def alpha(context: Context):
    """Test accuracy against the sum of alpha, for two costs."""
    for c in context.size((1, 9), (9,)):
        for n_topics in context.size((20,), (4,)):
            for alpha_sum in context.size((0.1, 0.3, 1.0, 3.0, 10.0), (0.3, 3.0)):
                setup = context.experiment(
                    BINARY, f"loss.cost={c}", f"n_topics={n_topics}", f"alpha_sum={alpha_sum}"
                )
                seeds = range(context.seed, context.seed + context.size(2, 1))
                found = _mean([_fitted(context, setup, seed) for seed in seeds])
                yield {"cost": c, "topics": n_topics, "alpha_sum": alpha_sum, **found}


def draw_alpha(rows, figure):
    costs = list(dict.fromkeys(row["cost"] for row in rows))
    for axes, c in zip(np.atleast_1d(figure.subplots(1, len(costs), sharey=True)), costs, strict=True):
        for label, (xs, ys) in series(pick(rows, cost=c), "alpha_sum", "test_accuracy", "topics").items():
            axes.plot(xs, ys, "o-", label=f"K = {label}")
        axes.set(xlabel="sum of alpha", title=f"c = {c}")
        log_axis(axes, [row["alpha_sum"] for row in rows])
    figure.axes[0].set_ylabel("test accuracy")
    figure.axes[0].legend()


def claims_alpha(rows):
    for c in dict.fromkeys(row["cost"] for row in rows):
        by_topics = series(pick(rows, cost=c), "alpha_sum", "test_accuracy", "topics")
        widest = max(max(values) - min(values) for _, values in by_topics.values())
        shown = "; ".join(f"K = {k}: {span(values, '.3f')}" for k, (_, values) in by_topics.items())
        yield Claim(
            "Zhu et al. 2013, fig. 6",
            f"c = {c}: accuracy is stable for alpha from .1 to 10",
            shown,
            widest < 0.05,
        )


def parts(context: Context):
    """CPU seconds of a sweep that augmentation, topics and weights take."""
    for n_topics in context.size((20, 30, 40, 50, 200), (4, 8)):
        setup = context.experiment(MULTICLASS, f"n_topics={n_topics}")
        chain = ps.Chain(setup.train, setup.model, setup.kernel, seed=context.seed)
        chain.run(context.size(5, 1))
        found = []
        for _ in range(context.size(9, 2)):
            start = time.process_time()
            chain.augment()
            augmented = time.process_time()
            chain.run(1)
            done = time.process_time()
            chain._draw_weights(chain.sweep)
            found.append((augmented - start, done - augmented, time.process_time() - done))
        augmentation, everything, weights = np.min(found, axis=0)  # the least disturbed
        yield {
            "topics": n_topics, "augmentation": augmentation / everything, "weights": weights / everything,
            "tokens": 1.0 - (augmentation + weights) / everything, "sweep_cpu_seconds": everything,
        }  # fmt: skip


def draw_parts(rows, figure):
    axes = figure.subplots()
    bottom = [0.0] * len(rows)
    for part in ("tokens", "augmentation", "weights"):
        heights = [row[part] for row in rows]
        axes.bar([str(row["topics"]) for row in rows], heights, bottom=bottom, label=part)
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
    axes.set(xlabel="topics K", ylabel="share of a sweep", ylim=(0, 1.25))
    axes.legend(ncols=3, loc="upper center")


def claims_parts(rows):
    small = [row for row in rows if row["topics"] <= 50]
    first, last, most = small[0], small[-1], rows[-1]
    yield Claim(
        "Zhu et al. 2013, table 1",
        "drawing the weights takes next to nothing: .2 to .3 % for K = 20 to 50",
        f"{100 * first['weights']:.1f} to {100 * last['weights']:.1f} %",
        last["weights"] < 0.05,
        "20 joint draws by Cholesky a sweep, beside tokens and augmentation that are far quicker",
    )
    yield Claim(
        "Zhu et al. 2013, table 1",
        "drawing the augmentation takes most: 66 % at K = 20, 44 % at 50, tokens the rest",
        f"{100 * first['augmentation']:.0f} % and {100 * last['augmentation']:.0f} %",
        first["augmentation"] > 0.4,
        "a draw of PG(c, f) takes the same time here whatever c is; the paper's sums c draws of PG(1, f)",
    )
    yield Claim(
        "Zhu et al. 2013, table 1",
        "the time for tokens grows with K, that for the augmentation does not",
        f"from K = {first['topics']} to {most['topics']}: tokens {_growth(first, most, 'tokens'):.2f} times, "
        f"augmentation {_growth(first, most, 'augmentation'):.2f} times",
        _growth(first, most, "tokens") > 1.3 > _growth(first, most, "augmentation"),
        "the augmentation's time has f in it here, a sum over the topics of each document",
    )


def _growth(first: dict, last: dict, part: str) -> float:
    """How many times as long a part takes."""
    return last[part] * last["sweep_cpu_seconds"] / (first[part] * first["sweep_cpu_seconds"])


WIDE = (11.0, 4.0)

STUDIES = (
    Study(
        "logistic_binary", "Zhu et al. 2013, figure 1: two classes, against plain sLDA, MedLDA and two steps",
        _compare(BINARY, 25, (10, 30), 2), draw_compare, _claims_compare("1"), WIDE,
    ),
    Study(
        "logistic_multiclass",
        "Zhu et al. 2013, figure 2: 20 classes, against plain sLDA, MedLDA and two steps",
        _compare(MULTICLASS, 256, (20, 40), 1), draw_compare, _claims_compare("2"), WIDE,
    ),
    Study(
        "logistic_burn_in", "Zhu et al. 2013, figure 3: accuracy against burn-in from 0, two classes",
        _burn_in(BINARY, (10, 20, 30), (0, 1, 2, 5, 10, 20, 50, 100)), draw_burn_in, _claims_burn_in("3", 20),
    ),
    Study(
        "logistic_burn_in_20", "Zhu et al. 2013, figure 4: accuracy against burn-in from 0, 20 classes",
        _burn_in(MULTICLASS, (40,), (0, 1, 2, 5, 10, 20, 40, 80)), draw_burn_in, _claims_burn_in("4", 20),
    ),
    Study(
        "logistic_cost", "Zhu et al. 2013, figure 5: accuracy against the cost c",
        cost, draw_cost, claims_cost, WIDE,
    ),
    Study(
        "logistic_alpha", "Zhu et al. 2013, figure 6: accuracy against alpha",
        alpha, draw_alpha, claims_alpha,
    ),
    Study(
        "logistic_parts", "Zhu et al. 2013, table 1: where the time of a sweep goes",
        parts, draw_parts, claims_parts,
    ),
)  # fmt: skip
