"""Cross-validated accuracy, and which weights stay.

Magnusson et al. (2020), figures 3 to 6 and table 3, on other films.
"""

from __future__ import annotations

import time

import numpy as np

import plugsamp as ps
from plugsamp.diagnostics import top_words
from tools.reproduce.claims import Claim, pick, value
from tools.reproduce.dolda import PRIORS, small
from tools.reproduce.study import Context, Study, series, simulated_labelled

FOLDS = 5


def films(context: Context) -> ps.Corpus:
    """A thousand films with plot, genre and columns (the paper's films have no text that is public)."""
    if not context.real:
        corpus = simulated_labelled("20ng_counts", context.seed)
        year = np.linspace(1950, 2020, corpus.n_documents)
        director = np.array(["a", "b", "c"])[np.arange(corpus.n_documents) % 3]
        return ps.Corpus.from_counts(
            corpus.counts(), responses=corpus.responses, fields={"year": year, "director": director}
        )
    fields = ["year", "runtime", "director", "actors"]
    path = context.data / "imdb1000_movies.jsonl.gz"
    return ps.readers.JsonLines(path=str(path), fields=fields).read()[0]


def columns(context: Context) -> ps.Covariates:
    if not context.real:
        return ps.Covariates(numeric=["year"], categorical=["director"])
    return ps.Covariates(
        numeric=["year", "runtime"], categorical=["director", "actors"], separator=", ", min_count=4
    )


def probit(n_topics: int, prior: str) -> ps.Model:
    weights = {
        "normal": ps.priors.Normal(100.0, intercept_variance=100.0),
        "horseshoe": ps.priors.Horseshoe(intercept_variance=100.0),
    }
    return ps.Model(n_topics, 5.0 / n_topics, 0.01, loss="probit", weights=weights[prior])


def validation(context: Context):
    """Accuracy over five folds with topics and columns, against K."""
    corpus = films(context)
    fold = np.random.default_rng(context.seed).permutation(corpus.n_documents) % FOLDS
    for n_topics in context.size((10, 40), (4,)):
        for prior in PRIORS:
            for supervised in ("joint", "two_step"):
                start = time.process_time()
                scores = []
                for number in range(context.size(FOLDS, 2)):
                    train, test = corpus.take(fold != number), corpus.take(fold == number)
                    fitted = ps.fit(
                        train, probit(n_topics, prior), covariates=columns(context), supervised=supervised,
                        sweeps=context.size(80, 4), thin=2, seed=context.seed + number,
                    )  # fmt: skip
                    scores.append(float(np.mean(fitted.predict(test).labels == test.responses)))
                yield {
                    "topics": n_topics, "model": f"{prior}, {supervised.replace('_', ' ')}",
                    "accuracy": float(np.mean(scores)),
                    "standard_error": float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
                    "cpu_seconds": time.process_time() - start,
                }  # fmt: skip


def draw_validation(rows, figure):
    axes = figure.subplots()
    for number, (label, (xs, ys)) in enumerate(series(rows, "topics", "accuracy", "model").items()):
        errors = [value(rows, "standard_error", topics=k, model=label) for k in xs]
        axes.errorbar(np.array(xs) * (1 + 0.01 * number), ys, errors, fmt="o-", capsize=3, label=label)
    axes.set(xlabel="topics K", ylabel=f"accuracy over {FOLDS} folds, and standard error")
    axes.legend()


def claims_validation(rows):
    mean = {k: float(np.mean(ys)) for k, (_, ys) in series(rows, "topics", "accuracy", "model").items()}
    error = float(np.mean([row["standard_error"] for row in rows]))
    yield Claim(
        "Magnusson et al. 2020, fig. 3",
        "films with columns: the horseshoe is more accurate than the normal prior at every K",
        f"1,000 other films, mean over K: horseshoe {mean['horseshoe, joint']:.3f}, normal "
        f"{mean['normal, joint']:.3f} (standard error of one K {error:.3f})",
        all(
            value(rows, "accuracy", topics=k, model="horseshoe, joint")
            > value(rows, "accuracy", topics=k, model="normal, joint")
            for k in dict.fromkeys(row["topics"] for row in rows)
        ),
    )
    yield Claim(
        "Magnusson et al. 2020, fig. 3",
        "learning topics and weights jointly is above two steps",
        "; ".join(
            f"{p} {mean[f'{p}, joint']:.3f} joint, {mean[f'{p}, two step']:.3f} in two steps" for p in PRIORS
        ),
        all(mean[f"{p}, joint"] > mean[f"{p}, two step"] for p in PRIORS),
    )


