"""Paper 004: DO-probit with a normal and a horseshoe prior, joint and in two steps; what topics are like."""

from __future__ import annotations

import time

import numpy as np

import plugsamp as ps
from plugsamp.diagnostics import topic_table
from tools.reproduce.study import Context, Study, series


def priors(context: Context):
    """Accuracy of normal and horseshoe, joint and two-step, against K."""
    for n_topics in context.size((20, 50, 100), (5,)):
        for prior in ("normal", "horseshoe"):
            for supervised in ("joint", "two_step"):
                override = [f"weights={prior}", f"n_topics={n_topics}"]
                if prior == "horseshoe":
                    override.append("~weights.variance")
                setup = context.experiment("20ng_probit", *override)
                fitted, seconds = setup.fit(context.size(150, 4), context.seed, supervised=supervised)
                weights = np.abs(fitted.predictor.eta.mean(axis=0)[:, :n_topics])
                yield {
                    "topics": n_topics, "prior": prior, "supervised": supervised,
                    "accuracy": setup.accuracy(fitted.predictor), "cpu_seconds": seconds,
                    "below_a_tenth": float((weights < 0.1 * weights.max()).mean()),
                }  # fmt: skip


def draw_priors(rows, figure):
    rows = [{**row, "key": f"{row['prior']}, {row['supervised']}"} for row in rows]
    for axes, y in zip(figure.subplots(1, 2), ("accuracy", "below_a_tenth"), strict=True):
        for label, (xs, ys) in series(rows, "topics", y, "key").items():
            axes.plot(xs, ys, "o-", label=label)
        axes.set(xlabel="topics K", ylabel=y.replace("_", " "))
    figure.axes[0].legend(fontsize="small")


def topics(context: Context):
    """Coherence and document entropy of topics by their effect on the labels."""
    for prior in ("normal", "horseshoe"):
        override = [f"weights={prior}", f"n_topics={context.size(50, 5)}"]
        if prior == "horseshoe":
            override.append("~weights.variance")
        setup = context.experiment("20ng_probit", *override)
        fitted, _ = setup.fit(context.size(150, 4), context.seed)
        columns = topic_table(
            fitted.chain, fitted.predictor.phi, fitted.predictor.eta.mean(axis=0), setup.train.counts()
        )
        for k in range(fitted.chain.state.n_topics):
            yield {"prior": prior, "topic": k, **{name: values[k].item() for name, values in columns.items()}}


def draw_topics(rows, figure):
    for axes, y in zip(figure.subplots(1, 2), ("coherence", "document_entropy"), strict=True):
        for label, (xs, ys) in series(rows, "supervised_effect", y, "prior").items():
            axes.plot(xs, ys, "o", alpha=0.6, label=label)
        axes.set(xlabel="supervised effect, sum of |eta|", ylabel=y.replace("_", " "))
    figure.axes[0].legend()


def scaling(context: Context):
    """Seconds a sweep against documents, topics and classes, on simulated documents with labels."""
    sizes = {"documents": (500, 1000, 2000, 4000), "topics": (20, 50, 100, 200), "classes": (5, 20, 80, 240)}
    usual = {"documents": 1000, "topics": 50, "classes": 20}
    if context.smoke:
        sizes = {name: values[:2] for name, values in sizes.items()}
        usual = {"documents": 100, "topics": 8, "classes": 5}
        sizes["documents"] = (60, 120)
        sizes["topics"] = (4, 8)
    for what, values in sizes.items():
        for value in values:
            size = {**usual, what: value}
            rng = np.random.default_rng(context.seed)
            counts = rng.poisson(0.1, (size["documents"], 1000))
            labels = rng.permutation(np.arange(size["documents"]) % size["classes"])
            corpus = ps.Corpus.from_counts(counts, responses=labels)
            chain = ps.Chain(corpus, ps.Model(size["topics"], loss="probit"), seed=context.seed).run(2)
            times = []
            for _ in range(context.size(7, 2)):
                start = time.process_time()
                chain.run(1)
                times.append(time.process_time() - start)
            yield {"varied": what, "value": value, **size, "cpu_seconds": float(np.median(times))}


def draw_scaling(rows, figure):
    axes = figure.subplots()
    for label, (xs, ys) in series(rows, "value", "cpu_seconds", "varied").items():
        axes.plot(np.array(xs) / xs[0], np.array(ys) / ys[0], "o-", label=f"{label}, from {xs[0]}")
    axes.plot([1, 48], [1, 48], color="0.8", lw=0.8)
    axes.set(xscale="log", yscale="log", xlabel="times as many", ylabel="times the CPU time of a sweep")
    axes.legend()


STUDIES = (
    Study(
        "dolda_priors",
        "004 figures 2 and 3, table 3: normal and horseshoe, joint and two-step",
        priors,
        draw_priors,
    ),
    Study(
        "dolda_topics", "004 figures 7 and 8: coherence and entropy by supervised effect", topics, draw_topics
    ),
    Study("dolda_scaling", "004 figure 9: time against documents, topics and classes", scaling, draw_scaling),
)
