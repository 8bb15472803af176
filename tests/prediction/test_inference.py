"""Prediction: right in expectation, and the same for a document alone or in company."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from plugsamp.corpus import Corpus
from plugsamp.fitting.recording import Recording
from plugsamp.losses.coding import Coding
from plugsamp.losses.hinge import Hinge
from plugsamp.losses.none import NoLoss
from plugsamp.posterior.draws import Draws


def classes_of(*labels):
    named = np.empty(len(labels), dtype=object)
    named[:] = labels
    return named


def predictor(n_topics=5, n_words=30, n_outputs=3, **options):
    rng = np.random.default_rng(0)
    width = n_topics + len(options.get("covariate_names", ())) + options.get("intercept", False)
    arguments = {
        "phi": rng.dirichlet(np.full(n_words, 0.3), n_topics),
        "eta": rng.normal(size=(4, n_outputs, width)),
        "alpha": rng.gamma(1.0, 0.3, n_topics) + 0.01,
        "loss": Hinge(),
        "coding": Coding(np.zeros((1, n_outputs)), "multiclass", classes_of(*"xyzuvw"[:n_outputs])),
        "vocabulary": [f"w{i}" for i in range(n_words)],
    }
    return Draws(**arguments | options)


def documents(n_documents=40, n_words=30, seed=1):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.4, 1.0, size=(n_documents, n_words)))
    counts[3] = 0
    counts[4] = 0
    counts[4, 7] = 1
    return counts


def corpus(counts, **options):
    return Corpus.from_counts(counts, require_tokens=False, **options)


def same(one, other, rows=slice(None)):
    for name in ("zbar", "theta", "f", "labels", "n_known", "n_unknown"):
        assert np.array_equal(getattr(one, name)[rows], getattr(other, name)), name


def exact_zbar(phi, alpha, words):
    """E[zbar] by summing over all assignments."""
    n_topics, total, mean = len(alpha), 0.0, np.zeros(len(alpha))
    for z in product(range(n_topics), repeat=len(words)):
        n, mass = np.zeros(n_topics), 1.0
        for k, w in zip(z, words, strict=True):
            mass *= phi[k, w] * (alpha[k] + n[k])
            n[k] += 1
        total += mass
        mean += mass * n / len(words)
    return mean / total


@pytest.mark.parametrize("words", [[0], [0, 1], [1, 1, 2, 3], [0, 1, 2, 3, 3]])
def test_proportions_are_those_of_the_exact_posterior(words):
    rng = np.random.default_rng(5)
    phi, alpha = rng.dirichlet(np.full(4, 0.5), 3), np.array([0.3, 1.5, 0.1])
    model = predictor(3, 4, 1, phi=phi, alpha=alpha, passes=60_000, burn_in=50, restarts=1,
                      loss=NoLoss(),
                      coding=Coding(np.empty((0, 1)), "real", classes_of("r")))  # fmt: skip
    counts = np.bincount(words, minlength=4)[None]
    found = model.predict(corpus(counts)).zbar[0]
    np.testing.assert_allclose(found, exact_zbar(phi, alpha, words), atol=0.01)


def test_restarts_are_independent_chains_averaged():
    counts = documents()
    single = predictor(passes=3, burn_in=2)
    spread = {}
    for restarts in (16, 256):
        predictors = [single.with_options(restarts=restarts, seed=s) for s in range(30)]
        seeds = [p.predict(corpus(counts)).zbar for p in predictors]
        spread[restarts] = np.var(seeds, axis=0).mean()
        mean = np.mean(seeds, axis=0)
        np.testing.assert_allclose(mean.sum(1), np.arange(40) != 3, atol=1e-5)
    # of independent chains the variance is a sixteenth
    assert 10 < spread[16] / spread[256] < 26


def test_a_document_alone_in_any_batch_and_order():
    model, counts = predictor(), documents()
    together = model.predict(corpus(counts))
    np.testing.assert_allclose(together.zbar.sum(1), np.arange(40) != 3, atol=1e-5)
    order = np.random.default_rng(2).permutation(40)
    same(together, model.predict(corpus(counts[order])), order)
    for row in (0, 3, 4, 39):
        same(together, model.predict(corpus(counts[[row]])), [row])


def test_order_of_words_and_vocabulary_do_not_matter():
    model, counts = predictor(), documents()
    together = model.predict(corpus(counts))
    order = np.random.default_rng(3).permutation(30)
    other = corpus(counts[:, order], vocabulary=[f"w{i}" for i in order])
    same(together, model.predict(other))
    words = np.random.default_rng(4).permutation(np.repeat(np.arange(30), counts[0]))
    same(together, model.predict(Corpus(words, [0, len(words)], n_words=30)), [0])


def test_seed_and_model_key_the_streams():
    model, counts = predictor(), documents()
    first = model.predict(corpus(counts))
    same(first, predictor().predict(corpus(counts)))
    for other in (model.with_options(seed=1), predictor(eta=model.eta + 1e-12)):
        assert not np.array_equal(first.zbar, other.predict(corpus(counts)).zbar)


def test_unknown_words_are_counted_and_change_nothing():
    model, counts = predictor(), documents()
    more = np.hstack([np.full((40, 2), 3), counts])
    vocabulary = ["zebra", "ball", *model.vocabulary]
    found = model.predict(corpus(more, vocabulary=vocabulary))
    assert (found.n_unknown == 6).all()
    expected = model.predict(corpus(counts))
    np.testing.assert_array_equal(found.zbar, expected.zbar)
    np.testing.assert_array_equal(found.n_known, counts.sum(1))


def test_words_without_probability_are_unknown():
    phi = np.array([[0.5, 0.0, 0.5], [0.25, 0.0, 0.75]])
    model = predictor(2, 3, phi=phi)
    found = model.predict(corpus([[1, 2, 0], [0, 4, 0]]))
    assert found.n_unknown.tolist() == [2, 4] and found.n_known.tolist() == [1, 0]
    np.testing.assert_array_equal(found.zbar[0], model.predict(corpus([[1, 0, 0]])).zbar[0])


def test_no_evidence_gives_the_priors_answer():
    model = predictor()
    found = model.predict(corpus(np.zeros((1, 30), int)))
    prior = model.alpha / model.alpha.sum()
    assert (found.zbar == 0).all() and found.n_known[0] == 0
    np.testing.assert_allclose(found.theta[0], prior)
    np.testing.assert_allclose(found.f[0], model.eta.mean(0) @ prior)


@pytest.mark.parametrize("n_topics", [1, 16, 17, 100])
def test_any_number_of_topics(n_topics):
    found = predictor(n_topics).predict(corpus(documents()))
    assert found.zbar.shape == found.theta.shape == (40, n_topics)
    np.testing.assert_allclose(found.theta.sum(1), 1.0, atol=1e-5)
    if n_topics == 1:
        np.testing.assert_allclose(found.theta, 1.0, atol=1e-6)


def test_tiny_probabilities_do_not_underflow():
    phi = np.full((3, 2), 1e-40)
    phi[:, 1] = 1.0
    phi[2, 0] = 3e-39
    found = predictor(3, 2, phi=phi, alpha=np.full(3, 1e-6)).predict(corpus([[5, 0]]))
    assert np.isfinite(found.zbar).all()
    assert found.zbar[0].sum() == pytest.approx(1.0, abs=1e-5)


def test_covariates_by_name_and_intercept():
    model = predictor(covariate_names=("age", "year"), intercept=True)
    counts, x = documents(), np.random.default_rng(6).normal(size=(40, 2))
    found = model.predict(corpus(counts, covariates=x, covariate_names=["age", "year"]))
    u = np.hstack([np.where(found.n_known[:, None] > 0, found.zbar, found.theta), x, np.ones((40, 1))])
    np.testing.assert_allclose(found.f, u @ model.eta.mean(0).T, atol=1e-12)
    swapped = corpus(counts, covariates=x[:, ::-1], covariate_names=["year", "age"])
    same(found, model.predict(swapped))
    with pytest.raises(ValueError, match="the documents have none"):
        model.predict(corpus(counts))
    with pytest.raises(ValueError, match="lack the covariate 'year'"):
        model.predict(corpus(counts, covariates=x, covariate_names=["age", "y"]))


@pytest.mark.parametrize("labels", [("a", "b"), (3, 100), (False, True)])
def test_labels_keep_their_type(labels):
    coding = Coding(np.zeros((1, 1)), "binary", classes_of(*labels))
    found = predictor(n_outputs=1, coding=coding).predict(corpus(documents()))
    assert {type(v) for v in found.labels.tolist()} == {type(labels[0])}
    assert found.labels.tolist() == [labels[int(f > 0)] for f in found.f[:, 0]]
    assert found.probabilities is None


def test_probabilities_are_averaged_over_draws():
    class Sigmoid(Hinge):
        def probabilities(self, f, coding):
            return 1.0 / (1.0 + np.exp(-f))

    model = predictor(loss=Sigmoid())
    found = model.predict(corpus(documents()))
    ((_, parts),) = found.predictive.mixtures()
    each = [1.0 / (1.0 + np.exp(-one)) for _, f in parts for one in f]
    np.testing.assert_allclose(found.probabilities, np.mean(each, axis=0), rtol=1e-10)


def test_unsupervised():
    model = predictor(n_outputs=0, eta=np.empty((1, 0, 5)), loss=NoLoss(), coding=Coding.empty())
    found = model.predict(corpus(documents()))
    assert found.labels is None and found.f.shape == (40, 0)


def test_a_predictor_is_immutable_and_predicting_changes_nothing():
    model = predictor()
    before = model.digest, model.phi.copy(), model.eta.copy()
    model.predict(corpus(documents()))
    assert predictor().digest == before[0] == model.digest
    assert np.array_equal(model.phi, before[1]) and np.array_equal(model.eta, before[2])
    with pytest.raises(AttributeError):
        model.passes = 3
    with pytest.raises(ValueError, match="read-only"):
        model.phi[0, 0] = 1.0
    assert model.with_options(passes=30).passes == 30


@pytest.mark.parametrize(
    "options, message",
    [
        ({"passes": 5, "burn_in": 5}, "burn_in must be 1 or more and below passes"),
        ({"burn_in": 0}, "burn_in"),
        ({"restarts": 0}, "restarts must be a whole number, 1 or more"),
        ({"seed": -1}, "seed"),
        ({"vocabulary": ["a"]}, "1 words"),
        ({"eta": np.zeros((2, 3, 9))}, r"expected \(draws, 3, 5\)"),
        ({"eta": np.full((2, 3, 5), np.nan)}, "eta holds a number that is not finite"),
    ],
)
def test_parts_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        predictor(**options)


def test_a_chain_is_kept_and_predicts():
    from plugsamp.chain import Chain
    from plugsamp.model import Model

    rng = np.random.default_rng(0)
    labels = np.array(["cat", "dog"])[np.arange(30) % 2]
    counts = rng.poisson(np.where((labels == "cat")[:, None], [4, 4, 0.2, 0.2], [0.2, 0.2, 4, 4]))
    train = Corpus.from_counts(counts, responses=labels)
    beta = np.array([0.1, 0.2, 0.3, 0.4])
    chain = Chain(train, Model(3, alpha=0.5, beta=beta, loss=Hinge(cost=5.0)), "dense", seed=0)
    keeper = Recording(chain)
    with pytest.raises(ValueError, match="no draw has been kept"):
        keeper.draws()
    phi, eta = [], []
    for _ in chain.sweeps(6):
        keeper.keep()
        n = chain.counts.topic_word + beta
        phi.append(n / n.sum(axis=1, keepdims=True))
        eta.append(chain.eta)
    np.testing.assert_allclose(keeper.phi(), np.mean(phi, axis=0), rtol=1e-12)
    model = keeper.draws()
    np.testing.assert_array_equal(model.eta, eta)
    chain.run(5)  # what was kept stays
    found = model.predict(Corpus.from_counts([[5, 5, 0, 0], [0, 0, 5, 5]]))
    assert found.labels.tolist() == ["cat", "dog"]
