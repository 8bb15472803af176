"""Joint-distribution tests (Geweke 2004) in independent replicates, each of which starts at an exact draw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from plugsamp.losses.base import BoundLoss
from plugsamp.losses.coding import filled
from plugsamp.priors.normal import Normal
from plugsamp.testing.cases import Case, responses_for
from plugsamp.testing.posterior import log_dirichlet_multinomial
from plugsamp.testing.statistics import Comparison, compare_means


@dataclass
class JointState:
    """A point of the joint distribution, but for the words.

    Attributes
    ----------
    z : int (N,)
    eta : float64 (C, J)
    y : float64 (D, C)
        Coded responses, NaN where missing.
    parameters, prior_state : dict of arrays
        What the loss and the weight prior draw.
    """

    z: np.ndarray
    eta: np.ndarray
    y: np.ndarray | None = None
    parameters: dict = field(default_factory=dict)
    prior_state: dict = field(default_factory=dict)


def simulated_by(loss, n_outputs: int) -> bool:
    """Whether the loss is a likelihood that can draw responses."""
    bound = BoundLoss(loss, loss.start(n_outputs))
    return bound.simulate(np.zeros((1, n_outputs)), np.random.default_rng(0)) is not None


@dataclass(frozen=True)
class GewekeCase:
    """A model with document lengths and a pattern of missing responses; all else is simulated.

    Parameters
    ----------
    case : Case
        Its words and responses are only a start; what is missing stays missing. Labels are a (D, C)
        table of 0 and 1 with C of 2 or more (one label a document would be refused when all happen to be
        equal).

    Notes
    -----
    A loss that is a likelihood draws its own responses (`Loss.simulate`), and its parameters
    (`Loss.simulate_parameters`). Of others with two values of y, such as the hinge, psi is not normalised.
    The joint simulated is then proportional to p(theta, z, phi, w, eta) prod psi(y|f): forward draws of
    everything but y are accepted with probability prod_dc [sum over y of psi(y|f)] / (its largest value), and
    y is drawn proportional to psi.

    Test functions of weights, real responses and parameters are bounded: their priors may have no moments.
    """

    case: Case

    def __post_init__(self):
        case = self.case
        if not case.n_outputs or self.likelihood:
            return
        if np.ndim(case.responses) != 2 or case.n_outputs < 2 or len(self.levels) != 2:
            raise ValueError(
                "joint-distribution tests need a loss with `simulate`, or a (D, C) table of 0/1 responses "
                "with C >= 2"
            )
        if case.loss.start(case.n_outputs):
            raise ValueError(f"{case.loss!r} has parameters, so it needs `simulate`")

    @cached_property
    def likelihood(self) -> bool:
        return simulated_by(self.case.loss, self.case.n_outputs)

    @cached_property
    def labels(self) -> bool:
        return self.case.loss.code(self.case.responses, None).task in ("binary", "multiclass", "multilabel")

    @cached_property
    def observed(self) -> np.ndarray:
        return ~np.isnan(self.case.y)

    @cached_property
    def levels(self) -> np.ndarray:
        """The values of coded responses, ascending."""
        return np.unique(self.case.y[self.observed])

    @cached_property
    def names(self) -> list[str]:
        names = ["n_0", "n_d0 of the first document", "sum n_dk^2", "sum n_kw^2", "n_00", "log p(w, z)"]
        for c in range(self.case.n_outputs):
            names += [f"eta[{c},0]", f"eta[{c},-1]", f"sum eta[{c}]^2", f"sum y[{c}]", f"sum y f[{c}]"]
            names += [f"precision of eta[{c},0]", f"sum precision eta[{c}]^2"]
            names += [f"{name}[{c}]" for name in self.case.loss.start(self.case.n_outputs)]
        if self.case.n_outputs:
            names.append("log psi")
        return names

    def features(self, case: Case, state: JointState) -> np.ndarray:
        """Test functions of one joint state."""
        z, eta = state.z, state.eta
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
            known = filled(state.y, ~self.observed)
            seen = np.where(self.observed, known, 0.0)
            precision = case.precision_of(state.prior_state)
            squares = eta**2
            for c in range(case.n_outputs):
                values += [_squash(eta[c, 0]), _squash(eta[c, -1]), _squash(squares[c].sum())]
                values += [_squash(seen[:, c]).sum(), _squash(seen * f)[:, c].sum()]
                values += [_squash(np.log(precision[c, 0])), _squash((precision[c] * squares[c]).sum())]
                values += [_squash(values_[c]).mean() for values_ in state.parameters.values()]
            log_psi = BoundLoss(case.loss, state.parameters).log_psi(known, f)
            values.append(_squash(0.2 * log_psi[self.observed].sum()))
        return np.array(values, dtype=float)

    def states(self, rng, batch: int = 256):
        """Independent draws without end: a Case with its words, and the rest."""
        case = self.case
        prior = np.tile(case.alpha_vector, (case.n_documents, 1))
        while True:
            prior_states, eta = self._weights(batch, rng)
            theta = rng.standard_gamma(prior, size=(batch, *prior.shape))
            theta /= theta.sum(axis=2, keepdims=True)
            below = np.cumsum(theta, axis=2)[:, case.document_of, :-1]
            z = (rng.random((batch, case.n_tokens))[:, :, None] >= below).sum(axis=2)
            keep = np.ones(batch, dtype=bool)
            if case.n_outputs and not self.likelihood:
                keep = rng.random(batch) < self._share(z, eta)
            for b in np.flatnonzero(keep):
                phi = _dirichlet(np.tile(case.beta_vector, (case.n_topics, 1)), rng)
                with_words, order = self.with_words(z[b], phi, rng)
                parameters = case.loss.simulate_parameters(case.n_outputs, rng) if case.n_outputs else {}
                state = JointState(order, eta[b], None, parameters, prior_states[b])
                state.y = self.draw_responses(z[b], state, rng)
                yield with_words, state

    def _weights(self, batch: int, rng) -> tuple[list[dict], np.ndarray]:
        """States of the prior, and weights (batch, C, J) given them."""
        case = self.case
        states = [case.weights.simulate(case.n_outputs, case.columns, rng) for _ in range(batch)]
        if states[0]:
            precision = np.array([case.precision_of(state) for state in states])
        else:
            precision = np.broadcast_to(case.prior_precision, (batch, *case.prior_precision.shape))
        return states, rng.standard_normal(precision.shape) / np.sqrt(precision)

    def _sum_of_psi(self, f) -> np.ndarray:
        return sum(np.exp(self.case.loss.log_psi(np.full_like(f, y), f)) for y in self.levels)

    @cached_property
    def _bound(self) -> float:
        """At least the sum over y of psi(y|f), for every f; `_share` sees whether it is."""
        return 1.001 * float(self._sum_of_psi(np.linspace(-100.0, 100.0, 40_001)[:, None]).max())

    def _share(self, z, eta) -> np.ndarray:
        """prod_dc of [sum over y of psi(y|f)] / bound, of draws z (n, N) and eta (n, C, J)."""
        case = self.case
        member = (np.arange(case.n_documents)[:, None] == case.document_of).astype(float)
        one_hot = (z[:, :, None] == np.arange(case.n_topics)).astype(float)
        z_bar = np.einsum("dn,bnk->bdk", member, one_hot) / np.maximum(case.lengths, 1)[:, None]
        f = np.einsum("bdk,bck->bdc", z_bar, eta[:, :, : case.n_topics])
        f += np.einsum("dp,bcp->bdc", case.fixed, eta[:, :, case.n_topics :])
        share = self._sum_of_psi(f) / self._bound
        if share.max() > 1:
            raise ValueError(f"the sum of psi over y grows beyond f = 100 for {case.loss!r}")
        return np.prod(share[:, self.observed], axis=1)

    def with_words(self, z, phi, rng) -> tuple[Case, np.ndarray]:
        """New words given z and phi, and z in the new (sorted) token order."""
        case = self.case
        words = _rows(phi[z], rng)
        order = np.lexsort((words, case.document_of))
        words = words[order]
        ends, plain = np.cumsum(case.lengths).tolist(), words.tolist()
        documents = tuple(tuple(plain[end - n : end]) for end, n in zip(ends, case.lengths, strict=True))
        return case.changed(documents=documents, words=words), z[order]

    def with_responses(self, case: Case, y) -> Case:
        """The case with coded responses y (D, C)."""
        return case.changed(responses=self.table(y), y=y)

    def draw_responses(self, z, state: JointState, rng) -> np.ndarray:
        """Coded y (D, C) given z in its own token order, eta and the parameters; NaN where missing."""
        case = self.case
        if not case.n_outputs:
            return np.empty((case.n_documents, 0))
        f = case.design(z) @ state.eta.T
        if self.likelihood:
            y = BoundLoss(case.loss, state.parameters).simulate(f, rng)
        else:
            low, high = self.levels
            log_odds = case.loss.log_psi(np.full_like(f, high), f) - case.loss.log_psi(
                np.full_like(f, low), f
            )
            y = np.where(rng.random(f.shape) < 1.0 / (1.0 + np.exp(-log_odds)), high, low)
        return np.where(self.observed, y, np.nan)

    def table(self, y) -> np.ndarray | None:
        """Coded responses as a user's table: real numbers, or 0/1; missing as they are."""
        if not self.case.n_outputs:
            return None
        if not self.labels:
            return y
        table = (y > 0).astype(object)
        table[~self.observed] = None
        return table


