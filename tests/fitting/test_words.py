"""Words as covariates: where their weights start, and ``words=True``."""

from __future__ import annotations

import numpy as np
import pytest
from omegaconf import OmegaConf
from sklearn.svm import LinearSVC

import plugsamp as ps
from plugsamp.commands.fit import with_words
from plugsamp.fitting.starts import start_weights

WORDS = ps.Covariates(words="tfidf")


def documents(labels=3, n=40) -> ps.Corpus:
    rng = np.random.default_rng(0)
    kind = np.arange(n) % labels
    counts = rng.poisson(0.5 + 2.0 * np.eye(labels)[kind][:, np.arange(3 * labels) % labels])
    y = np.array(["a", "b", "c"], dtype=object)[kind]
    y[:3] = None
    return ps.Corpus.from_counts(counts, responses=y)


def test_weights_of_words_start_at_a_linear_machine():
    corpus = WORDS.fit(documents()).transform(documents())
    model = ps.Model(
        2, loss=ps.losses.Hinge(10.0, margin=2.0), weights=ps.priors.Normal(covariate_variance=0.1)
    )
    chain = ps.Chain(corpus, model, seed=3)
    start_weights(chain)
    known = np.array([y is not None for y in corpus.responses])
    x = corpus.covariates[known].toarray()
    for c, name in enumerate("abc"):
        machine = LinearSVC(C=2 * 10.0 * 0.1 / 2.0, loss="hinge", intercept_scaling=10.0, max_iter=20_000)
        machine.fit(x, corpus.responses[known] == name)
        assert np.corrcoef(chain.eta[c, 2:-1], 2.0 * machine.coef_[0])[0, 1] > 0.95  # it is a start
        assert chain.eta[c, -1] == pytest.approx(2.0 * machine.intercept_[0], abs=0.5)
    assert (chain.eta[:, :2] == 0).all()


def test_other_losses_and_dense_covariates_start_at_zero():
    corpus = documents()
    dense = ps.Corpus.from_counts(corpus.counts(), responses=corpus.responses, covariates=np.eye(40)[:, :2])
    for one, loss in ((dense, "hinge"), (WORDS.fit(corpus).transform(corpus), "logistic")):
        chain = ps.Chain(one, ps.Model(2, loss=loss))
        start_weights(chain)
        assert (chain.eta == 0).all()


def test_a_run_with_words_goes_on_bit_equal():
    corpus, model, place = documents(2), ps.Model(2, loss="hinge"), ps.Checkpoints(None)
    ps.fit(corpus, model, sweeps=3, words=True, checkpoint=place)
    on = ps.fit(corpus, model, sweeps=8, words=True, checkpoint=place, resume=True)
    assert on.digest == ps.fit(corpus, model, sweeps=8, words=True).digest


def test_words_take_the_variances_of_the_loss_unless_some_are_given():
    corpus = documents()
    found = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=4, words=True)
    weights = ps.priors.Normal(**ps.losses.Hinge.words)
    same = ps.fit(corpus, ps.Model(2, loss="hinge", weights=weights), sweeps=4, covariates=WORDS)
    assert found.digest == same.digest and found.covariate_names[0] == "word:w0"
    own = ps.Model(2, loss="hinge", weights=ps.priors.Normal(0.5))
    assert own.with_words() is own
    assert ps.Model(2, loss="probit").with_words().weights.variance == 1.0
    with pytest.raises(ValueError, match="words=True is for Covariates"):
        ps.fit(corpus, own, sweeps=4, words=True, covariates=WORDS.fit(corpus))


def test_the_estimator_and_the_search_take_words():
    corpus = documents(2)
    keep = np.array([y is not None for y in corpus.responses])
    X, y = corpus.counts()[keep], corpus.responses[keep].astype(str)
    model = ps.SupervisedTopicClassifier(2, words=True, sweeps=6, random_state=0).fit(X, y)
    assert model.coef_.shape == (1, 2 + 6) and model.score(X, y) > 0.8
    tuned = ps.tune(corpus, ps.Model(2, loss="hinge"), settings=3, sweeps=4, words=True)
    assert tuned.table["covariate_variance"][tuned.table["variance"].index(0.001)] == 0.01
    assert tuned.posterior.covariate_names[0] == "word:w0"


def test_the_command_keeps_stop_words_unless_they_are_given():
    config = OmegaConf.create(
        {"words": True, "covariates": {"words": "none"}, "corpus": {"name": "csv", "stop_words": "english"}}
    )
    found = with_words(config, ["words=true"])
    assert found.covariates.words == "tfidf" and found.corpus.stop_words == "none"
    assert with_words(config, ["corpus.stop_words=english"]).corpus.stop_words == "english"
    config.words = False
    assert with_words(config) is config


def test_drawn_variances_without_responses_are_told():
    corpus = ps.Corpus.from_counts(documents().counts())
    with pytest.warns(UserWarning, match="weights=hierarchical draws variances of weights"):
        ps.fit(corpus, ps.Model(2, weights="hierarchical"), sweeps=2)
