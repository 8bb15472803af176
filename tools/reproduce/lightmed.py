"""Zheng et al. 2015, figures 1 to 5: accuracy and time against the number of topics."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import plugsamp as ps
from plugsamp.prediction.evaluation import evaluate
from tools.reproduce.claims import Claim, pick, span, value
from tools.reproduce.study import Context, Study, from_zero, series


def samplers() -> dict:
    """The paper's sampler, and the one it is held against: O(K) a token, Cholesky for the weights."""
    return {
        "dense": {"kernel": ps.kernels.Dense(), "weight_update": "block"},
        "composed": {
            "kernel": ps.kernels.ComposedMH(composition="mixture", steps=6),
            "weight_update": "coordinate", "weight_passes": 2,
        },
    }  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """One figure: an experiment, fitted with either sampler for several K.

    Attributes
    ----------
    number : str
        Of the figure.
    experiment : str
        Of conf/experiment.
    overrides : tuple of str
    topics : tuple of int
    sweeps : int
    measure : str
        What the left panel shows.
    says : str
        The paper of it.
    seeds : int
        How many fits; scores are means, times medians.
    """

    number: str
    experiment: str
    overrides: tuple[str, ...]
    topics: tuple[int, ...]
    sweeps: int
    measure: str
    says: str
    seeds: int = 1

    def rows(self, context: Context):
        for n_topics in context.size(self.topics, (4, 8)):
            for label, options in samplers().items():
                setup = context.experiment(self.experiment, f"n_topics={n_topics}", *self.overrides)
                sweeps = context.size(self.sweeps, 3)
                scores, times, tests = [], [], []
                for seed in range(context.seed, context.seed + context.size(self.seeds, 1)):
                    fitted, seconds = setup.fit(sweeps, seed, **options)
                    start = time.process_time()
                    scores.append(setup.score(fitted))
                    tests.append(time.process_time() - start)
                    times.append(seconds)
                seconds = float(np.median(times))
                yield {
                    "topics": n_topics, "sampler": label, self.measure: float(np.mean(scores)),
                    "cpu_seconds": seconds, "ns_token": 1e9 * seconds / sweeps / setup.train.n_tokens,
                    "test_cpu_seconds": float(np.median(tests)), "seeds": len(scores),
                }  # fmt: skip

    def draw(self, rows, figure):
        draw_by_topics(rows, figure, self.measure, "sampler")

    def claims(self, rows):
        yield quality(rows, self.number, self.measure, self.says)
        yield from cost(rows, self.number)

    def study(self, name: str, shows: str) -> Study:
        return Study(
            name, f"Zheng et al. 2015, figure {self.number}: {shows}", self.rows, self.draw, self.claims
        )


def draw_by_topics(rows, figure, measure: str, by: str):
    """A measure, and the CPU time, against K."""
    for axes, y in zip(figure.subplots(1, 2), (measure, "cpu_seconds"), strict=True):
        for label, (xs, ys) in series(rows, "topics", y, by).items():
            axes.plot(xs, ys, "o-", label=label)
        axes.set(xlabel="topics K", ylabel=y.replace("_", " "))
    from_zero(figure.axes[1])
    figure.axes[0].set(ylim=(0, 1))
    figure.axes[0].legend()


#: Behind a lower score of the composed sampler: the guide, "Which kernel", compares both by log joint.
LESS_FAR = (
    "after as many sweeps a composed chain is less far on its way; its log joint is lower, also at the same "
    "CPU time (measured by kernel_choice.py)"
)


def quality(rows, number: str, measure: str, says: str) -> Claim:
    """Both samplers are about as good."""
    by = {
        label: dict(zip(*xy, strict=True)) for label, xy in series(rows, "topics", measure, "sampler").items()
    }
    worst = max(by["dense"][k] - by["composed"][k] for k in by["dense"])
    here = (
        f"composed {span(by['composed'].values(), '.3f')}, dense {span(by['dense'].values(), '.3f')} for "
        f"K = {span(by['dense'], 'd')}; composed at most {max(worst, 0.0):.3f} lower"
    )
    return Claim(f"Zheng et al. 2015, fig. {number}", says, here, worst < 0.03, LESS_FAR)