def geweke_case(loss, weights=None) -> GewekeCase | None:
    """Four short documents with two outputs, a covariate and missing responses; None if nothing can draw y.

    Parameters
    ----------
    loss : Loss
    weights : WeightPrior, optional
    """
    nan = float("nan")
    labels = [[1, 0], [0, None], [1, 1], [None, 0]]
    case = Case(
        "supervised", ((0, 1, 2), (0, 1), (2,), ()), n_words=3, n_topics=2,
        alpha=(0.5, 0.8), beta=(0.4, 0.6, 0.3),
        loss=loss, responses=responses_for(loss, labels, [[0.9, -0.4], [-1.1, nan], [0.2, 1.3], [nan, -0.6]]),
        covariates=np.array([[0.5], [-1.0], [1.2], [0.3]]),
        weights=weights or Normal(variance=1.5, intercept_variance=0.8),
    )  # fmt: skip
    try:
        return GewekeCase(case)
    except ValueError:
        return None


def _squash(x):
    return x / (1.0 + np.abs(x))


def _dirichlet(parameters, rng) -> np.ndarray:
    """One draw a row."""
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

    def step(case, state, seed, rng):
        chain = make_chain(case, state.z, seed)
        if case.n_outputs:
            for own, given in ((chain.parameters, state.parameters), (chain.prior_state, state.prior_state)):
                for name, values in given.items():
                    own[name][:] = values
            chain.set_state(eta=state.eta)
        chain.run(sweeps)
        z = np.array(chain.z, dtype=np.int64)
        after = replace(state, z=z)
        if case.n_outputs:
            parameters = {name: values.copy() for name, values in chain.parameters.items()}
            prior_state = {name: values.copy() for name, values in chain.prior_state.items()}
            after = JointState(z, np.array(chain.eta), state.y, parameters, prior_state)
        if collapsed:
            _, topic_word = case.counts(z)
            return after, _dirichlet(topic_word + case.beta_vector, rng)
        return after, np.array(chain.phi, dtype=float)

    return step


