"""Joint-distribution tests (Geweke 2004): forward simulation against successive-conditional simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plugsamp.testing.cases import Case
from plugsamp.testing.posterior import log_dirichlet_multinomial
from plugsamp.testing.statistics import Comparison, compare_two


@dataclass(frozen=True)
class GewekeCase:
    """A model with document lengths and a pattern of missing responses; words and responses are simulated.

    Parameters
    ----------
    case : Case
        Its words and responses are only a start. Responses, if any, are a (D, C) table of 0 and 1
        with C of 2 or more (one label a document would be refused when all happen to be equal).

    Notes
    -----
    psi is no normalised likelihood for the hinge. The joint simulated is proportional to
    p(theta, z, phi, w, eta) prod psi(y|f): forward draws of everything but y are accepted with
    probability prod_dc [sum over y of psi(y|f)] / 2, and y then drawn proportional to psi.
    """

    case: Case

    def __post_init__(self):
        if self.case.n_outputs and (np.ndim(self.case.responses) != 2 or self.case.n_outputs < 2):
            raise ValueError("joint-distribution tests need a (D, C) table of 0/1 responses with C >= 2")

    @property
    def observed(self) -> np.ndarray:
        return ~np.isnan(self.case.y)

    @property
    def names(self) -> list[str]:
        names = ["n_0", "n_d0 of the first document", "sum n_dk^2", "sum n_kw^2", "n_00", "log p(w, z)"]
        for c in range(self.case.n_outputs):
            names += [f"eta[{c},0]", f"eta[{c},-1]", f"sum eta[{c}]^2", f"sum y[{c}]", f"sum y f[{c}]"]
        if self.case.n_outputs:
            names.append("log psi")
        return names

    def features(self, case: Case, z, eta, y) -> np.ndarray:
        """Test functions of one joint state."""
        doc_topic, topic_word = case.counts(z)
        log_joint = log_dirichlet_multinomial(doc_topic, case.alpha_vector).sum()
        log_joint += log_dirichlet_multinomial(topic_word, case.beta_vector).sum()
        values = [
            doc_topic[:, 0].sum(),
            doc_topic[0, 0],
            (doc_topic**2).sum(),
            (topic_word**2).sum(),
            topic_word[0, 0],
            log_joint,
        ]
        if case.n_outputs:
            f = case.design(z) @ eta.T
            known = np.where(self.observed, y, 0.0)
            for c in range(case.n_outputs):
                values += [eta[c, 0], eta[c, -1], (eta[c] ** 2).sum()]
                values += [known[:, c].sum(), (known * f)[:, c].sum()]
            values.append(case.loss.log_psi(known, f)[self.observed].sum())
        return np.array(values, dtype=float)

    def forward(self, n: int, rng) -> np.ndarray:
        """n independent draws of the joint as features (n, F)."""
        states = self.states(rng)
        return np.array([self.features(*next(states)) for _ in range(n)])

    def states(self, rng, batch: int = 256):
        """Independent draws without end: a Case with its words, z, eta, y (D, C)."""
        case = self.case
        prior = np.tile(case.alpha_vector, (case.n_documents, 1))
        lengths = np.maximum(case.lengths, 1)[:, None]
        member = (np.arange(case.n_documents)[:, None] == case.document_of).astype(float)
        while True:
            shape = (batch, *case.prior_precision.shape)
            eta = rng.standard_normal(shape) / np.sqrt(case.prior_precision)
            theta = rng.standard_gamma(prior, size=(batch, *prior.shape))
            theta /= theta.sum(axis=2, keepdims=True)
            below = np.cumsum(theta, axis=2)[:, case.document_of, :-1]
            z = (rng.random((batch, case.n_tokens))[:, :, None] >= below).sum(axis=2)
            keep = np.ones(batch, dtype=bool)
            if case.n_outputs:
                one_hot = (z[:, :, None] == np.arange(case.n_topics)).astype(float)
                z_bar = np.einsum("dn,bnk->bdk", member, one_hot) / lengths
                f = np.einsum("bdk,bck->bdc", z_bar, eta[:, :, : case.n_topics])
                f += np.einsum("dp,bcp->bdc", case.fixed, eta[:, :, case.n_topics :])
                one = np.ones_like(f)
                both = np.exp(case.loss.log_psi(one, f)) + np.exp(case.loss.log_psi(-one, f))
                keep = rng.random(batch) < np.prod(0.5 * both[:, self.observed], axis=1)
            for b in np.flatnonzero(keep):
                phi = _dirichlet(np.tile(case.beta_vector, (case.n_topics, 1)), rng)
                with_words, order = self.with_words(z[b], phi, rng)
                yield with_words, order, eta[b], self.draw_responses(z[b], eta[b], rng)

    def with_words(self, z, phi, rng) -> tuple[Case, np.ndarray]:
        """New words given z and phi, and z in the new (sorted) token order."""
        words = _rows(phi[z], rng)
        order = np.lexsort((words, self.case.document_of))
        documents = np.split(words[order], np.cumsum(self.case.lengths)[:-1])
        return self.case.with_documents([d.tolist() for d in documents], self.case.responses), z[order]

    def draw_responses(self, z, eta, rng) -> np.ndarray:
        """y (D, C) of -1 and 1 proportional to psi, NaN where missing."""
        case = self.case
        if not case.n_outputs:
            return np.empty((case.n_documents, 0))
        f = case.design(z) @ eta.T
        log_odds = case.loss.log_psi(np.ones_like(f), f) - case.loss.log_psi(-np.ones_like(f), f)
        y = np.where(rng.random(f.shape) < 1.0 / (1.0 + np.exp(-log_odds)), 1.0, -1.0)
        return np.where(self.observed, y, np.nan)

    def table(self, y) -> np.ndarray | None:
        """y as a user's table of 0, 1 and None."""
        if not self.case.n_outputs:
            return None
        table = np.empty(y.shape, dtype=object)
        table[...] = [[None if np.isnan(v) else int(v > 0) for v in row] for row in y]
        return table