def cost(rows, number: str):
    """The time of either, smallest to largest K, and of one against the other."""
    times = {label: xy[1] for label, xy in series(rows, "topics", "cpu_seconds", "sampler").items()}
    topics = [row["topics"] for row in pick(rows, sampler="dense")]
    growth = {label: seconds[-1] / seconds[0] for label, seconds in times.items()}
    ratio = times["dense"][-1] / times["composed"][-1]
    yield Claim(
        f"Zheng et al. 2015, fig. {number}",
        "time grows sharply with K for the O(K) sampler, little for the composed one",
        f"K = {topics[0]} to {topics[-1]}: dense {growth['dense']:.1f} times, composed "
        f"{growth['composed']:.1f} times",
        growth["composed"] < 0.7 * growth["dense"],
    )
    yield Claim(
        f"Zheng et al. 2015, fig. {number}",
        "the composed sampler is about ten times as fast at the largest K",
        f"K = {topics[-1]}: dense takes {ratio:.2f} of composed's time for as many sweeps",
        ratio > 3,
        "our dense sampler is vectorised over topics and has no loop over outputs",
    )


SAME = "both samplers have about the same accuracy, the composed one a little more"

BINARY = Figure(
    "1", "20ng_binary", (), (10, 40, 100), 10, "accuracy",
    f"{SAME}, around .80 for K = 10 to 100", seeds=3,
)  # fmt: skip
MULTICLASS = Figure("2", "20ng_dense", (), (20, 100, 400), 25, "accuracy", f"{SAME}; it falls beyond K = 150")
LOGISTIC = Figure(
    "4", "20ng_logistic", ("alpha_sum=5.6", "loss.cost=409.6"), (20, 100, 300), 40, "accuracy",
    "logistic loss: comparable accuracy",
)  # fmt: skip
REGRESSION = Figure(
    "5", "paper000_reviews", ("weights.variance=1.0",), (10, 20, 40, 80), 15, "r2",
    "regression: comparable predictive R2",
)  # fmt: skip


def falling(rows):
    """Figure 2 says more of its left panel."""
    yield from MULTICLASS.claims(rows)
    accuracy = dict(zip(*series(rows, "topics", "accuracy", "sampler")["composed"], strict=True))
    last = max(accuracy)
    best = max(accuracy.values())
    yield Claim(
        "Zheng et al. 2015, fig. 2",
        "accuracy falls beyond 150 topics with 25 sweeps",
        f"composed: {best:.3f} at its best K, {accuracy[last]:.3f} at K = {last}",
        accuracy[last] < best - 0.01,
        "predictions average draws of the weights and several chains a document",
    )


def against_rest(context: Context):
    """One chain for all classes, or one a class against the rest."""
    for n_topics in context.size((20,), (4,)):
        for scheme in ("multitask", "ovr"):
            setup = context.experiment("20ng_dense", f"n_topics={n_topics}")
            start = time.process_time()
            fitted, _ = setup.fit(
                context.size(10, 3), context.seed, multiclass=scheme, **samplers()["composed"]
            )
            yield {
                "topics": n_topics, "scheme": scheme, "accuracy": setup.score(fitted),
                "sampling_seconds": fitted.seconds, "cpu_seconds": time.process_time() - start,
            }  # fmt: skip


def draw_against_rest(rows, figure):
    for axes, y in zip(figure.subplots(1, 2), ("accuracy", "cpu_seconds"), strict=True):
        axes.bar([row["scheme"] for row in rows], [row[y] for row in rows])
        axes.set(ylabel=y.replace("_", " "), title=f"K = {rows[0]['topics']}")


def claims_against_rest(rows):
    one, rest = (value(rows, "cpu_seconds", scheme=s) for s in ("multitask", "ovr"))
    scores = [value(rows, "accuracy", scheme=s) for s in ("multitask", "ovr")]
    yield Claim(
        "Zheng et al. 2015, fig. 2",
        "one chain for all classes takes far less time than one a class, with similar accuracy",
        f"{rest / one:.1f} times the time one against the rest; accuracy {scores[0]:.3f} shared, "
        f"{scores[1]:.3f} one against the rest, after few sweeps",
        rest > 3 * one,
    )


