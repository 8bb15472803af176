"""A chain is a function of corpus, model, kernel and seed, to the bit."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from plugsamp.chain import Chain
from plugsamp.corpus import Corpus
from plugsamp.losses.hinge import Hinge
from plugsamp.model import Model
from plugsamp.registry import resolve
from plugsamp.testing import kernel_configurations, label


def corpus():
    rng = np.random.default_rng(8)
    counts = rng.poisson(0.6, size=(120, 40))
    counts[3] = 0
    labels = np.array(["x", "y", "z"], dtype=object)[rng.integers(3, size=120)]
    labels[7] = None
    return Corpus.from_counts(counts, responses=labels, covariates=rng.standard_normal((120, 2)))


CORPUS = corpus()
CONFIGURATIONS = [c for c in kernel_configurations() if resolve("kernels", c[0], **c[1]).responses]
UPDATES = ["block", "coordinate"]


def chain_for(configuration, update, seed):
    name, options = configuration
    model = Model(9, 0.3, 0.1, loss=Hinge(8.0))
    return Chain(CORPUS, model, resolve("kernels", name, **options), seed=seed, weight_update=update)


def state(chain):
    arrays = {"z": chain.z, "eta": chain.eta, "phi": chain.phi, "kappa": chain.kappa, "omega": chain.omega}
    return {**arrays, "topic_word": chain.counts.topic_word, "doc_topic": chain.counts.doc_topic.toarray()}


def assert_equal(first, second):
    for name, value in first.items():
        assert np.array_equal(value, second[name]), f"{name} differs"


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=label)
def test_same_seed_same_bits_and_split_runs(configuration, update):
    one = chain_for(configuration, update, 0)
    one.run(6)
    two = chain_for(configuration, update, 0)
    two.run(2)
    two.token_transition(0)  # looking at a chain does not change it
    two.f()
    two.run(4)
    assert_equal(state(one), state(two))
    other = chain_for(configuration, update, 1)
    other.run(6)
    assert not np.array_equal(one.z, other.z)
    assert not np.array_equal(one.eta, other.eta)


@pytest.mark.parametrize("update", UPDATES)
def test_threads_of_blas_do_not_matter(update):
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            chain = chain_for(("dense", {"collapse": "partial"}), update, 2)
            chain.run(4)
            results.append(state(chain))
    assert_equal(*results)


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=label)
def test_counts_are_those_of_z(configuration):
    chain = chain_for(configuration, "block", 3)
    chain.run(5)
    document = np.repeat(np.arange(CORPUS.n_documents), CORPUS.lengths)
    topic_word = np.zeros((9, CORPUS.n_words), dtype=int)
    np.add.at(topic_word, (chain.z, CORPUS.words), 1)
    doc_topic = np.zeros((CORPUS.n_documents, 9), dtype=int)
    np.add.at(doc_topic, (document, chain.z), 1)
    np.testing.assert_array_equal(chain.counts.topic_word, topic_word)
    np.testing.assert_array_equal(chain.counts.topic_totals, topic_word.sum(axis=1))
    np.testing.assert_array_equal(chain.counts.doc_topic.toarray(), doc_topic)
    u = np.hstack([doc_topic / np.maximum(CORPUS.lengths, 1)[:, None], CORPUS.covariates, np.ones((120, 1))])
    np.testing.assert_allclose(chain.f(), u @ chain.eta.T, atol=1e-10)
