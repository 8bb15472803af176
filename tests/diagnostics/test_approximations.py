"""Whatever keeps a chain from its posterior is listed, announced once, and in the metrics."""

import warnings

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.backends import Serial
from plugsamp.errors import ApproximationWarning
from plugsamp.kernels import Dense, LightLDA


class Merging(Serial):
    """A backend that approximates collapsed chains."""

    def approximate(self, kernel):
        return None if kernel.partial else "merges counts after a sweep"


@pytest.fixture
def corpus():
    counts = np.random.default_rng(0).poisson(1.0, (12, 6))
    return ps.Corpus.from_counts(counts, responses=["a", "b", "c"] * 4)


def announced(make):
    """What `make` returns, and the approximations that it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = make()
    return made, [str(w.message) for w in caught if w.category is ApproximationWarning]


def test_nothing_is_announced_of_what_is_exact(corpus):
    model = ps.Model(2, loss="hinge", learn_alpha="slice", learn_beta="slice")
    for kernel in (Dense(), Dense("partial"), "auto"):
        chain, said = announced(lambda kernel=kernel: ps.Chain(corpus, model, kernel))
        assert chain.approximations == () and said == []


def test_every_part_has_its_say(corpus):
    model = ps.Model(2, loss="none", learn_alpha="fixed_point", learn_beta="fixed_point")
    chain, said = announced(lambda: ps.Chain(corpus, model, LightLDA(stale=True), Merging()))
    assert [clause.split()[:2] for clause in chain.approximations] == [
        ["the", "kernel"], ["alpha", "takes"], ["beta", "takes"], ["the", "backend"]
    ]  # fmt: skip
    assert said == list(chain.approximations)
    partial = ps.Chain(corpus, ps.Model(2, loss="hinge"), Dense("partial"), Merging())
    assert partial.approximations == ()


@pytest.mark.parametrize("options", [{}, {"multiclass": "ovr"}, {"supervised": "two_step"}])
def test_a_fit_says_it_once_whatever_chains_it_is_made_of(corpus, options):
    model = ps.Model(2, loss="hinge", learn_alpha="fixed_point")
    result, said = announced(lambda: ps.fit(corpus, model, Dense("partial"), sweeps=2, **options))
    assert result.approximations == tuple(said) and len(said) == 1
    assert said[0].startswith("alpha takes")
