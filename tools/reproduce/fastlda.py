"""Porteous et al. 2008: how many topics FastLDA looks at, how tight its bounds are, what that gains."""

from __future__ import annotations

import time

import numpy as np

import plugsamp as ps
from tools.reproduce.claims import Claim, pick, value
from tools.reproduce.study import Context, Study, from_zero, log_axis, series

BOUNDS = ("2-2-inf", "3-3-3")
BETA = 0.01

#: Percent of topics visited, at which the bound is shown.
SHARES = (1, 5, 10, 20, 50)


def _chain(corpus, n_topics: int, kernel, seed: int, init=None) -> ps.Chain:
    """Of the paper's priors: alpha = 2/K."""
    return ps.Chain(corpus, ps.Model(n_topics, 2.0 / n_topics, BETA), kernel, seed=seed, init=init)


def speed(context: Context):
    """CPU time a sweep from the same z, the kernels taking turns."""
    for name in context.size(("kos", "nips"), ("kos",)):
        corpus = context.unsupervised(name)
        for n_topics in context.size((50, 100, 200, 400, 800), (8, 24)):
            z = _chain(corpus, n_topics, ps.kernels.SparseLDA(), context.seed).run(context.size(60, 3)).z
            kernels = {"dense": ps.kernels.Dense()} | {
                f"{label} {bound}": ps.kernels.FastLDA(bound, batch)
                for bound in BOUNDS
                for label, batch in (("fast", 16), ("fast, one at a time", 1))
            }
            chains = {k: _chain(corpus, n_topics, kernel, context.seed, z) for k, kernel in kernels.items()}
            times = {k: [] for k in kernels}
            for _ in range(context.size(7, 2)):
                for label, chain in chains.items():
                    start = time.process_time()
                    chain.run(1)
                    times[label].append(time.process_time() - start)
            for label in kernels:
                ratios = np.array(times["dense"]) / np.array(times[label])
                yield {
                    "corpus": name, "topics": n_topics, "kernel": label,
                    "ns_token": 1e9 * float(np.median(times[label])) / corpus.n_tokens,
                    "speed_up": float(np.median(ratios)),
                    "log_joint": chains[label].log_joint()["words"] / corpus.n_tokens,
                }  # fmt: skip


