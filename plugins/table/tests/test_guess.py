"""The proposal is exact, and its guesses are taken."""

import numpy as np

import plugsamp as ps
from plugsamp.testing import check_proposal


def test_it_is_exact():
    check_proposal("guess", losses=["none", "hinge", "gaussian"])


def test_its_guesses_are_taken():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (200, 60))
    X[:100, :30] += rng.poisson(1.0, (100, 30))
    corpus = ps.Corpus.from_counts(X, responses=["a"] * 100 + ["b"] * 100)
    kernel = ps.kernels.ComposedMH(["word", "guess", "exp"], steps=6, collapse="partial")
    chain = ps.Chain(corpus, ps.Model(n_topics=10, loss=ps.losses.Hinge(20.0)), kernel, seed=0)
    acceptance = list(chain.sweeps(30))[-1].acceptance
    assert acceptance["guess"] > 1.2 * acceptance["exp"]  # which knows nothing of the words
