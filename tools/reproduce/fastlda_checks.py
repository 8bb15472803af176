"""Speed-up by alpha and by size of the collection, and that draws are those of dense Gibbs.

Porteous et al. (2008).
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
from scipy import stats

import plugsamp as ps
from plugsamp.diagnostics import sparsity
from plugsamp.prediction.perplexity import document_completion
from tools.reproduce.claims import Claim, pick
from tools.reproduce.study import Context, Study, from_zero, log_axis, series

BETA = 0.01


def _speed_up(corpus, alpha: float, n_topics: int, context: Context) -> dict:
    """Median ratio of CPU times of a sweep, dense to FastLDA, from the same topics and in turn."""
    model = ps.Model(n_topics, alpha, BETA)
    z = ps.Chain(corpus, model, ps.kernels.SparseLDA(), seed=context.seed).run(context.size(60, 3)).z
    kernels = {"dense": ps.kernels.Dense(), "fast": ps.kernels.FastLDA("2-2-inf")}
    chains = {k: ps.Chain(corpus, model, kernel, seed=context.seed, init=z) for k, kernel in kernels.items()}
    times = {k: [] for k in chains}
    for _ in range(context.size(5, 2)):
        for label, chain in chains.items():
            start = time.process_time()
            chain.run(1)
            times[label].append(time.process_time() - start)
    found = chains["fast"].counts
    return {
        "speed_up": float(np.median(np.array(times["dense"]) / np.array(times["fast"]))),
        "topics_per_document": sparsity(found.doc_topic, found.topic_word)["topics_per_document"],
    }


def by_alpha(context: Context):
    """Speed-up against alpha, and against the number of documents."""
    corpus = context.unsupervised("nips")
    n_topics = context.size(400, 12)
    for times_k in context.size((0.2, 2, 20, 80), (2, 20)):
        found = _speed_up(corpus, times_k / n_topics, n_topics, context)
        yield {"varied": "alpha", "value": times_k / n_topics, "topics": n_topics, **found}
    rng = np.random.default_rng(context.seed)
    for n in (corpus.n_documents // 4, corpus.n_documents // 2, corpus.n_documents):
        some = corpus.take(np.sort(rng.choice(corpus.n_documents, n, replace=False)))
        found = _speed_up(some, 2 / n_topics, n_topics, context)
        yield {"varied": "documents", "value": n, "topics": n_topics, **found}


def draw_by_alpha(rows, figure):
    for axes, what in zip(figure.subplots(1, 2, sharey=True), ("alpha", "documents"), strict=True):
        here = pick(rows, varied=what)
        axes.plot([row["value"] for row in here], [row["speed_up"] for row in here], "o-")
        axes.axhline(1, color="0.7", lw=0.8)
        axes.set(xlabel=what)
        from_zero(axes)
        if what == "alpha":
            log_axis(axes, [row["value"] for row in here])
    figure.axes[0].set_ylabel(f"speed-up over dense, K = {rows[0]['topics']}")


def claims_by_alpha(rows):
    alphas = pick(rows, varied="alpha")
    speed = [row["speed_up"] for row in alphas]
    yield Claim(
        "Porteous et al. 2008, fig. 9",
        "a smaller alpha gives more speed-up",
        ", ".join(f"alpha = {row['value']:g}: {row['speed_up']:.2f}" for row in alphas),
        all(a > b for a, b in pairwise(speed)),
    )
    sizes = pick(rows, varied="documents")
    speed = [row["speed_up"] for row in sizes]
    yield Claim(
        "Porteous et al. 2008, fig. 8",
        "the size of the collection hardly matters",
        ", ".join(f"{row['value']} documents: {row['speed_up']:.2f}" for row in sizes),
        max(speed) < 1.35 * min(speed),
    )


def same_draws(context: Context):
    """Draws of one token with everything else fixed; perplexity after as many sweeps, by kernel and seed."""
    corpus = context.unsupervised("nips")
    some = corpus.take(np.arange(context.size(30, 10)))
    n_topics, n_draws = context.size((20, 4000), (5, 200))
    model = ps.Model(n_topics, 2.0 / n_topics, BETA)
    z = ps.Chain(some, model, ps.kernels.SparseLDA(), seed=context.seed).run(context.size(50, 5)).z
    expected = ps.Chain(some, model, ps.kernels.Dense(), init=z).token_transition(0)[z[0]]
    train, held_out = (
        corpus.take(np.arange(0, corpus.n_documents, 2)),
        corpus.take(np.arange(1, corpus.n_documents, 2)),
    )
    for label, kernel in (
        ("dense", ps.kernels.Dense()), ("fast 2-2-inf", ps.kernels.FastLDA("2-2-inf")),
        ("fast 3-3-3", ps.kernels.FastLDA("3-3-3")),
    ):  # fmt: skip
        chain = ps.Chain(some, model, kernel, seed=context.seed, init=z)
        seen = np.zeros(n_topics, int)
        for _ in range(n_draws):
            chain.set_state(z=z)
            chain.run(1)
            seen[chain.z[0]] += 1  # drawn first, when no other token has moved
        likely = expected * n_draws >= 5
        observed = np.append(seen[likely], seen[~likely].sum())
        wanted = np.append(expected[likely], expected[~likely].sum()) * n_draws
        keep = wanted > 0
        p = stats.chisquare(observed[keep], wanted[keep] * observed[keep].sum() / wanted[keep].sum()).pvalue
        for seed in range(context.size(3, 2)):
            fitted = ps.fit(train, model, kernel, sweeps=context.size(40, 3), seed=seed)
            yield {
                "kernel": label, "seed": seed, "draws": n_draws, "p": float(p),
                "perplexity": document_completion(fitted, held_out).perplexity,
            }  # fmt: skip


def draw_same_draws(rows, figure):
    axes = figure.subplots()
    found = series(rows, "seed", "perplexity", "kernel")
    for number, (_, values) in enumerate(found.values()):
        axes.plot([number] * len(values), values, "o", color="C0")
    labels = [f"{label}\ndraws of a token: p = {value_of(rows, label):.2f}" for label in found]
    axes.set_xticks(range(len(found)), labels)
    axes.set(ylabel="perplexity of held-out halves, by seed", xlim=(-0.5, len(found) - 0.5))


def value_of(rows, label: str) -> float:
    return pick(rows, kernel=label)[0]["p"]


def claims_same_draws(rows):
    labels = list(dict.fromkeys(row["kernel"] for row in rows))
    yield Claim(
        "Porteous et al. 2008, sec. 6",
        "with all other topics fixed, histograms of 1000 draws of a token are the same",
        f"{rows[0]['draws']} draws against the exact conditional, chi-squared p: "
        + ", ".join(f"{label} {value_of(rows, label):.2f}" for label in labels),
        min(value_of(rows, label) for label in labels) > 0.001,
    )
    mean = {label: np.mean([row["perplexity"] for row in pick(rows, kernel=label)]) for label in labels}
    spread = max(np.ptp([row["perplexity"] for row in pick(rows, kernel=label)]) for label in labels)
    yield Claim(
        "Porteous et al. 2008, sec. 6",
        "perplexity on NIPS is the same",
        ", ".join(f"{label} {m:.0f}" for label, m in mean.items()) + f" (seeds up to {spread:.0f} apart)",
        np.ptp(list(mean.values())) <= max(2 * spread, 0.01 * min(mean.values())),
    )


STUDIES = (
    Study(
        "fastlda_alpha", "Porteous et al. 2008, figures 8 and 9: speed-up by collection size and alpha",
        by_alpha,
        draw_by_alpha, claims_by_alpha,
    ),
    Study(
        "fastlda_same", "Porteous et al. 2008, section 6: the same draws and the same perplexity as dense",
        same_draws,
        draw_same_draws, claims_same_draws,
    ),
)  # fmt: skip
