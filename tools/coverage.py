"""Coverage of prediction intervals: on documents simulated from the model by number of words, or on a corpus.

python tools/coverage.py [--level 0.9] [--seeds 3] [--documents 4000]
python tools/coverage.py --corpus FILE.jsonl.gz [--losses gaussian heteroscedastic] [--words] [--stars]

Of a corpus (JSON lines with `text` and `y`, thirty per cent for testing) the coverage of each fifth of the
test documents, sorted by prediction, is shown. With --stars y is cut into five grades, most of them the best.

Simulated responses are y = eta · zbar + noise with known eta, and topics are drawn from their priors. Each
model is fitted to 2,000 documents of 1 to 200 words. The rows are the lengths of the documents that are
predicted.
"""

from __future__ import annotations

import argparse
import gzip
import json

import numpy as np

import plugsamp as ps

LENGTHS = (1, 2, 5, 20, 200)

#: Quantiles between the grades of --stars.
GRADES = (0.05, 0.1, 0.2, 0.45)

#: Mass of the prior of a document's topics, each.
ALPHA = 0.3


class Truth:
    """A model drawn from the priors, from which documents are drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_topics, n_words : int
    spread, noise : float
        Standard deviations of eta and of y given the topics.
    """

    def __init__(self, rng, n_topics: int = 5, n_words: int = 200, spread: float = 3.0, noise: float = 0.5):
        self.rng, self.noise = rng, noise
        self.phi = rng.dirichlet(np.full(n_words, 0.1), n_topics)
        self.eta = rng.normal(0, spread, n_topics)

    def documents(self, lengths) -> tuple[np.ndarray, np.ndarray]:
        """Return counts (D, V) and real responses (D,) of documents with so many words."""
        theta = self.rng.dirichlet(np.full(len(self.eta), ALPHA), len(lengths))
        topics = np.array([self.rng.multinomial(n, t) for n, t in zip(lengths, theta, strict=True)])
        counts = sum(self.rng.multinomial(topics[:, k], self.phi[k]) for k in range(len(self.eta)))
        zbar = topics / np.asarray(lengths)[:, None]
        return counts, zbar @ self.eta + self.rng.normal(0, self.noise, len(lengths))


def covered(
    seed: int, level: float, n_documents: int, n_train: int = 2000, sweeps: int = 100
) -> dict[int, float]:
    """Return the share of documents whose interval holds their response, by number of words."""
    rng = np.random.default_rng(seed)
    truth = Truth(rng)
    counts, y = truth.documents(np.exp(rng.uniform(0, np.log(200), n_train)).astype(int) + 1)
    model = ps.Model(
        len(truth.eta),
        alpha=ALPHA,
        beta=0.1,
        loss="gaussian",
        weights=ps.priors.Normal(variance=9.0),
        intercept=False,
    )
    fitted = ps.fit(ps.Corpus.from_counts(counts, responses=y), model, sweeps=sweeps, seed=seed)
    found = {}
    for length in LENGTHS:
        counts, y = truth.documents(np.full(n_documents, length))
        low, high = fitted.predict(ps.Corpus.from_counts(counts)).interval(level)[:, 0].T
        found[length] = float(((low <= y) & (y <= high)).mean())
    return found


def real(path: str, loss: str, words: bool, stars: bool, seed: int, n_topics: int = 30) -> tuple[list, dict]:
    """Return the coverage of each fifth of the test documents of a corpus, and the measures."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    y = np.array([row["y"] for row in rows], dtype=float)
    if stars:
        y = 1.0 + np.searchsorted(np.quantile(y, GRADES), y, side="right")
    frame = {"text": [row["text"] for row in rows], "y": y}
    train, test = ps.Corpus.from_frame(frame, label="y", min_df=3).split(0.3, seed=seed)
    weights = ps.priors.Normal(variance=1.0, covariate_variance=0.1)
    model = ps.Model(n_topics, loss=loss, standardise=True, weights=weights)
    covariates = ps.Covariates(words="tfidf") if words else None
    found = ps.fit(train, model, sweeps=100, seed=seed, covariates=covariates).evaluate(test)
    return found.coverage()["covered"], found.measures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--level", type=float, default=0.9, help="probability inside an interval")
    parser.add_argument("--seeds", type=int, default=3, help="how many simulated models")
    parser.add_argument("--documents", type=int, default=4000, help="new documents of each length")
    parser.add_argument("--corpus", help="JSON lines, gzip; instead of simulated documents")
    losses = ["gaussian", "student_t", "heteroscedastic"]
    parser.add_argument("--losses", nargs="+", default=losses, help="losses that are compared on the corpus")
    parser.add_argument("--words", action="store_true", help="words as covariates, too")
    parser.add_argument("--stars", action="store_true", help="five grades, most of them the best one")
    arguments = parser.parse_args()
    if arguments.corpus:
        for loss in arguments.losses:
            for seed in range(arguments.seeds):
                fifths, measures = real(arguments.corpus, loss, arguments.words, arguments.stars, seed)
                shown = " ".join(f"{share:.3f}" for share in fifths)
                print(f"{loss:16} {seed} {shown}  r2 {measures['r2']:.3f} "
                      f"log density {measures['log_density']:.3f}", flush=True)  # fmt: skip
        return
    rows = [covered(seed, arguments.level, arguments.documents) for seed in range(arguments.seeds)]
    print("words " + " ".join(f"seed {seed}" for seed in range(arguments.seeds)) + "  mean")
    for length in LENGTHS:
        values = [row[length] for row in rows]
        print(
            f"{length:5d} " + "  ".join(f"{v:.3f}" for v in values) + f"  {np.mean(values):.3f}", flush=True
        )


if __name__ == "__main__":
    main()
