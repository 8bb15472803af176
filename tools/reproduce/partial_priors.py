"""Magnusson et al. 2018: time by alpha and beta, where chains end up, and topics with words of their own."""

from __future__ import annotations

import time

import numpy as np

import plugsamp as ps
from plugsamp.diagnostics import sparsity
from tools.reproduce.claims import Claim, pick, span, value
from tools.reproduce.study import Context, Study, log_axis, series

ALPHA, BETA = 0.1, 0.01
PAIR = {"sparse LDA": ps.kernels.SparseLDA, "sparse PC": ps.kernels.SparsePCLDA}


def priors(context: Context):
    """CPU time a sweep of collapsed sparse LDA and sparse PC-LDA for small and large alpha and beta."""
    corpus = context.unsupervised("kos")
    n_topics = context.size(100, 8)
    for alpha in (0.01, 0.1):
        for beta in (0.01, 0.1):
            chains = {
                label: ps.Chain(corpus, ps.Model(n_topics, alpha, beta), kernel(), seed=context.seed)
                for label, kernel in PAIR.items()
            }
            for chain in chains.values():
                chain.run(context.size(50, 3))
            times = {label: [] for label in chains}
            for _ in range(context.size(9, 2)):
                for label, chain in chains.items():
                    start = time.process_time()
                    chain.run(1)
                    times[label].append(time.process_time() - start)
            for label, seconds in times.items():
                yield {
                    "corpus": "kos", "topics": n_topics, "alpha": alpha, "beta": beta, "kernel": label,
                    "ns_token": 1e9 * float(np.median(seconds)) / corpus.n_tokens,
                }  # fmt: skip


def draw_priors(rows, figure):
    axes = figure.subplots()
    cells = list(dict.fromkeys((row["alpha"], row["beta"]) for row in rows))
    for shift, label in zip((-0.2, 0.2), PAIR, strict=True):
        heights = [value(rows, "ns_token", alpha=a, beta=b, kernel=label) for a, b in cells]
        axes.bar(np.arange(len(cells)) + shift, heights, 0.4, label=label)
    axes.set_xticks(range(len(cells)), [f"alpha = {a}\nbeta = {b}" for a, b in cells])
    axes.set_ylabel("CPU ns a token and sweep")
    figure.legend(loc="outside upper center", ncols=2)


def claims_priors(rows):
    ratios = {
        (a, b): value(rows, "ns_token", alpha=a, beta=b, kernel="sparse PC")
        / value(rows, "ns_token", alpha=a, beta=b, kernel="sparse LDA")
        for a, b in dict.fromkeys((row["alpha"], row["beta"]) for row in rows)
    }
    yield Claim(
        "Magnusson et al. 2018, fig. 4.1",
        "sparse PC-LDA takes longer than sparse LDA only for alpha = .1 and beta = .01",
        "times sparse LDA's: " + ", ".join(f"alpha {a}, beta {b}: {r:.2f}" for (a, b), r in ratios.items()),
        all((r > 1) == (cell == (0.1, 0.01)) for cell, r in ratios.items()),
        "on one core, and our sparse LDA packs its counts",
    )
    yield Claim(
        "Magnusson et al. 2018, sec. 4",
        "alpha = .1 with beta = .01 is the least favourable to sparse PC-LDA",
        f"there {ratios[0.1, 0.01]:.2f}, elsewhere "
        + span([r for cell, r in ratios.items() if cell != (0.1, 0.01)]),
        max(ratios, key=ratios.get) == (0.1, 0.01),
    )


def modes(context: Context):
    """Where chains of either collapse end up from the same random topics: log posterior and sparsity."""
    corpus = context.unsupervised("kos")
    for n_topics in context.size((20, 100), (5,)):
        for seed in range(context.seed, context.seed + context.size(2, 2)):
            z = np.random.default_rng(seed).integers(0, n_topics, corpus.n_tokens)
            for label, kernel in PAIR.items():
                chain = ps.Chain(corpus, ps.Model(n_topics, ALPHA, BETA), kernel(), seed=seed, init=z)
                for sweep in context.size((5, 10, 20, 50, 100, 200, 500, 1000), (2, 4)):
                    chain.run(sweep - chain.sweep)
                    filled = sparsity(chain.counts.doc_topic, chain.counts.topic_word)
                    yield {
                        "topics": n_topics, "seed": seed, "kernel": label, "sweep": sweep,
                        "log_joint": chain.log_joint()["words"] / corpus.n_tokens,
                        "filled_topic_word": filled["topic_word"], "filled_doc_topic": filled["doc_topic"],
                    }  # fmt: skip


def draw_modes(rows, figure):
    sizes = list(dict.fromkeys(row["topics"] for row in rows))
    columns = ("log_joint", "filled_topic_word", "filled_doc_topic")
    for line, n_topics in zip(figure.subplots(len(sizes), 3, squeeze=False), sizes, strict=True):
        for axes, y in zip(line, columns, strict=True):
            for colour, label in zip(("C0", "C1"), PAIR, strict=True):
                here = pick(rows, topics=n_topics, kernel=label)
                for number, (xs, ys) in enumerate(series(here, "sweep", y, "seed").values()):
                    axes.plot(xs, ys, ".-", color=colour, label=label if not number else None)
            axes.set(xlabel="sweep", ylabel=y.replace("_", " "), title=f"K = {n_topics}")
            log_axis(axes, [row["sweep"] for row in here])
    figure.axes[0].legend()


