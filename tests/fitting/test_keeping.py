"""Draws of the weights that are kept whole, and the moments of the others."""

import logging
from dataclasses import replace

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.checkpoint import Checkpoints
from plugsamp.fitting import keeping
from plugsamp.fitting.keeping import Moments, check_keep, most_draws, whole_sweeps
from plugsamp.losses.gaussian import Gaussian
from plugsamp.prediction.predictive import Predictive

MODEL = ps.Model(3, loss="logistic", weights=ps.priors.Normal(2.0))
RUN = {"sweeps": 40, "burn_in": 8, "thin": 2}  # 16 draws


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 60)
    counts = rng.poisson(np.where(np.arange(9) // 3 == kind[:, None], 2.0, 0.4)) + np.eye(1, 9, dtype=int)
    covariates = rng.standard_normal((60, 2)) + kind[:, None]
    return ps.Corpus.from_counts(counts, responses=np.array(list("abc"))[kind], covariates=covariates)


def part(corpus, **options):
    return ps.fit(corpus, MODEL, **RUN | options).parts[0]


def test_which_sweeps():
    wanted = frozenset(range(10, 101, 5))
    assert whole_sweeps(wanted, None) == whole_sweeps(wanted, 19) == wanted
    assert sorted(whole_sweeps(wanted, 5)) == [20, 40, 60, 80, 100]
    assert sorted(whole_sweeps(wanted, 2)) == [50, 100]
    for most in range(2, 20):
        assert max(wanted) in whole_sweeps(wanted, most) and len(whole_sweeps(wanted, most)) <= most


def test_how_many():
    assert most_draws("all", 23, 60_000) is None and most_draws(7, 23, 60_000) == 7
    assert most_draws("auto", 23, 14_000) == (64 << 20) // (8 * 23 * 14_000) == 26
    assert most_draws("auto", 1000, 60_000) == keeping.LEAST
    assert most_draws("auto", 1, 14_000, parts=23) == 26
    assert most_draws("auto", 0, 50) > 10**6
    for wrong in ("none", 1, 2.5, True, None, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="keep_draws must be auto, all or a whole number from 2 on"):
            check_keep(wrong)


def test_moments():
    draws = np.random.default_rng(0).standard_normal((50, 2, 3)) * [1.0, 1e-3, 0.0] + [0.0, 1e6, 4.0]
    moments = Moments((2, 3))
    for draw in draws:
        moments.add(draw)
    np.testing.assert_allclose(moments.mean, draws.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.squares / 49, draws.var(axis=0, ddof=1), rtol=1e-5)
    few = moments.matched(draws[4::10])
    np.testing.assert_allclose(few.mean(axis=0), draws.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(few.var(axis=0, ddof=1), draws.var(axis=0, ddof=1), rtol=1e-5, atol=1e-12)
    np.testing.assert_array_equal(moments.matched(draws[:1])[0], moments.mean)


def test_some_draws_with_the_moments_of_all(corpus, caplog):
    every, some = part(corpus, keep_draws="all"), part(corpus, keep_draws=5)
    assert len(every.eta) == 16 and list(some.kept) == [16, 24, 32, 40]
    assert np.array_equal(every.phi, some.phi)
    np.testing.assert_allclose(some.eta.mean(axis=0), every.eta.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(some.eta.std(axis=0, ddof=1), every.eta.std(axis=0, ddof=1), rtol=1e-9)
    one, other = (p.predict(corpus) for p in (every, some))
    np.testing.assert_allclose(one.f, other.f, atol=0.15)  # topics are drawn with another key
    assert np.abs(one.probabilities - other.probabilities).mean() < 0.02
    assert np.array_equal(part(corpus).eta, every.eta)  # all of few


def test_the_budget_is_said(corpus, caplog, monkeypatch):
    monkeypatch.setattr(keeping, "BUDGET", 0)
    monkeypatch.setattr(keeping, "LEAST", 8)
    with caplog.at_level(logging.INFO):
        posterior = ps.fit(corpus, MODEL, chains=2, **RUN)
    assert [len(p.eta) for p in posterior.parts] == [8, 8]
    assert "8 of 16 draws of the weights are kept whole" in caplog.text


@pytest.mark.parametrize("keep", [3, "all"])
def test_resumed_to_the_same_bits(corpus, tmp_path, keep):
    straight = part(corpus, keep_draws=keep)
    with pytest.raises(RuntimeError, match="now"):
        part(corpus, keep_draws=keep, checkpoint=Checkpoints(tmp_path, sweeps=9), observers=[_stop(29)])
    resumed = part(corpus, keep_draws=keep, checkpoint=Checkpoints(tmp_path, sweeps=9), resume=True)
    assert resumed.digest == straight.digest and list(resumed.kept) == list(straight.kept)


def test_more_sweeps_than_before(corpus, tmp_path):
    for name, before, after in (("fewer", "all", 3), ("same", 3, 3)):
        folder = tmp_path / name
        part(corpus, keep_draws=before, checkpoint=folder, sweeps=30)
        resumed = part(corpus, keep_draws=after, checkpoint=folder, resume=True)
        straight = part(corpus, keep_draws=after)
        assert len(resumed.kept) == 3 and resumed.kept[-1] == 40
        assert name == "same" or resumed.digest == straight.digest
        np.testing.assert_allclose(resumed.eta.mean(axis=0), straight.eta.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(resumed.eta.std(axis=0), straight.eta.std(axis=0), rtol=0.5)


def _stop(sweep):
    def observe(row):
        if row["sweep"] == sweep:
            raise RuntimeError("now")

    return observe


def test_intervals_of_some_draws_hold_the_response():
    """Where most of the uncertainty is that of many weights, in exact conjugate regressions."""
    rng, sd, n, held = np.random.default_rng(3), 0.3, 40, {"all": [], "some": [], "thinned": []}
    loss, coding = Gaussian(sd**2), Gaussian().code([0.0, 1.0])
    for _ in range(20):
        weights, x, new = rng.standard_normal(n), rng.standard_normal((n, n)), rng.standard_normal((20, n))
        y = x @ weights + sd * rng.standard_normal(len(x))
        covariance = np.linalg.inv(np.eye(n) + x.T @ x / sd**2)
        draws = rng.multivariate_normal(covariance @ x.T @ y / sd**2, covariance, 120)[:, None]
        moments = Moments((1, n))
        for draw in draws:
            moments.add(draw)
        response = new @ weights + sd * rng.standard_normal(20)
        few = draws[::-8]
        for name, eta in (("all", draws), ("some", moments.matched(few)), ("thinned", few)):
            eta = np.concatenate([np.zeros((len(eta), 1, 1)), eta], axis=2)
            topics = np.ones((20, 1))
            mixture = Predictive(
                loss, eta, {}, coding, topics, new, False, lambda a, b: np.ones((1, b - a, 1)), "posterior"
            )  # fmt: skip
            low, high = mixture.interval(0.9)[:, 0].T
            held[name].append(np.mean((low < response) & (response < high)))
    share = {name: np.mean(values) for name, values in held.items()}
    assert 0.87 < share["all"] < 0.92
    assert share["thinned"] < share["some"] and share["all"] - 0.03 < share["some"] < 0.92


def test_a_second_step(corpus):
    every, some = (part(corpus, supervised="two_step", keep_draws=keep) for keep in ("all", 5))
    assert len(every.eta) == 100 and len(some.eta) == 5
    np.testing.assert_allclose(some.eta.mean(axis=0), every.eta.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(some.eta.std(axis=0, ddof=1), every.eta.std(axis=0, ddof=1), rtol=1e-9)


def test_estimators():
    X, y = np.eye(4, dtype=int)[[0, 1, 2, 3] * 3], ["a", "b"] * 6
    model = ps.SupervisedTopicClassifier(2, sweeps=20, thin=1, keep_draws=4, random_state=0).fit(X, y)
    assert len(model.posterior_.parts[0].eta) == 4


def test_draws_are_not_copied(corpus):
    draws = part(corpus, keep_draws="all")
    assert not draws.eta.flags.writeable and draws.with_options(passes=9).eta is draws.eta
    assert replace(draws, eta=draws.eta.copy()).eta is not draws.eta
