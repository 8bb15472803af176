"""kernel=auto: a kernel that is there, for every kind of model."""

import logging

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.kernels import Auto


@pytest.mark.parametrize(
    "collapse, supervised, n_topics, topics, expected",
    [
        ("auto", False, 5, "dirichlet", "SparseLDA"),
        ("partial", False, 5, "dirichlet", "Dense"),
        ("partial", False, 2000, "dirichlet", "SparsePCLDA"),
        ("auto", False, 5, "spike_slab", "Dense"),
        ("auto", True, 50, "dirichlet", "Dense"),
        ("auto", True, 400, "dirichlet", "Dense"),
        ("auto", True, 2000, "dirichlet", "ComposedMH"),
        ("partial", True, 50, "dirichlet", "Dense"),
        ("full", True, 50, "dirichlet", "Dense"),
    ],
)
def test_the_choice_suits_the_model(collapse, supervised, n_topics, topics, expected):
    corpus = ps.Corpus.from_counts(np.full((4, 10), 17))
    kernel = Auto(collapse).chosen(ps.Model(n_topics, topics=topics), corpus, 20 * supervised)
    assert type(kernel).__name__ == expected
    assert kernel.partial == (collapse == "partial" or topics == "spike_slab")
    assert kernel.responses or not supervised


@pytest.mark.parametrize(
    "n_topics, n_outputs, length, dense",
    [
        (1000, 1, 170, True),
        (1000, 20, 170, True),
        (1300, 1, 170, False),
        (1000, 90, 10, False),
        (400, 90, 10, True),
        (1000, 90, 1000, True),
    ],
)
def test_with_responses_topics_outputs_and_lengths_decide(n_topics, n_outputs, length, dense):
    corpus = ps.Corpus.from_counts(np.full((4, 10), length // 10))
    kernel = Auto().chosen(ps.Model(n_topics), corpus, n_outputs)
    assert isinstance(kernel, ps.kernels.Dense if dense else ps.kernels.ComposedMH)


def test_a_chain_works_with_the_choice_and_says_so(caplog):
    corpus = ps.Corpus.from_counts(np.random.default_rng(0).poisson(1.0, (20, 9)), responses=["a", "b"] * 10)
    with caplog.at_level(logging.INFO):
        chain = ps.Chain(corpus, ps.Model(3, loss="none"), "auto").run(2)
    assert isinstance(chain.kernel, ps.kernels.SparseLDA) and "SparseLDA" in caplog.text
    assert isinstance(ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=2).chain.kernel, ps.kernels.Dense)
    with pytest.raises(ValueError, match="collapse must be"):
        Auto("half")