def many_labels(context: Context):
    """A corpus of the shape of the 1.1 M documents with 20 labels, simulated at 1 to 180 of its size."""
    n_train, n_test, n_words, length, themes = context.size(
        (6000, 1000, 10_000, 60, 100), (150, 60, 300, 30, 12)
    )
    rng = np.random.default_rng(context.seed)
    corpus = labelled(rng, n_train + n_test, n_words, length, themes, context.size(20, 4))
    train, test = corpus.take(np.arange(n_train)), corpus.take(np.arange(n_train, n_train + n_test))
    for n_topics in context.size((25, 100, 400), (4, 8)):
        for label, options in samplers().items():
            if label == "composed":
                options = {**options, "weight_passes": 4}
            model = ps.Model(
                n_topics, 6.4 / n_topics, 0.01, loss=ps.losses.Hinge(102.4), weights=ps.priors.Normal(0.001)
            )
            start = time.process_time()
            sweeps = context.size(30, 3)
            fitted = ps.fit(train, model, sweeps=sweeps, seed=context.seed, **options)
            seconds = time.process_time() - start
            start = time.process_time()
            measures = evaluate(fitted, test).measures
            yield {
                "topics": n_topics, "sampler": label, "f1": measures["f1_micro"],
                "f1_macro": measures["f1_macro"], "cpu_seconds": seconds,
                "ns_token": 1e9 * seconds / sweeps / train.n_tokens,
                "test_cpu_seconds": time.process_time() - start, "tokens": train.n_tokens,
            }  # fmt: skip


def labelled(rng, n_documents: int, n_words: int, length: int, n_themes: int, n_labels: int) -> ps.Corpus:
    """Documents of a few themes each; a label goes with some themes, where they are most of a document."""
    rank = rng.permuted(np.tile(1.0 / np.arange(1, n_words + 1), (n_themes, 1)), axis=1)
    phi = np.cumsum(rank / rank.sum(axis=1, keepdims=True), axis=1)
    lengths = rng.poisson(length, n_documents)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    few = rng.integers(n_themes, size=(n_documents, 4))
    share = rng.dirichlet(np.ones(4), n_documents)
    document = np.repeat(np.arange(n_documents), lengths)
    choice = (rng.random(len(document))[:, None] > np.cumsum(share, axis=1)[document]).sum(axis=1)
    theme = few[document, np.minimum(choice, 3)]
    words = np.empty(len(document), np.int64)
    for t in range(n_themes):
        here = theme == t
        words[here] = np.minimum(np.searchsorted(phi[t], rng.random(here.sum())), n_words - 1)
    theta = np.zeros((n_documents, n_themes))
    np.add.at(theta, (np.repeat(np.arange(n_documents), 4), few.ravel()), share.ravel())
    belongs = rng.random((n_themes, n_labels)) < 3.0 / n_labels
    noisy = theta @ belongs + rng.normal(0, 0.1, (n_documents, n_labels))
    return ps.Corpus(words, offsets, n_words=n_words, responses=(noisy > 0.4).astype(int))


def draw_many_labels(rows, figure):
    draw_by_topics(rows, figure, "f1", "sampler")


def claims_many_labels(rows):
    yield quality(
        rows, "3", "f1", "1.1 M documents, 20 labels: both samplers have the same F1 (.55), at all K"
    )
    yield from cost(rows, "3")


STUDIES = (
    BINARY.study("lightmed_binary", "two classes, accuracy and time against K"),
    Study(
        "lightmed_multiclass", "Zheng et al. 2015, figure 2: 20 classes, accuracy and time against K",
        MULTICLASS.rows,
        MULTICLASS.draw, falling,
    ),
    Study(
        "lightmed_ovr", "Zheng et al. 2015, figure 2: one chain for all classes or one a class", against_rest,
        draw_against_rest, claims_against_rest,
    ),
    Study(
        "lightmed_labels", "Zheng et al. 2015, figure 3: many documents with several labels (simulated)",
        many_labels,
        draw_many_labels, claims_many_labels,
    ),
    LOGISTIC.study("lightmed_logistic", "the logistic loss"),
    REGRESSION.study("lightmed_regression", "regression with the epsilon-insensitive loss"),
)  # fmt: skip
