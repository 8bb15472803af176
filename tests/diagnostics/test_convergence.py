"""R-hat and effective draws where they are known."""

import sys

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.diagnostics import convergence

arviz = pytest.importorskip("arviz_stats", reason="the extra 'arviz' is not installed")


def autoregressive(chains, draws, rho, seed=0):
    rng = np.random.default_rng(seed)
    x = np.empty((chains, draws))
    x[:, 0] = rng.standard_normal(chains)
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * rng.standard_normal(chains)
    return x


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_inefficiency_of_an_autoregression_is_known(rho):
    found = convergence.mixing(autoregressive(4, 20_000, rho))
    assert found.inefficiency == pytest.approx((1 + rho) / (1 - rho), rel=0.12)
    assert found.r_hat == pytest.approx(1.0, abs=0.01)
    assert found.sd == pytest.approx(1.0, rel=0.1)


def test_chains_that_disagree_are_seen():
    x = autoregressive(2, 1000, 0.0) + np.array([[0.0], [3.0]])
    assert convergence.mixing(x).r_hat > 1.5


def test_one_chain_and_constants():
    assert convergence.mixing(autoregressive(1, 500, 0.0)[0]).ess > 300
    one = autoregressive(1, 501, 0.0)
    halves = convergence.mixing(np.stack([one[0, :250], one[0, -250:]]))
    assert convergence.mixing(one).r_hat == halves.r_hat < 1.05 and convergence.mixing(one).constant is None
    assert convergence.mixing(np.arange(50.0)).r_hat > 2
    found = convergence.mixing(np.full((2, 10), 3.0))
    assert np.isnan([found.ess, found.inefficiency, found.r_hat]).all()
    assert found.constant == "constant"
    with pytest.raises(ValueError, match="chains of one seed"):
        convergence.mixing(np.tile(autoregressive(1, 50, 0.0), (2, 1)))


@pytest.mark.filterwarnings("error")
def test_chains_that_stay_where_they_are():
    rounding = -1e3 + np.array([0.0, 1e-12, 0.0, -1e-12] * 5)
    assert convergence.mixing(np.stack([rounding, rounding])).constant == "constant"
    for apart in (
        np.stack([rounding, rounding + 3]),
        np.tile([1.0, 2.0, 2.0], (10, 1)).T,
        [[0.0] * 5 + [1.0] * 5],
    ):
        found = convergence.mixing(apart)
        assert np.isnan(found.r_hat) and found.sd > 0 and found.constant == "constant within chains"
    # One that stays beside others that move, and two of these, are not one chain.
    found = convergence.mixing(np.concatenate([np.zeros((2, 50)), autoregressive(2, 50, 0.0)]))
    assert found.r_hat > 1 and found.constant is None


def test_what_has_topic_numbers_is_refused_with_the_reason():
    draws = np.random.default_rng(1).random((2, 50, 3))
    with pytest.raises(ValueError, match="eta has topics' numbers"):
        convergence.summary({"eta": draws})
    found = convergence.summary({"eta": draws, "log_joint": draws[:, :, 0]}, aligned=True)
    assert set(found) == {"eta[0]", "eta[1]", "eta[2]", "log_joint"}


def test_draws_that_say_nothing():
    with pytest.raises(ValueError, match="4 or more"):
        convergence.mixing([1.0, 2.0])
    with pytest.raises(ValueError, match="not finite"):
        convergence.mixing([1.0, 2.0, np.nan, 1.0, 2.0])


def test_topics_are_aligned():
    phi = np.random.default_rng(2).dirichlet(np.full(30, 0.1), 6)
    order = np.array([3, 1, 5, 0, 2, 4])
    noisy = 0.95 * phi[order] + 0.05 / 30
    np.testing.assert_array_equal(noisy[convergence.align(noisy, phi)].argmax(1), phi.argmax(1))
    np.testing.assert_array_equal(order[convergence.align(noisy, phi)], np.arange(6))


def test_same_topic_does_not_see_numbers():
    corpus = ps.Corpus.from_counts(np.array([[2, 1, 0], [0, 2, 2]]))
    chain = ps.Chain(corpus, ps.Model(3), init=[0, 0, 1, 2, 2, 1, 1])
    pairs = [(0, 1), (0, 2), (5, 6), (3, 4)]
    assert convergence.same_topic(chain, pairs).tolist() == [True, False, True, True]
    chain.set_state(z=[2, 2, 0, 1, 1, 0, 0])
    assert convergence.same_topic(chain, pairs).tolist() == [True, False, True, True]


def test_without_arviz_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_stats.base", None)
    with pytest.raises(ImportError, match=r"plugsamp\[arviz\]"):
        convergence.mixing(np.arange(10.0))
