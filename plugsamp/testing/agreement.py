"""Runs of a chain against the enumerated posterior."""

from __future__ import annotations

from weakref import proxy

import numpy as np

from plugsamp.testing.cases import Case
from plugsamp.testing.posterior import Enumeration
from plugsamp.testing.statistics import EVENTS, Comparison, autocorrelation_time, batch_means, compare_means

_LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


class _Features:
    """Features of a draw (z, eta) whose exact expectations the enumeration knows."""

    def __init__(self, exact: Enumeration):
        self.exact = proxy(exact)  # which has this: its memory is to go with its last user
        case = exact.case
        names, expected = [], []
        p = exact.probability
        # Of z: every token's topic, and every pair in one topic.
        table = self._of_z(exact.z)
        self.table = table  # (S, features of z)
        names += [f"z[{i}]={k}" for i in range(case.n_tokens) for k in range(case.n_topics - 1)]
        names += [f"z[{i}]=z[{j}]" for i, j in zip(*np.triu_indices(case.n_tokens, 1), strict=True)]
        expected += list(p @ table)
        # Of eta: distribution function at five quantiles, mean, square; and f, which joins eta and z.
        self.cuts = np.empty((case.n_outputs, case.n_features, len(_LEVELS)))
        for c in range(case.n_outputs):
            grid, mass = exact.eta_grid[c], exact.eta_probability[c]
            for j in range(case.n_features):
                self.cuts[c, j] = exact.eta_quantile(c, j, _LEVELS)
                names += [f"eta[{c},{j}] below its {level:g} quantile" for level in _LEVELS]
                expected += list(exact.eta_cdf(c, j, self.cuts[c, j]))
                names += [f"eta[{c},{j}]", f"eta[{c},{j}]^2"]
                expected += [exact.eta_mean[c, j], mass @ grid[:, j] ** 2]
        for d in range(case.n_documents):
            for c in range(case.n_outputs):
                names.append(f"f[{d},{c}]")
                expected.append(exact.f_mean[d, c])
        self.bins, probability = self._partition()
        self.n_bins = len(probability)
        names += [f"bin {b} of the states" for b in range(self.n_bins)]
        expected += list(probability)
        self.names, self.expected = names, np.array(expected)
        zero_one = np.array([name.startswith(("z[", "bin")) or " below " in name for name in names])
        self.share = np.where(zero_one, self.expected, np.nan)

    def _of_z(self, z):
        case = self.exact.case
        own = z[:, :, None] == np.arange(case.n_topics - 1)
        i, j = np.triu_indices(case.n_tokens, 1)
        return np.hstack([own.reshape(len(z), -1), z[:, i] == z[:, j]]).astype(float)

    def _partition(self, n_bins: int = 8):
        """Every state in one of some bins of about equal mass, spread by a fixed shuffle."""
        p = self.exact.probability
        n_bins = min(n_bins, len(p))
        order = np.random.default_rng(7).permutation(len(p))
        middle = np.cumsum(p[order]) - 0.5 * p[order]
        bins = np.empty(len(p), dtype=np.int64)
        bins[order] = np.minimum((middle * n_bins).astype(int), n_bins - 1)
        bins = np.unique(bins, return_inverse=True)[1].ravel()
        return bins, np.bincount(bins, p)

    def of(self, z: np.ndarray, eta: np.ndarray):
        """Features (n, F) of draws z (n, N), eta (n, C, J)."""
        case = self.exact.case
        state = self.exact.state_index(z)
        parts = [self.table[state]]
        if case.n_outputs:
            below = eta[:, :, :, None] <= self.cuts
            both = np.concatenate([below, eta[..., None], eta[..., None] ** 2], axis=3)
            parts.append(both.reshape(len(z), -1))
            doc_topic = self.exact.doc_topic[state] / np.maximum(case.lengths, 1)[None, :, None]
            k = case.n_topics
            f = np.einsum("sdk,sck->sdc", doc_topic, eta[:, :, :k])
            f += np.einsum("dp,scp->sdc", case.fixed, eta[:, :, k:])
            parts.append(f.reshape(len(z), -1))
        parts.append(np.eye(self.n_bins)[self.bins[state]])
        return np.hstack(parts)