def _dirichlet(parameters, rng):
    gamma = rng.standard_gamma(parameters)
    return gamma / gamma.sum(axis=1, keepdims=True)


def _rows(p, rng):
    """One category a row of p (n, m)."""
    cumulative = np.cumsum(p, axis=1)
    u = rng.random(len(p)) * cumulative[:, -1]
    return np.minimum((cumulative <= u[:, None]).sum(axis=1), p.shape[1] - 1)


def chain_stepper(make_chain, *, collapsed: bool, sweeps: int = 1):
    """A `step` for `geweke` that runs a package chain.

    Parameters
    ----------
    make_chain : callable (case, z, seed) -> Chain
        A new chain on the case's corpus that starts at z.
    collapsed : bool
        Whether topics are integrated out; if not, the next words come from the chain's own phi.
    """

    def step(case, z, eta, seed, rng):
        chain = make_chain(case, z, seed)
        if case.n_outputs:
            chain.set_state(eta=eta)
        chain.run(sweeps)
        z = np.array(chain.z, dtype=np.int64)
        eta = np.array(chain.eta) if case.n_outputs else eta
        if collapsed:
            _, topic_word = case.counts(z)
            return z, eta, _dirichlet(topic_word + case.beta_vector, rng)
        return z, eta, np.array(chain.phi, dtype=float)

    return step


def geweke(
    setup: GewekeCase, step, *, n_forward: int, n_chain: int, seed: int = 0, batches: int = 50
) -> Comparison:
    """Compare moments of test functions under forward and successive-conditional simulation.

    Parameters
    ----------
    step : callable (case, z, eta, seed, rng) -> z, eta, phi
        One transition that leaves p(z, eta, phi | words, y) invariant (see `chain_stepper`).
    n_forward, n_chain : int
        Draws of each. The chain starts from a forward draw, so it needs no burn-in.
    """
    rng = np.random.default_rng([seed, 17])
    first = setup.forward(n_forward, rng)
    case, z, eta, y = next(setup.states(rng))
    second = np.empty((n_chain, len(setup.names)))
    for s in range(n_chain):
        case = replace(case, responses=setup.table(y))
        z, eta, phi = step(case, z, eta, seed * 1_000_003 + s, rng)
        case, z = setup.with_words(z, phi, rng)
        y = setup.draw_responses(z, eta, rng)
        second[s] = setup.features(case, z, eta, y)
    return compare_two(first, second, setup.names, batches=batches)
