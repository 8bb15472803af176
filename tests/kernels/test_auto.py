"""kernel=auto: a kernel that is there, for every kind of model."""

import logging

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.kernels import Auto
from plugsamp.topics import lazily


@pytest.mark.parametrize(
    "collapse, supervised, n_topics, topics, expected",
    [
        ("auto", False, 5, "dirichlet", "SparseLDA"),
        ("partial", False, 5, "dirichlet", "Dense"),
        ("partial", False, 2000, "dirichlet", "SparsePCLDA"),
        ("auto", False, 5, "spike_slab", "Dense"),
        ("auto", False, 200, "spike_slab", "Dense"),
        ("auto", False, 400, "spike_slab", "SparsePCLDA"),
        ("auto", True, 50, "dirichlet", "Dense"),
        ("auto", True, 400, "dirichlet", "Dense"),
        ("auto", True, 2000, "dirichlet", "ComposedMH"),
        ("partial", True, 50, "dirichlet", "Dense"),
        ("partial", True, 1000, "dirichlet", "Dense"),
        ("partial", True, 2000, "dirichlet", "SparsePCLDA"),
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
    "options, kernel",
    [
        ({}, "SparsePCLDA"),
        ({"n_topics": 80}, "Dense"),
        ({"beta": 0.5}, "Dense"),
        ({"learn_beta": "slice"}, "Dense"),
        ({"topics": ps.topics.Seeded({0: ["w1"]})}, "Dense"),
    ],
)
def test_topics_that_are_a_variable_go_by_what_is_kept_of_them(options, kernel):
    """And what is expected of a chain's topics is what it makes of them."""
    corpus = ps.Corpus.from_counts(np.ones((2, 6000), int), vocabulary=[f"w{i}" for i in range(6000)])
    model = ps.Model(**{"n_topics": 100, "loss": "none", "beta": 0.01, **options})
    assert type(Auto("partial").chosen(model, corpus, 0)).__name__ == kernel
    chain = ps.Chain(corpus, model, "sparse_pc")
    assert (chain.state.lazy is not None) == lazily.expected(model, corpus.n_words)


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


@pytest.mark.parametrize(
    "n_topics, times, kernel", [(150, 1, "Dense"), (250, 2, "SparsePCLDA"), (250, 1, "Dense")]
)
def test_with_responses_and_topics_that_are_a_variable_documents_must_be_long(n_topics, times, kernel):
    corpus = ps.Corpus.from_counts(np.eye(90, 6000, dtype=int) * 60 * times)
    chosen = Auto("partial").chosen(ps.Model(n_topics, beta=0.01), corpus, 2)
    assert type(chosen).__name__ == kernel


def test_a_chain_works_with_the_choice_and_says_so(caplog):
    corpus = ps.Corpus.from_counts(np.random.default_rng(0).poisson(1.0, (20, 9)), responses=["a", "b"] * 10)
    with caplog.at_level(logging.INFO):
        chain = ps.Chain(corpus, ps.Model(3, loss="none"), "auto").run(2)
    assert isinstance(chain.kernel, ps.kernels.SparseLDA) and "SparseLDA" in caplog.text
    assert isinstance(ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=2).chain.kernel, ps.kernels.Dense)
    with pytest.raises(ValueError, match="collapse must be"):
        Auto("half")