def draw_speed(rows, figure):
    names = list(dict.fromkeys(row["corpus"] for row in rows))
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(names), sharey=True)), names, strict=True):
        for label, (x, y) in series(
            [r for r in rows if r["corpus"] == name], "topics", "speed_up", "kernel"
        ).items():
            axes.plot(x, y, "o-", label=label)
        axes.set(xlabel="topics K", title=name)
        from_zero(axes)
        log_axis(axes, [row["topics"] for row in rows])
    figure.axes[0].set_ylabel("speed-up over dense, both vectorised")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def visits(context: Context):
    """Topics visited by a draw, and Z_k/Z after k of them, over tokens of a chain that has run a while."""
    for name in context.size(("kos", "nips"), ("kos",)):
        corpus = context.unsupervised(name)
        for n_topics in context.size((100, 400, 800), (12,)):
            z = _chain(corpus, n_topics, ps.kernels.SparseLDA(), context.seed).run(context.size(100, 3)).z
            for bound in BOUNDS:
                chain = _chain(corpus, n_topics, ps.kernels.FastLDA(bound, batch=1), context.seed, z)
                lengths = np.diff(corpus.offsets)
                rng = np.random.default_rng(context.seed)
                documents = rng.choice(np.flatnonzero(lengths), context.size(150, 10))
                looks, tight = np.zeros(n_topics), np.zeros(n_topics)
                for d in documents:
                    visit = chain.phases.sampler.visit(int(d), int(rng.integers(lengths[d])))
                    looks[: len(visit.looks)] += visit.looks
                    tight += np.pad(visit.tightness, (0, n_topics - len(visit.tightness)), mode="edge")
                at = np.arange(1, n_topics + 1)
                at_share = {k: tight[max(n_topics * k // 100, 1) - 1] / len(documents) for k in SHARES}
                yield {
                    "corpus": name, "topics": n_topics, "bound": bound,
                    "visited_mean": float(looks @ at / looks.sum()),
                    "visited_share": float(looks @ at / looks.sum() / n_topics),
                    **{f"Z_ratio_after_{k}_percent": float(at_share[k]) for k in SHARES},
                }  # fmt: skip


def draw_visits(rows, figure):
    left, right = figure.subplots(1, 2)
    for label, (x, y) in series(
        [{**r, "key": f"{r['corpus']} {r['bound']}"} for r in rows], "topics", "visited_share", "key"
    ).items():
        left.plot(x, y, "o-", label=label)
    left.set(xlabel="topics K", ylabel="share of topics visited")
    from_zero(left)
    left.legend(fontsize="small")
    largest = max(row["topics"] for row in rows)
    for row in rows:
        if row["topics"] == largest:
            right.plot(
                SHARES,
                [row[f"Z_ratio_after_{k}_percent"] for k in SHARES],
                "o-",
                label=f"{row['corpus']} {row['bound']}",
            )
    right.set(xlabel="topics visited, %", ylabel=f"Z_k / Z at K = {largest}", yscale="log")
    log_axis(right, SHARES)
    right.legend(fontsize="small")


def claims_speed(rows):
    usual = [row for row in rows if row["kernel"] == "fast 2-2-inf"]
    for name in dict.fromkeys(row["corpus"] for row in rows):
        by_k = {row["topics"]: row["speed_up"] for row in pick(usual, corpus=name)}
        few, many = min(by_k), max(by_k)
        yield Claim(
            "Porteous et al. 2008, fig. 5 to 7",
            "FastLDA is 3 to 8 times as fast as standard Gibbs sampling, the more the more topics",
            f"{name}: {by_k[few]:.2f} times at K = {few}, {by_k[many]:.2f} at K = {many}",
            by_k[many] > 3 and by_k[many] > by_k[few],
            "our dense kernel evaluates topics with vector instructions, FastLDA one by one",
        )
    slower = [
        value(rows, "speed_up", corpus=r["corpus"], topics=r["topics"], kernel="fast 3-3-3") < r["speed_up"]
        for r in usual
    ]
    yield Claim(
        "Porteous et al. 2008, sec. 6.4",
        "the bound (3, 3, 3) is slower than (2, 2, inf)",
        f"in {sum(slower)} of {len(slower)} cells",
        all(slower),
    )
    cells = dict.fromkeys((row["corpus"], row["topics"]) for row in rows)
    apart = [
        np.ptp([row["log_joint"] for row in pick(rows, corpus=c, topics=k)]) for c, k in cells
    ]  # log joint a token of all kernels from the same topics
    yield Claim(
        "Porteous et al. 2008, sec. 6",
        "FastLDA draws from the same distribution: the same quality after the same sweeps",
        f"log joint a token of all kernels within {max(apart):.4f} after as many sweeps",
        max(apart) < 0.02,
    )


def claims_visits(rows):
    usual = [row for row in rows if row["bound"] == "2-2-inf"]
    for name in dict.fromkeys(row["corpus"] for row in rows):
        share = {row["topics"]: row["visited_share"] for row in pick(usual, corpus=name)}
        few, many = min(share), max(share)
        yield Claim(
            "Porteous et al. 2008, fig. 4 to 6",
            "a draw looks at a share of the topics that falls with K",
            f"{name}: {100 * share[few]:.1f} % of {few}, {100 * share[many]:.1f} % of {many}",
            share[many] < share[few] < 0.5,
        )
    tighter = [
        row["Z_ratio_after_1_percent"]
        < value(rows, "Z_ratio_after_1_percent", corpus=row["corpus"], topics=row["topics"], bound="3-3-3")
        for row in usual
    ]
    yield Claim(
        "Porteous et al. 2008, fig. 10",
        "the bound (2, 2, inf) is considerably tighter than (3, 3, 3)",
        f"Z_k/Z after 1 % of the topics is smaller in {sum(tighter)} of {len(tighter)} cells",
        all(tighter),
    )


STUDIES = (
    Study(
        "fastlda_speed",
        "Porteous et al. 2008, figures 5 to 7: speed-up over dense grows with K (there 3 to 8)",
        speed,
        draw_speed,
        claims_speed,
        (10.0, 4.5),
    ),
    Study(
        "fastlda_visits",
        "Porteous et al. 2008, figures 4 to 6 and 10: topics visited, and how tight the bounds are",
        visits,
        draw_visits,
        claims_visits,
    ),
)
