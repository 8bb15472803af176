"""Coverage of prediction intervals on documents simulated from the model, by number of words.

python tools/coverage.py [--level 0.9] [--seeds 3] [--documents 4000]

Responses are y = eta · zbar + noise with known eta, and topics are drawn from their priors. Each model is
fitted to 2,000 documents of 1 to 200 words. The rows are the lengths of the documents that are predicted.
"""

from __future__ import annotations

import argparse

import numpy as np

import plugsamp as ps

LENGTHS = (1, 2, 5, 20, 200)

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--level", type=float, default=0.9, help="probability inside an interval")
    parser.add_argument("--seeds", type=int, default=3, help="how many simulated models")
    parser.add_argument("--documents", type=int, default=4000, help="new documents of each length")
    arguments = parser.parse_args()
    rows = [covered(seed, arguments.level, arguments.documents) for seed in range(arguments.seeds)]
    print("words " + " ".join(f"seed {seed}" for seed in range(arguments.seeds)) + "  mean")
    for length in LENGTHS:
        values = [row[length] for row in rows]
        print(
            f"{length:5d} " + "  ".join(f"{v:.3f}" for v in values) + f"  {np.mean(values):.3f}", flush=True
        )


if __name__ == "__main__":
    main()