def claims_modes(rows):
    last = max(row["sweep"] for row in rows)
    for n_topics in dict.fromkeys(row["topics"] for row in rows):
        here = pick(rows, topics=n_topics, sweep=last)
        full, partial = (pick(here, kernel=label) for label in PAIR)
        shown, means = [], []
        for column, name, form in (
            ("log_joint", "log posterior a token", ".3f"),
            ("filled_topic_word", "filled share of topic-word counts", ".4f"),
        ):
            spans = [span([r[column] for r in rs], form) for rs in (full, partial)]
            shown.append(f"{name} {spans[0]} collapsed, {spans[1]} partial")
            means.append([float(np.mean([r[column] for r in rs])) for rs in (full, partial)])
        yield Claim(
            "Magnusson et al. 2018, fig. 4.2, 4.3 (one core)",
            "the partial chain ends at the collapsed one's log posterior, and in the sparsest topics",
            f"K = {n_topics}, {last} sweeps from the same topics: " + "; ".join(shown),
            abs(means[0][0] - means[0][1]) < 0.03 and means[1][1] <= means[1][0] * 1.02,
        )


def spike_slab(context: Context):
    """Zeros in the topics, and the log posterior of the counts, by the prior share of a topic's words."""
    for name in context.size(("nips",), ("nips",)):
        corpus = context.unsupervised(name)
        n_topics = context.size(100, 8)
        for share in (0.1, 0.5, 1.0):
            prior = ps.topics.SpikeSlab(share) if share < 1 else ps.topics.Dirichlet()
            model = ps.Model(n_topics, ALPHA, BETA, topics=prior)
            fitted = ps.fit(
                corpus, model, "sparse_pc", sweeps=context.size(100, 4), thin=5, seed=context.seed
            )
            chain, zeros = fitted.chain, []
            for _ in chain.sweeps(context.size(10, 2)):
                zeros.append(float((chain.phi == 0).mean()))
            plain = chain_words(chain)
            yield {
                "corpus": name, "topics": n_topics, "share": share, "zeros": float(np.mean(zeros)),
                "log_joint": chain.log_joint()["words"] / corpus.n_tokens,
                "log_counts": plain / corpus.n_tokens,
            }  # fmt: skip


def chain_words(chain) -> float:
    """log p(w, z | I): what the paper calls the log marginalised posterior, without the Bernoulli terms."""
    from scipy.special import gammaln

    from plugsamp.diagnostics import log_documents

    state = chain.state
    indptr, topics, counts = state.doc_topic()
    total = log_documents(indptr, topics, counts, np.diff(state.offsets), state.alpha_prior)
    table = chain.counts.topic_word
    kept = chain.phi > 0 if state.masked else np.ones(table.shape, bool)
    size = BETA * kept.sum(axis=1)
    total += float((gammaln(size) - gammaln(size + table.sum(axis=1))).sum())
    used = table[table > 0]
    return total + float((gammaln(used + BETA) - gammaln(BETA)).sum())


def draw_spike_slab(rows, figure):
    left, right = figure.subplots(1, 2)
    labels = [f"{row['share']:g}" for row in rows]
    left.bar(labels, [row["zeros"] for row in rows])
    left.set(xlabel="prior share of words in a topic", ylabel="zeros in the topics", ylim=(0, 1))
    right.plot(labels, [row["log_counts"] for row in rows], "o-")
    right.set(xlabel="prior share of words in a topic", ylabel="log p(w, z | I) a token")


def claims_spike_slab(rows):
    zeros = {row["share"]: row["zeros"] for row in rows}
    yield Claim(
        "Magnusson et al. 2018, table 6",
        "zeros in the topics, NIPS, K = 100, pi = .1, .5, 1: .877, .501, 0",
        ", ".join(f"{zeros[share]:.3f}" for share in (0.1, 0.5, 1.0)),
        abs(zeros[0.1] - 0.877) < 0.04 and abs(zeros[0.5] - 0.501) < 0.04 and zeros[1.0] == 0,
    )
    logs = {row["share"]: row["log_counts"] for row in rows}
    yield Claim(
        "Magnusson et al. 2018, fig. B.1",
        "a sparser prior has the higher log marginalised posterior",
        "a token, pi = .1, .5, 1: " + ", ".join(f"{logs[share]:.3f}" for share in (0.1, 0.5, 1.0)),
        logs[0.1] > logs[0.5] > logs[1.0],
    )


STUDIES = (
    Study(
        "pclda_priors", "Magnusson et al. 2018, figure 4.1: time by alpha and beta",
        priors, draw_priors, claims_priors,
    ),
    Study(
        "pclda_modes", "Magnusson et al. 2018, figures 4.2 and 4.3, one core: log posterior and sparsity",
        modes, draw_modes,
        claims_modes, (11.0, 6.0),
    ),
    Study(
        "spike_slab", "Magnusson et al. 2018, table 6 and figure B.1: zeros in topics",
        spike_slab, draw_spike_slab,
        claims_spike_slab,
    ),
)  # fmt: skip
