"""What AD-LDA gets wrong with several groups, and speed by workers.

Magnusson et al. (2018), sections 4.2 and 4.3.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import plugsamp as ps
from plugsamp.backends.serial import InTurn, Serial
from plugsamp.errors import ApproximationWarning
from tools.reproduce.claims import Claim, pick
from tools.reproduce.partial import ALPHA, BETA
from tools.reproduce.study import Context, Study, log_axis, series


class InGroups(Serial):
    """Groups of documents as that many workers have them, one after another in this process."""

    parallel = True

    def __init__(self, groups: int = 2, scheme: str = "rotation"):
        self.groups, self.scheme = groups, scheme

    def open(self, partial: bool) -> InTurn:
        work = InTurn()
        work.groups, work.scheme = 1 if partial else self.groups, self.scheme
        return work


def bias(context: Context):
    """Log joint a token and zeros of the counts by sweep, from the same z, exact and by AD-LDA."""
    name = "nips"
    corpus = context.unsupervised(name)
    ways = [("collapsed", 1), ("sparse PC", 1)]
    ways += [(scheme, groups) for scheme in ("copies", "rotation") for groups in (2, 4, 8, 16)]
    for n_topics in context.size((20, 100), (5,)):
        z = np.random.default_rng(context.seed).integers(0, n_topics, corpus.n_tokens)
        model = ps.Model(n_topics, ALPHA, BETA)
        n_sweeps = context.size(100, 6)
        for way, groups in ways:
            kernel = ps.kernels.SparsePCLDA() if way == "sparse PC" else ps.kernels.SparseLDA()
            backend = InGroups(groups, way) if groups > 1 else None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ApproximationWarning)
                chain = ps.Chain(corpus, model, kernel, backend, seed=context.seed, init=z)
            for info in chain.sweeps(n_sweeps):
                if info.sweep in (1, 2, 4, 8) or info.sweep % context.size(5, 2) == 0:
                    words, documents = chain.counts.topic_word, chain.counts.doc_topic
                    yield {
                        "corpus": name, "topics": n_topics, "way": way, "groups": groups,
                        "sweep": info.sweep,
                        "log_joint": chain.log_joint()["words"] / corpus.n_tokens,
                        "zeros_words": float((words == 0).mean()),
                        "zeros_documents": 1 - documents.nnz / np.prod(documents.shape),
                    }  # fmt: skip


def settled(rows, value: str) -> float:
    """The mean over the last third of the sweeps."""
    last = max(row["sweep"] for row in rows)
    return float(np.mean([row[value] for row in rows if row["sweep"] > 2 * last / 3]))


def draw_bias(rows, figure):
    sizes = list(dict.fromkeys(row["topics"] for row in rows))
    for line, n_topics in zip(figure.subplots(len(sizes), 4, squeeze=False), sizes, strict=True):
        here = [row for row in rows if row["topics"] == n_topics]
        exact = [row for row in here if row["groups"] == 1]
        last = max(row["sweep"] for row in here)
        top = max(row["log_joint"] for row in here)
        bottom = min(row["log_joint"] for row in here if row["sweep"] > last / 6)
        for axes, scheme in zip(line, ("copies", "rotation"), strict=False):
            for way, (xs, ys) in series(exact, "sweep", "log_joint", "way").items():
                axes.plot(xs, ys, label=way, color="black", linestyle="-" if way == "collapsed" else "--")
            shown = [row for row in here if row["way"] == scheme]
            for groups, (xs, ys) in series(shown, "sweep", "log_joint", "groups").items():
                axes.plot(xs, ys, label=f"{groups} groups")
            margin = 0.1 * (top - bottom)
            axes.set(xlabel="sweep", title=f"{scheme}, K = {n_topics}", ylim=(bottom - margin, top + margin))
        line[0].set_ylabel("log joint a token")
        for axes, what, title in (
            (line[2], "log_joint", "log joint, last third"),
            (line[3], "zeros_words", "zeros among word counts"),
        ):
            for way in dict.fromkeys(row["way"] for row in exact):
                level = settled([row for row in exact if row["way"] == way], what)
                axes.axhline(level, color="black", linestyle="-" if way == "collapsed" else "--", label=way)
            for scheme in ("copies", "rotation"):
                shown = [row for row in here if row["way"] == scheme]
                groups = sorted({row["groups"] for row in shown})
                heights = [settled([r for r in shown if r["groups"] == g], what) for g in groups]
                axes.plot(groups, heights, "o-", label=scheme)
            log_axis(axes, groups)
            axes.set(xlabel="groups", title=title)
    for axes in (figure.axes[0], figure.axes[2]):
        axes.legend(fontsize="small")


def claims_bias(rows):
    for n_topics in dict.fromkeys(row["topics"] for row in rows):
        here = pick(rows, topics=n_topics)
        level = settled(pick(here, way="collapsed"), "log_joint")
        found = {}
        for way in ("copies", "rotation"):
            groups = sorted({row["groups"] for row in pick(here, way=way)})
            found[way] = {g: settled(pick(here, way=way, groups=g), "log_joint") - level for g in groups}
        partial = settled(pick(here, way="sparse PC"), "log_joint") - level
        shown = "; ".join(
            f"{way} " + ", ".join(f"{value:+.3f} ({groups})" for groups, value in of.items())
            for way, of in found.items()
        )
        copies = list(found["copies"].values())
        yield Claim(
            "Magnusson et al. 2018, fig. 4.2",
            "AD-LDA comes to a lower mode the more cores there are, partial collapse does not depend on them",
            f"K = {n_topics}, log joint a token less the serial one's, last third, by groups: {shown}; "
            f"sparse PC {partial:+.3f}",
            copies[-1] < min(copies[0], 0.0),
            "lower with copies, but no lower with more of them; not so with rotation"
            if max(copies) < 0
            else "",
        )
        zeros = {
            g: settled(pick(here, way="copies", groups=g), "zeros_words") for g in sorted(found["copies"])
        }
        exact = settled(pick(here, way="collapsed"), "zeros_words")
        yield Claim(
            "Magnusson et al. 2018, fig. 4.3",
            "topics of AD-LDA have fewer zeros among their word counts the more cores there are",
            f"K = {n_topics}, share of zeros: serial {exact:.3f}; copies "
            + ", ".join(f"{value:.3f} ({groups})" for groups, value in zeros.items()),
            sorted(zeros.values(), reverse=True) == list(zeros.values()) and max(zeros.values()) < exact,
        )


def speed(context: Context):
    """Log joint a token against seconds, from the same z, by kernel and number of workers."""
    name = "nips"
    corpus = context.unsupervised(name)
    ways = {
        "collapsed": (ps.kernels.SparseLDA, None),
        "collapsed, rotation": (ps.kernels.SparseLDA, "rotation"),
        "collapsed, copies": (ps.kernels.SparseLDA, "copies"),
        "sparse PC": (ps.kernels.SparsePCLDA, "auto"),
        "light PC": (ps.kernels.LightPCLDA, "auto"),
    }
    for n_topics in context.size((100,), (8,)):
        z = np.random.default_rng(context.seed).integers(0, n_topics, corpus.n_tokens)
        model = ps.Model(n_topics, ALPHA, BETA)
        chains = {}
        for way, (kernel, scheme) in ways.items():
            for workers in (1, 2) if scheme == "auto" else (1,) if scheme is None else (2,):
                backend = ps.backends.Processes(workers, collapsed=scheme or "auto")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ApproximationWarning)
                    chains[way, workers] = ps.Chain(
                        corpus, model, kernel(), backend, seed=context.seed, init=z
                    )
        seconds = dict.fromkeys(chains, 0.0)
        try:
            for sweep in range(1, context.size(60, 4) + 1):
                for key, chain in chains.items():  # in turns, so that a busy minute meets all
                    start = time.perf_counter()
                    chain.run(1)
                    seconds[key] += time.perf_counter() - start
                    if sweep in (1, 2, 4, 8) or sweep % 10 == 0:
                        yield {
                            "corpus": name, "topics": n_topics, "way": key[0], "workers": key[1],
                            "sweep": sweep, "seconds": seconds[key],
                            "log_joint": chain.log_joint()["words"] / corpus.n_tokens,
                        }  # fmt: skip
        finally:
            for chain in chains.values():
                chain.close()


def draw_speed(rows, figure):
    sizes = list(dict.fromkeys(row["topics"] for row in rows))
    for axes, n_topics in zip(np.ravel(figure.subplots(1, len(sizes))), sizes, strict=True):
        here = [row | {"by": (row["way"], row["workers"])} for row in rows if row["topics"] == n_topics]
        colors = {way: f"C{i}" for i, way in enumerate(dict.fromkeys(row["way"] for row in here))}
        for (way, workers), (xs, ys) in series(here, "seconds", "log_joint", "by").items():
            style = ".-" if workers > 1 else ".--"
            axes.plot(xs, ys, style, color=colors[way], label=f"{way}, {workers} worker{'s' * (workers > 1)}")
        axes.set(xlabel="seconds", xscale="log", ylabel="log joint a token", title=f"K = {n_topics}")
        axes.legend(fontsize="small")


def claims_speed(rows):
    for n_topics in dict.fromkeys(row["topics"] for row in rows):
        last = {(r["way"], r["workers"]): r for r in pick(rows, topics=n_topics)}
        ratios = {way: last[way, 1]["seconds"] / last[way, 2]["seconds"] for way in ("sparse PC", "light PC")}
        yield Claim(
            "Magnusson et al. 2018, fig. 4.6",
            "partial collapse gets faster with cores: 64 take half the time of 16",
            f"K = {n_topics}, time of one worker over that of two: "
            + ", ".join(f"{way} {ratio:.2f}" for way, ratio in ratios.items()),
            min(ratios.values()) > 1.3,
        )


STUDIES = (
    Study(
        name="adlda_bias",
        shows="Magnusson et al. 2018, figures 4.2 and 4.3: AD-LDA falls with groups, unlike partial collapse",
        rows=bias,
        draw=draw_bias,
        claims=claims_bias,
        size=(16.0, 7.0),
    ),
    Study(
        name="workers_speed",
        shows="Magnusson et al. 2018, figures 4.4 to 4.6: log joint by time, by kernel and workers",
        rows=speed,
        draw=draw_speed,
        claims=claims_speed,
        size=(8.0, 5.0),
    ),
)