def coefficients(context: Context):
    """Weights of 80 topics in every class, without columns, by prior; and the words of the topics."""
    n_topics = context.size(80, 6)
    corpus = films(context)
    classes, sizes = np.unique(corpus.responses, return_counts=True)
    corpus = corpus.take(np.isin(corpus.responses, classes[sizes >= 10]))
    for prior in PRIORS:
        fitted = ps.fit(
            corpus, probit(n_topics, prior), sweeps=context.size(300, 4), thin=5, seed=context.seed
        )
        predictor = fitted
        eta = predictor.eta.mean(axis=0)[:, :n_topics]
        words = top_words(predictor.phi, 10)
        for c, name in enumerate(predictor.coding.output_names):
            for k in range(n_topics):
                yield {
                    "prior": prior, "class": name, "topic": k, "weight": float(eta[c, k]),
                    "documents": int((corpus.responses == name).sum()),
                    "words": " ".join(corpus.vocabulary[w] for w in words[k]),
                }  # fmt: skip


def _tables(rows) -> dict:
    """{prior: (classes, weights (C, K))}"""
    found = {}
    for prior in PRIORS:
        here = pick(rows, prior=prior)
        names = list(dict.fromkeys(row["class"] for row in here))
        found[prior] = names, np.array([[r["weight"] for r in pick(here, **{"class": c})] for c in names])
    return found


def draw_coefficients(rows, figure):
    axes = figure.subplots(2, 2)
    for column, (prior, (names, weights)) in enumerate(_tables(rows).items()):
        largest = np.abs(weights).max()
        image = axes[0, column].imshow(weights, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto")
        axes[0, column].set_yticks(range(len(names)), names, fontsize="x-small")
        axes[0, column].set(title=prior, xlabel="topic")
        figure.colorbar(image, ax=axes[0, column])
        for name in [n for n in ("Romance", "Crime", "Horror") if n in names] or names[:2]:
            row = weights[names.index(name)]
            axes[1, column].plot(np.sort(np.abs(row))[::-1] / np.abs(row).max(), ".-", label=name)
        axes[1, column].set(xlabel="topics by size of weight", ylabel="part of the class's largest weight")
        axes[1, column].legend(fontsize="small")


def claims_coefficients(rows):
    share = {prior: small(weights) for prior, (_, weights) in _tables(rows).items()}
    yield Claim(
        "Magnusson et al. 2020, fig. 4",
        "the horseshoe draws most weights to zero and leaves few, the normal prior does not",
        "below a tenth of their class's largest: "
        + ", ".join(f"{p} {100 * s:.0f} %" for p, s in share.items()),
        share["horseshoe"] > share["normal"] + 0.1,
    )
    here = pick(rows, prior="horseshoe")
    rare = min(here, key=lambda row: row["documents"])["class"]
    left = {
        prior: int((np.abs(weights[names.index(rare)]) > 0.1 * np.abs(weights).max()).sum())
        for prior, (names, weights) in _tables(rows).items()
    }
    yield Claim(
        "Magnusson et al. 2020, fig. 5",
        "of a class with few documents the horseshoe keeps a single signal topic",
        f"{rare}, {pick(here, **{'class': rare})[0]['documents']} documents: topics above a tenth of the "
        "largest weight of all classes: " + ", ".join(f"{p} {n}" for p, n in left.items()),
        left["horseshoe"] <= 2 < left["normal"],
    )
    strongest = max(here, key=lambda row: row["weight"])
    yield Claim(
        "Magnusson et al. 2020, table 3",
        "the topics that keep weights make sense of their class",
        f'largest weight: {strongest["class"]}, "{strongest["words"]}"',
        None,
        "to be read",
    )


STUDIES = (
    Study(
        "dolda_films", "Magnusson et al. 2020, figure 3: cross-validated accuracy with columns (other films)",
        validation,
        draw_validation, claims_validation,
    ),
    Study(
        "dolda_coefficients",
        "Magnusson et al. 2020, figures 4 to 6, table 3: weights by prior (other films)",
        coefficients,
        draw_coefficients, claims_coefficients, (12.0, 8.0),
    ),
)  # fmt: skip
