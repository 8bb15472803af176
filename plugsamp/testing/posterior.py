"""Exact posteriors of tiny corpora: every assignment enumerated, the weights integrated on a grid."""

from __future__ import annotations

from copy import copy
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp

from plugsamp.testing.cases import Case

#: Grid points an axis by the number of weights of an output.
_POINTS = {1: 4001, 2: 401, 3: 81, 4: 35}


def log_dirichlet_multinomial(counts: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """log B(counts + prior)/B(prior) over the last axis."""
    total = counts.sum(axis=-1)
    return (
        gammaln(prior.sum())
        - gammaln(total + prior.sum())
        + (gammaln(counts + prior) - gammaln(prior)).sum(axis=-1)
    )


def weight_grid(n: int, points: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (G, n) and weights (G,) for expectations under a standard normal in n dimensions.

    A trapezoidal rule within a ball of radius 6, rotated by a fixed generic rotation: the kinks of a
    loss (the hinge's at y f = margin) then lie aslant of every axis, where their errors cancel.
    """
    points = points or _POINTS[n]
    axis = np.linspace(-6.0, 6.0, points)
    nodes = np.stack(np.meshgrid(*[axis] * n, indexing="ij"), axis=-1).reshape(-1, n)
    nodes = nodes[(nodes**2).sum(axis=1) <= 36.0]
    if n > 1:
        rotation, _ = np.linalg.qr(np.random.default_rng(12345).standard_normal((n, n)))
    else:
        rotation = np.eye(1)
        nodes = nodes + 0.123 * (axis[1] - axis[0])
    log_weight = -0.5 * (nodes**2).sum(axis=1)
    weight = np.exp(log_weight)
    return nodes @ rotation, weight / weight.sum()


class Enumeration:
    """The posterior of model.md section 1 for a `Case`.

    Parameters
    ----------
    case : Case
        With K^N of at most some 10^5 and at most four weights an output.
    points : int, optional
        Grid points an axis; a second, finer grid checks the first.

    Attributes
    ----------
    z : ndarray (S, N) of int
        Every assignment.
    probability : ndarray (S,)
        Its exact posterior probability.
    log_evidence : float
        log of the sum of the target over z and eta.
    eta_grid : list of ndarray (G, J)
        Nodes an output.
    eta_probability : list of ndarray (G,)
        Posterior masses of the nodes.
    eta_mean : ndarray (C, J)
    f_mean : ndarray (D, C)
        E[f_dc], which sees how eta and z go together.
    """

    def __init__(self, case: Case, points: int | None = None):
        if case.n_outputs and not case.fixed_parameters:
            raise ValueError(
                f"{case}: the posterior cannot be enumerated, its loss or prior draws parameters"
            )
        self.case = case
        self.features = None  # what `plugsamp.testing.agreement` makes of it
        k, n, n_documents = case.n_topics, case.n_tokens, case.n_documents
        self.z = np.array(list(product(range(k), repeat=n)), dtype=np.int64).reshape(-1, n)
        one_hot = self.z[:, :, None] == np.arange(k)
        member = np.arange(n_documents)[:, None] == case.document_of
        self.doc_topic = np.einsum("dn,snk->sdk", member.astype(int), one_hot.astype(int))
        of_word = np.arange(case.n_words)[:, None] == case.words
        topic_word = np.einsum("vn,snk->skv", of_word.astype(int), one_hot.astype(int))
        log_p = log_dirichlet_multinomial(self.doc_topic, case.alpha_vector).sum(axis=1)
        log_p += log_dirichlet_multinomial(topic_word, case.beta_vector).sum(axis=1)

        # Assignments with equal n_dk share the integral over the weights.
        flat = self.doc_topic.reshape(len(self.z), -1)
        groups, first, self.group = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        self.group = self.group.ravel()
        self._group_doc_topic = self.doc_topic[first]
        integrals = np.ones((case.n_outputs, len(groups)))
        means, tables = [], []
        for c in range(case.n_outputs):
            grid, weight, values, pattern = self._table(c, points)
            tables.append((grid, weight, values, pattern))
            moments = np.zeros((len(groups), 1 + case.n_features))
            for nodes, psi in self._pieces(values, pattern, len(grid)):
                moments += psi @ (weight[nodes, None] * np.column_stack([np.ones(psi.shape[1]), grid[nodes]]))
            integrals[c] = moments[:, 0]
            means.append(moments[:, 1:] / moments[:, :1])
        log_p += np.log(integrals).sum(axis=0)[self.group]
        self.log_evidence = float(logsumexp(log_p))
        self.probability = np.exp(log_p - self.log_evidence)
        self.group_probability = np.bincount(self.group, self.probability, minlength=len(groups))

        self.eta_grid, self.eta_probability = [], []
        self.eta_mean = np.zeros((case.n_outputs, case.n_features))
        self.f_mean = np.zeros((n_documents, case.n_outputs))
        self._tables = tables
        for c, (grid, weight, values, pattern) in enumerate(tables):
            mass = np.empty(len(grid))
            share = self.group_probability / integrals[c]
            for nodes, psi in self._pieces(values, pattern, len(grid)):
                mass[nodes] = weight[nodes] * (share @ psi)
            for g in range(len(groups)):
                self.f_mean[:, c] += self.group_probability[g] * (self._design(g) @ means[c][g])
            self.eta_grid.append(grid)
            self.eta_probability.append(mass)
            self.eta_mean[c] = mass @ grid

    def _design(self, g: int) -> np.ndarray:
        lengths = np.maximum(self.case.lengths, 1)[:, None]
        return np.hstack([self._group_doc_topic[g] / lengths, self.case.fixed])

    def _table(self, c: int, points: int | None):
        """psi of each document on the grid, for each pattern of its counts.

        Returns nodes (G, J), weights (G,), a list over documents of (patterns, G), and the pattern's
        index of each document in each group, (groups, D).
        """
        case = self.case
        nodes, weight = weight_grid(case.n_features, points)
        grid = nodes / np.sqrt(case.prior_precision[c])
        values, index = [], np.empty((len(self._group_doc_topic), case.n_documents), dtype=np.int64)
        for d in range(case.n_documents):
            patterns, inverse = np.unique(self._group_doc_topic[:, d], axis=0, return_inverse=True)
            index[:, d] = inverse.ravel()
            if np.isnan(case.y[d, c]):
                values.append(np.ones((len(patterns), 1)))
                continue
            u = np.hstack([patterns / max(case.lengths[d], 1), np.tile(case.fixed[d], (len(patterns), 1))])
            f = u @ grid.T
            log_psi = case.power[d] * case.loss.log_psi(np.full_like(f, case.y[d, c]), f)
            values.append(np.exp(log_psi))
        return grid, weight, values, index

    def _pieces(self, values, pattern, n_nodes: int, size: int = 1024):
        """Slices of the nodes, and psi of all documents at them, (groups, size): what fits into caches."""
        for first in range(0, n_nodes, size):
            nodes = slice(first, min(first + size, n_nodes))
            psi = np.ones((len(pattern), nodes.stop - first))
            for d, of_patterns in enumerate(values):
                if of_patterns.shape[1] > 1:  # the others are 1 everywhere
                    psi *= of_patterns[:, nodes][pattern[:, d]]
            yield nodes, psi

    def _integrand(self, values, pattern, g: int) -> np.ndarray:
        result = values[0][pattern[g, 0]]
        for d in range(1, len(values)):
            result = result * values[d][pattern[g, d]]
        return np.broadcast_to(result, (max(v.shape[1] for v in values),))

    def draw(self, n: int, rng) -> tuple[np.ndarray, np.ndarray]:
        """Independent draws of the posterior: z (n, N) and, from the grid's nodes, eta (n, C, J)."""
        state = rng.choice(len(self.z), size=n, p=self.probability / self.probability.sum())
        eta = np.zeros((n, self.case.n_outputs, self.case.n_features))
        of_draw = self.group[state]
        for c, (grid, weight, values, pattern) in enumerate(self._tables):
            for g in np.unique(of_draw):
                rows = np.flatnonzero(of_draw == g)
                cumulative = np.cumsum(weight * self._integrand(values, pattern, g))
                node = np.searchsorted(cumulative, rng.random(len(rows)) * cumulative[-1])
                eta[rows, c] = grid[np.minimum(node, len(grid) - 1)]
        return self.z[state], eta

    def eta_quantile(self, c: int, j: int, levels) -> np.ndarray:
        """Quantiles of the posterior of eta_cj."""
        value, _, cdf = self._sorted(c, j)
        return np.interp(levels, cdf, value)

    def eta_cdf(self, c: int, j: int, at) -> np.ndarray:
        """P(eta_cj <= at)."""
        value, mass, cdf = self._sorted(c, j)
        return np.interp(at, value, cdf - 0.5 * mass)

    def _sorted(self, c: int, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nodes' values of eta_cj ascending, their masses, and those summed."""
        order = np.argsort(self.eta_grid[c][:, j])
        mass = self.eta_probability[c][order]
        return self.eta_grid[c][order, j], mass, np.cumsum(mass)

    def tilted(self, log_factor: np.ndarray) -> Enumeration:
        """This posterior of z times exp(log_factor), (S,): responses with (kappa, omega, eta) held fixed."""
        if self.case.n_outputs:
            raise ValueError("only a posterior without outputs can be tilted")
        result = copy(self)
        result.features = None
        log_p = np.log(self.probability) + log_factor
        result.probability = np.exp(log_p - logsumexp(log_p))
        return result

    def state_index(self, z) -> np.ndarray:
        """Row of `self.z` of each assignment in z (draws, N)."""
        z = np.asarray(z, dtype=np.int64).reshape(-1, self.case.n_tokens)
        return z @ (self.case.n_topics ** np.arange(self.case.n_tokens - 1, -1, -1, dtype=np.int64))
