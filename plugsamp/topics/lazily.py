"""When and how far Φ is lazy: `plugsamp.topics.lazy` and its bounds."""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaincc

from plugsamp.system.dispatch import load
from plugsamp.topics.base import TopicPrior

#: Fewer topics are drawn in full as fast.
FEWEST_TOPICS = 64
#: As large a part of the cells without tokens may be kept.
LARGEST_SHARE = 0.2
#: Mass of beta that a topic has at least: its sum is then above a quarter of that, but for one draw in 1e13.
LEAST_MASS = 50.0


def tau(state) -> float:
    """What a gamma draw must exceed to be kept; see `plugsamp.topics.lazy` for its size."""
    return _tau(state.n_words)


def _tau(n_words: int) -> float:
    return 1e-6 * float(np.sqrt(2.0 * n_words))


def suits(state) -> bool:
    """Whether it pays, and its bounds hold: of plain Dirichlet priors that stay as they are."""
    if state.masked or len(state.pseudo_words) or not state.beta_stays:
        return False
    return _pays(state.n_topics, state.stride, state.beta.astype(float), tau(state))


def expected(model, n_words: int) -> bool:
    """Whether `suits` will hold in a chain of this model, for kernels that allow it."""
    plain = type(model.topics).pseudo_tokens is TopicPrior.pseudo_tokens and not model.topics.needs_phi
    if not plain or model.learn_beta.method != "none":
        return False
    return _pays(model.n_topics, model.n_topics, model.beta_vector(n_words), _tau(n_words))


def _pays(n_topics: int, stride: int, beta: np.ndarray, limit: float) -> bool:
    return bool(
        n_topics >= FEWEST_TOPICS
        and beta.sum() >= LEAST_MASS
        and beta.min() >= 1e-3
        and beta.max() < 1.0
        and _by_value(beta, lambda b: gammaincc(b, limit)).mean() <= LARGEST_SHARE
        and len(beta) * stride < 2**32 - 2**20
    )


def lazy_topics(state):
    """The holder of Φ for `state`."""
    beta, limit = state.beta.astype(float), tau(state)
    state.small_deviation = _deviation(beta, limit)
    return load("plugsamp.topics.lazy").LazyTopics(
        state.arena,
        state.beta,
        state.n_topics,
        state.stride,
        limit,
        _by_value(beta, lambda b: gammaincc(b, limit)),
        _by_value(beta, lambda b: _moment(b, limit, 1)),
    )


def _by_value(beta, function):
    """function(beta): every worker asks for it, and few priors have more than one value."""
    values, place = np.unique(beta, return_inverse=True)
    return function(values)[place]


def _moment(beta, limit, n):
    """The n-th moment of Gamma(beta) given that it is `limit` at most."""
    rise = beta if n == 1 else beta * (beta + 1.0)
    return rise * gammainc(beta + n, limit) / gammainc(beta, limit)


def _deviation(beta, limit) -> float:
    """The standard deviation of the small cells' sum in a topic."""

    def variance(b):
        first, second = _moment(b, limit, 1), _moment(b, limit, 2)
        return gammainc(b, limit) * (second - first**2)

    return np.sqrt(_by_value(beta, variance).sum())


def remainder(state, rng) -> np.ndarray:
    """The small cells' sum in each topic, less its mean, (K,)."""
    return state.small_deviation * rng.standard_normal(state.n_topics)


def threshold(state) -> float:
    """A phi that no cell reaches which is not kept, whatever the state."""
    return 4.0 * tau(state) / state.beta_sum