def geweke(
    setup: GewekeCase, step, *, replicates: int = 400, rounds: int = 4, seed: int = 0, **former
) -> Comparison:
    """Draw from the joint, step and draw new words and responses in turn, and compare with where it began.

    Every replicate begins at an exact, independent draw of everything. A right `step`, and new words and
    responses given the rest, leave the joint as it is, however slowly the chain moves. So the differences
    between the test functions in the end and at the start have the mean 0, and no skew where their
    distributions have: their spread over replicates gives valid standard errors.

    Parameters
    ----------
    step : callable (case, state, seed, rng) -> state, phi
        One transition that leaves p(z, eta, phi, parameters | words, y) invariant (see `chain_stepper`);
        states are `JointState`.
    replicates : int
        Independent draws of the joint.
    rounds : int
        Steps from each.
    """
    if former:
        raise TypeError(
            f"geweke: {', '.join(former)} are no more: it compares independent replicates; "
            "say replicates= and rounds="
        )
    rng = np.random.default_rng([seed, 17])
    states = setup.states(rng)
    moved = np.empty((replicates, len(setup.names)))
    for r in range(replicates):
        case, state = next(states)
        before = setup.features(case, state)
        for s in range(rounds):
            case = setup.with_responses(case, state.y)
            state, phi = step(case, state, (seed * 1_000_003 + r) * rounds + s, rng)
            case, z = setup.with_words(state.z, phi, rng)
            state = replace(state, z=z)
            state.y = setup.draw_responses(z, state, rng)
        moved[r] = setup.features(case, state) - before
    return compare_means(moved, np.zeros(moved.shape[1]), setup.names)
