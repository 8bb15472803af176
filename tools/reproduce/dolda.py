"""Magnusson et al. 2020, figures 2, 7, 8 and 9: accuracy by prior and way of learning, topics, scaling."""

from __future__ import annotations

import time

import numpy as np
from scipy import stats

import plugsamp as ps
from plugsamp.diagnostics import topic_table
from tools.reproduce.claims import Claim, pick
from tools.reproduce.study import Context, Study, series

PRIORS = {"normal": (), "horseshoe": ("weights=horseshoe", "~weights.variance")}


def priors(context: Context):
    """Accuracy of normal and horseshoe, joint and two-step, and of MedLDA's loss, against K."""
    for n_topics in context.size((20, 100), (5,)):
        for prior, overrides in PRIORS.items():
            for supervised in ("joint", "two_step"):
                setup = context.experiment("20ng_probit", f"n_topics={n_topics}", *overrides)
                fitted, seconds = setup.fit(context.size(80, 4), context.seed, supervised=supervised)
                yield {
                    "topics": n_topics, "model": f"{prior}, {supervised.replace('_', ' ')}",
                    "accuracy": setup.score(fitted), "cpu_seconds": seconds,
                    "small": small(fitted.eta.mean(axis=0)[:, :n_topics]),
                }  # fmt: skip
        setup = context.experiment("20ng_dense", f"n_topics={n_topics}")
        fitted, seconds = setup.fit(context.size(40, 4), context.seed)
        yield {
            "topics": n_topics, "model": "MedLDA (hinge)", "accuracy": setup.score(fitted),
            "cpu_seconds": seconds, "small": small(fitted.eta.mean(axis=0)[:, :n_topics]),
        }  # fmt: skip


def small(weights) -> float:
    """The share of weights (C, J) that are below a tenth of their output's largest."""
    size = np.abs(weights)
    return float((size < 0.1 * size.max(axis=1, keepdims=True)).mean())


def draw_priors(rows, figure):
    for axes, y in zip(figure.subplots(1, 2), ("accuracy", "small"), strict=True):
        for label, (xs, ys) in series(rows, "topics", y, "model").items():
            axes.plot(xs, ys, "o-", label=label)
        axes.set(xlabel="topics K", ylabel=y)
    figure.axes[1].set_ylabel("weights below a tenth of their class's largest")
    figure.axes[0].legend(fontsize="small")


def claims_priors(rows):
    mean = {
        label: float(np.mean([row["accuracy"] for row in pick(rows, model=label)]))
        for label in dict.fromkeys(row["model"] for row in rows)
    }
    joint = {p: mean[f"{p}, joint"] for p in PRIORS}
    two = {p: mean[f"{p}, two step"] for p in PRIORS}
    yield Claim(
        "Magnusson et al. 2020, fig. 2",
        "20 newsgroups: learning jointly is a few points above two steps, with either prior",
        "; ".join(f"{p}: {joint[p]:.3f} joint, {two[p]:.3f} in two steps" for p in PRIORS)
        + " (means over K)",
        all(joint[p] > two[p] for p in PRIORS),
    )
    best = max(joint.values())
    yield Claim(
        "Magnusson et al. 2020, fig. 2",
        "slightly less accurate than MedLDA",
        f"{best:.3f}, MedLDA's loss {mean['MedLDA (hinge)']:.3f}",
        0 < mean["MedLDA (hinge)"] - best < 0.05,
        "a label counts once beside the words, and the chain needs far more sweeps than were run (results)"
        if mean["MedLDA (hinge)"] - best >= 0.05
        else "",
    )


def topics(context: Context):
    """Coherence and document entropy of topics by their effect on the labels, joint and without labels."""
    n_topics = context.size(50, 5)
    for prior, overrides in {**PRIORS, "no labels": ()}.items():
        setup = context.experiment("20ng_probit", f"n_topics={n_topics}", *overrides)
        options = {"supervised": "two_step"} if prior == "no labels" else {}
        fitted, _ = setup.fit(context.size(80, 4), context.seed, **options)
        columns = topic_table(
            fitted.chain, fitted.phi, fitted.eta.mean(axis=0), setup.train.counts()
        )
        for k in range(n_topics):
            yield {"model": prior, "topic": k, **{name: values[k].item() for name, values in columns.items()}}


def draw_topics(rows, figure):
    axes = figure.subplots(1, 4)
    for left, right, y in ((axes[0], axes[2], "coherence"), (axes[1], axes[3], "document_entropy")):
        for label, (xs, ys) in series(rows, "supervised_effect", y, "model").items():
            if label != "no labels":
                right.plot(xs, ys, "o", alpha=0.6, label=label, ms=4)
        groups = series(rows, "topic", y, "model")
        left.boxplot([ys for _, ys in groups.values()], tick_labels=[g.replace(" ", "\n") for g in groups])
        left.set(ylabel=y.replace("_", " "))
        right.set(xlabel="supervised effect, sum of |eta|", ylabel=y.replace("_", " "))
    axes[2].legend(fontsize="small")