def compare_with_enumeration(
    exact: Enumeration, z, eta, *, replicates: int, effective: float | None = None, start=None
) -> Comparison:
    """Compare draws with the exact posterior: means of their features with the exact expectations.

    Features are every token's topic, every pair of tokens in one topic, eta's distribution function at five
    quantiles, its moments, f, and a partition of the states.

    Parameters
    ----------
    z : int (n, N)
    eta : float64 (n, C, J)
    replicates : int
        Consecutive pieces of n / `replicates` draws each, independent of one another.
    effective : float, optional
        Of draws of one chain: independent draws that a piece must be worth for every feature, by its
        autocorrelation time. Otherwise the result is `unusable`.
    start : (z, eta), optional
        Exact draws (replicates, ...) at which the pieces began. Rare events and unbounded features of the
        last draw of each piece are compared with those at the start: their means are skewed, differences
        of two draws are not (an event is as often gained as lost).
    """
    if exact.features is None:  # several runs are compared with one posterior
        exact.features = _Features(exact)
    features = exact.features
    values = features.of(np.asarray(z), np.asarray(eta, dtype=float))
    size, worth, unusable = len(values) // replicates, 1.0, ""
    if effective is not None:
        worth = size / autocorrelation_time(values).max()
        if worth < effective:
            unusable = f"too few draws: a batch is worth {worth:.1f} independent ones, not {effective:g}"
    means, expected, share = batch_means(values, replicates), features.expected, features.share
    if start is not None:
        skewed = ~(replicates * np.minimum(share, 1.0 - share) >= EVENTS)  # NaN, too
        means = np.where(skewed, values[size - 1 :: size] - features.of(*start), means)
        expected, share = np.where(skewed, 0.0, expected), np.where(skewed, np.nan, share)
    result = compare_means(means, expected, features.names, share=share, worth=worth)
    result.unusable = unusable
    return result


def check_chain(chain, exact: Enumeration, n: int, *, burn: int = 100, batches: int = 30) -> Comparison:
    """Run a chain freely for `burn` + `n` sweeps and compare the last n states with the exact posterior.

    It sees a wrong stationary distribution and a chain that does not reach every state. Batches must be
    worth ten independent draws, or the result is unusable, so it suits chains that mix well. Otherwise see
    `check_invariance`.
    """
    chain.run(burn)
    z, eta = _follow(chain, exact.case, n)
    return compare_with_enumeration(exact, z, eta, replicates=batches, effective=10.0)


def check_invariance(
    chain, exact: Enumeration, *, restarts: int = 250, sweeps: int = 12, seed: int = 0
) -> Comparison:
    """Start `restarts` short runs at independent exact draws of the posterior; compare their states with it.

    A kernel that leaves the posterior invariant stays there from the first sweep on, however slowly it
    mixes. The runs are independent, so their spread gives valid standard errors.

    Parameters
    ----------
    chain : Chain or ReferenceSampler
        Anything with ``set_state(z=, eta=)``, ``sweeps(n)``, ``z`` and ``eta``.
    """
    case = exact.case
    start_z, start_eta = exact.draw(restarts, np.random.default_rng([seed, 23]))
    z, eta = [], []
    for r in range(restarts):
        if case.n_outputs:
            chain.set_state(z=start_z[r], eta=start_eta[r])
        else:
            chain.set_state(z=start_z[r])
        states = _follow(chain, case, sweeps)
        z.append(states[0])
        eta.append(states[1])
    z, eta, start = np.concatenate(z), np.concatenate(eta), (start_z, start_eta)
    return compare_with_enumeration(exact, z, eta, replicates=restarts, start=start)


def _follow(chain, case: Case, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The states of the next n sweeps."""
    z = np.empty((n, case.n_tokens), dtype=np.int64)
    eta = np.zeros((n, case.n_outputs, case.n_features))
    for s, _ in enumerate(chain.sweeps(n)):
        z[s] = chain.z
        if case.n_outputs:
            eta[s] = chain.eta
    return z, eta
