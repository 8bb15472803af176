"""Topic proportions and probabilities of documents against enumeration and long chains."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit, gammaln

from plugsamp.corpus import Corpus
from plugsamp.losses import Logistic
from plugsamp.losses.coding import Coding
from plugsamp.posterior.draws import Draws


def binary(phi, alpha, eta):
    classes = np.array(["a", "b"], dtype=object)
    return Draws(
        phi=np.array(phi), eta=np.array(eta, float)[None, None], alpha=np.array(alpha, float),
        loss=Logistic(), coding=Coding(np.empty((0, 1)), "binary", classes),
        vocabulary=[f"w{i}" for i in range(np.shape(phi)[1])],
    )  # fmt: skip


def enumerated(model, words):
    """Mean proportions and P(b) of a document, by all assignments of topics."""
    k, phi, alpha = model.n_topics, model.phi.astype(float), model.alpha
    z = np.array(list(product(range(k), repeat=len(words))))
    counts = (z[:, :, None] == np.arange(k)).sum(axis=1)
    log_p = gammaln(counts + alpha).sum(axis=1) + np.log(phi[z, words]).sum(axis=1)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    zbar = counts / len(words)
    return p @ zbar, p @ expit(zbar @ model.eta[0, 0])


def test_a_word_that_two_topics_may_have_is_not_sure():
    corpus = Corpus.from_counts(np.array([[1, 0]]), vocabulary=["w0", "w1"])
    found = binary([[0.7, 0.3], [0.3, 0.7]], [0.5, 0.5], [8.0, -8.0]).predict(corpus)
    assert found.probabilities[0, 1] == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize("length", [1, 2, 3, 5, pytest.param(10, marks=pytest.mark.slow)])
def test_probabilities_of_short_documents_are_those_of_enumeration(length):
    rng = np.random.default_rng(length)
    phi, alpha = rng.dirichlet(np.full(6, 0.4), 3), [0.3, 0.5, 0.2]
    model = binary(phi, alpha, [6.0, -5.0, 1.0])
    words = rng.integers(0, 6, (40, length))
    corpus = Corpus.from_counts(
        np.array([np.bincount(w, minlength=6) for w in words]), vocabulary=model.vocabulary
    )
    found = model.predict(corpus)
    exact = [enumerated(model, w) for w in words]
    distance = 0.5 * np.abs(found.zbar - [zbar for zbar, _ in exact]).sum(axis=1)
    assert distance.mean() < 0.01 and distance.max() < 0.05
    off = np.abs(found.probabilities[:, 1] - [p for _, p in exact])
    assert off.mean() < 0.02 and off.max() < 0.09


@pytest.mark.parametrize("alpha, n, n0, expected", [(1.0, 200, 106, 0.359), (0.05, 40, 26, 0.028)])
def test_chains_that_mix_slowly_are_run_long_enough(alpha, n, n0, expected):
    model = binary([[0.4, 0.6], [0.6, 0.4]], [alpha, alpha], [1.0, -1.0])
    corpus = Corpus.from_counts(np.array([[n0, n - n0]]), vocabulary=model.vocabulary)
    for seed in range(4):
        assert model.with_options(seed=seed).predict(corpus).zbar[0, 0] == pytest.approx(expected, abs=0.02)


def test_proportions_are_those_of_long_chains():
    rng = np.random.default_rng(1)
    phi, alpha = rng.dirichlet(np.full(300, 0.05), 20), np.full(20, 0.1)
    theta = rng.dirichlet(alpha, 40)
    lengths = rng.integers(5, 150, 40)
    counts = np.array([rng.multinomial(n, t @ phi) for n, t in zip(lengths, theta, strict=True)])
    model = binary(phi, alpha, np.arange(20.0))
    corpus = Corpus.from_counts(counts, vocabulary=model.vocabulary)
    found = model.predict(corpus).zbar
    long = model.with_options(passes=500, burn_in=100, restarts=32, seed=1).predict(corpus).zbar
    assert 0.5 * np.abs(found - long).sum(axis=1).mean() < 0.02


def simulated(model, words, rng, n_chains=100, passes=50, burn_in=20):
    """Proportions and P(b) of a document by plain Gibbs sampling in numpy, without the package's code."""
    phi, alpha = model.phi.astype(float), model.alpha
    chains, n_topics = np.arange(n_chains), len(alpha)
    z = rng.integers(0, n_topics, (len(words), n_chains))
    counts = (z[:, :, None] == np.arange(n_topics)).sum(axis=0).astype(float)
    zbar, p = np.zeros(n_topics), 0.0
    for step in range(passes):
        for i, word in enumerate(words):
            counts[chains, z[i]] -= 1
            running = np.cumsum(phi[:, word] * (counts + alpha), axis=1)
            z[i] = (running < rng.random((n_chains, 1)) * running[:, -1:]).sum(axis=1)
            counts[chains, z[i]] += 1
        if step >= burn_in:
            share = counts / len(words)
            zbar += share.mean(axis=0)
            p += expit(share @ model.eta[0, 0]).mean()
    return zbar / (passes - burn_in), p / (passes - burn_in)


@pytest.mark.parametrize("alpha, concentration", [(0.1, 0.1), (0.5, 0.4)])
def test_probabilities_of_longer_documents_are_those_of_simulation(alpha, concentration):
    rng = np.random.default_rng(2)
    n_topics, n_words = 6, 60
    phi = rng.dirichlet(np.full(n_words, concentration), n_topics)
    model = binary(phi, np.full(n_topics, alpha), rng.normal(0, 6, n_topics))
    documents = []
    for length in (20, 20, 50, 50, 100, 200):
        word = rng.dirichlet(model.alpha) @ phi
        documents.append(rng.choice(n_words, length, p=word / word.sum()))
    counts = np.array([np.bincount(words, minlength=n_words) for words in documents])
    found = model.predict(Corpus.from_counts(counts, vocabulary=model.vocabulary))
    exact = [simulated(model, words, rng) for words in documents]
    distance = 0.5 * np.abs(found.zbar - [zbar for zbar, _ in exact]).sum(axis=1)
    assert distance.mean() < 0.02 and distance.max() < 0.05
    off = np.abs(found.probabilities[:, 1] - [p for _, p in exact])
    assert off.mean() < 0.02 and off.max() < 0.06