def claims_topics(rows):
    for y in ("coherence", "document_entropy"):
        median = {k: float(np.median(ys)) for k, (_, ys) in series(rows, "topic", y, "model").items()}
        widths = [
            np.subtract(*np.percentile(ys, (75, 25))) for _, ys in series(rows, "topic", y, "model").values()
        ]
        yield Claim(
            "Magnusson et al. 2020, fig. 7",
            f"{y.replace('_', ' ')} of topics hardly differs between priors, nor with and without labels",
            "medians: "
            + ", ".join(f"{k} {m:.2f}" for k, m in median.items())
            + f", quartiles {min(widths):.2f} apart",
            max(median.values()) - min(median.values()) < min(widths),
        )
    found = {}
    for prior in PRIORS:
        here = pick(rows, model=prior)
        found[prior] = {
            y: stats.spearmanr([r["supervised_effect"] for r in here], [r[y] for r in here]).statistic
            for y in ("coherence", "document_entropy")
        }
    yield Claim(
        "Magnusson et al. 2020, fig. 8",
        "20 newsgroups: coherence rises a little with the supervised effect",
        "rank correlations: " + ", ".join(f"{p} {found[p]['coherence']:.2f}" for p in PRIORS),
        all(found[p]["coherence"] > 0 for p in PRIORS),
        "topics of few documents are less coherent and, under the normal prior, have the larger weights",
    )
    effects = {p: float(np.median([r["supervised_effect"] for r in pick(rows, model=p)])) for p in PRIORS}
    yield Claim(
        "Magnusson et al. 2020, fig. 8",
        "with the horseshoe supervised effects are smaller",
        ", ".join(f"{p} {e:.1f}" for p, e in effects.items()) + " (medians)",
        effects["horseshoe"] < effects["normal"],
    )


def scaling(context: Context):
    """Seconds a sweep against documents, topics and classes, on simulated documents with labels."""
    sizes = {"documents": (500, 1000, 2000, 4000), "topics": (20, 50, 100, 200), "classes": (5, 20, 80, 240)}
    usual = {"documents": 1000, "topics": 100, "classes": 20}
    if context.smoke:
        sizes = {"documents": (60, 120), "topics": (4, 8), "classes": (5, 20)}
        usual = {"documents": 100, "topics": 8, "classes": 5}
    for what, values in sizes.items():
        for amount in values:
            size = {**usual, what: amount}
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
            yield {"varied": what, "value": amount, **size, "cpu_seconds": float(np.median(times))}


def draw_scaling(rows, figure):
    axes = figure.subplots()
    for label, (xs, ys) in series(rows, "value", "cpu_seconds", "varied").items():
        axes.plot(np.array(xs) / xs[0], np.array(ys) / ys[0], "o-", label=f"{label}, from {xs[0]}")
    axes.plot([1, 48], [1, 48], color="0.8", lw=0.8, label="linear")
    axes.set(xscale="log", yscale="log", xlabel="times as many", ylabel="times the CPU time of a sweep")
    axes.legend()


def claims_scaling(rows):
    growth = {}
    for what, (xs, ys) in series(rows, "value", "cpu_seconds", "varied").items():
        growth[what] = (xs[-1] / xs[0], ys[-1] / ys[0])
    more, longer = growth["documents"]
    yield Claim(
        "Magnusson et al. 2020, fig. 9", "time is about linear in the size of the corpus",
        f"{more:g} times the documents take {longer:.2f} times as long", 0.7 * more < longer < 1.3 * more,
    )  # fmt: skip
    more, longer = growth["classes"]
    yield Claim(
        "Magnusson et al. 2020, fig. 9",
        "the number of classes, 31 or 240, matters far less than that of documents",
        f"{more:g} times the classes take {longer:.2f} times as long, at K = {rows[0]['topics']}",
        longer < 0.25 * more,
    )


STUDIES = (
    Study(
        "dolda_accuracy", "Magnusson et al. 2020, figure 2: 20 newsgroups, priors, joint and two-step",
        priors, draw_priors,
        claims_priors,
    ),
    Study(
        "dolda_topics",
        "Magnusson et al. 2020, figures 7 and 8: coherence and entropy, also by supervised effect",
        topics,
        draw_topics, claims_topics, (15.0, 4.0),
    ),
    Study(
        "dolda_scaling", "Magnusson et al. 2020, figure 9: time against documents, topics and classes",
        scaling, draw_scaling,
        claims_scaling,
    ),
)  # fmt: skip
