"""Whether a proposal draws from the masses it states: the accept step believes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2, poisson

from plugsamp.chain import Chain
from plugsamp.kernels.composed import ComposedMH
from plugsamp.testing.agreement import check_invariance
from plugsamp.testing.cases import Case, cases_for
from plugsamp.testing.conditional import check_token
from plugsamp.testing.posterior import Enumeration
from plugsamp.testing.statistics import confirmed, require

#: Cells with fewer expected draws are pooled, or counted together.
_LEAST = 25.0


@dataclass
class DrawsReport:
    """What `check_draws` found.

    Attributes
    ----------
    p_value : float
        Of a chi-square test, and of the number of rare draws; small where draws do not follow the masses.
    drawn : int64 (K, K)
        Draws of topic t (columns) for a token that has topic s (rows).
    expected : float64 (K, K)
        What the masses promise.
    """

    p_value: float
    drawn: np.ndarray
    expected: np.ndarray

    def passes(self, level: float = 1e-6) -> bool:
        return bool(self.p_value > level)

    def __str__(self) -> str:
        return f"p = {self.p_value:.3g}\ndrawn =\n{self.drawn}\nexpected =\n{self.expected.round(1)}"


def check_draws(chain, i: int, proposal: int = 0, *, draws: int = 20_000, seed: int = 0) -> DrawsReport:
    """Compare what a proposal of the composed kernel draws for token `i` with the masses it states.

    A token with topic s must be offered topic t ≠ s with probability mass_t / c, with one c for all
    s and t; the rest of the draws stay. (A constant that depended on s would bias the accept step as
    much as a wrong mass.) The token is put in each topic in turn; the chain is left as it was.

    Parameters
    ----------
    chain : Chain
        With a `plugsamp.kernels.ComposedMH`.
    i : int
        Token, in corpus order.
    proposal : int
        Which of the kernel's proposals.
    draws : int
        Draws for each topic of the token.
    """
    sampler, offsets = chain.phases.sampler, chain.state.offsets
    document = int(np.searchsorted(offsets, i, side="right")) - 1
    n_topics = chain.model.n_topics
    drawn, mass = np.empty((n_topics, n_topics), np.int64), np.empty((n_topics, n_topics))
    for s in range(n_topics):
        key = int(np.random.SeedSequence((seed, i, proposal, s)).generate_state(1, np.uint64)[0])
        _, mass[s], drawn[s] = sampler.probe(document, i - int(offsets[document]), s, proposal, draws, key)
    sampler.refresh(0, 0)
    other = ~np.eye(n_topics, dtype=bool)
    mass = np.where(other, mass, 0.0)
    if (drawn[other & (mass <= 0)] > 0).any():  # drawn though stated to be impossible
        return DrawsReport(0.0, drawn, np.zeros_like(mass))
    expected = draws * mass / _scale(drawn, mass)
    expected[~other] = draws - expected.sum(axis=1)
    rng = np.random.default_rng((seed, i, proposal, n_topics))
    return DrawsReport(_p_value(drawn, expected, rng), drawn, expected)


def _p_value(drawn, expected, rng) -> float:
    """p-value of counts whose rows are multinomial, with one constant fitted to all.

    A row's cells below `_LEAST` are pooled; those of rows where they are fewer even together are counted in
    all rows at once, and the other cells compared given their sum. That count is Poisson; a random number
    decides within its own probability, so that its p-value is uniform.
    """
    statistic, freedom, rare, promised = 0.0, -1, 0, 0.0
    for found, wanted in zip(drawn, expected, strict=True):
        few = wanted < _LEAST
        if wanted[few].sum() >= _LEAST:
            found, wanted = (np.append(one[~few], one[few].sum()) for one in (found, wanted))
        else:
            rare, promised = rare + found[few].sum(), promised + wanted[few].sum()
            found, wanted = found[~few], wanted[~few] * (found[~few].sum() / wanted[~few].sum())
        statistic += ((found - wanted) ** 2 / wanted).sum()
        freedom += len(wanted) - 1
    p_values = [chi2.sf(statistic, freedom)] if freedom > 0 else []
    if promised > 0:
        law, within = poisson(promised), rng.random()
        below = law.cdf(rare - 1) + within * law.pmf(rare)
        above = law.sf(rare) + (1.0 - within) * law.pmf(rare)
        p_values.append(min(2.0 * min(below, above), 1.0))
    return float(-np.expm1(len(p_values) * np.log1p(-min(min(p_values, default=1.0), 1.0 - 1e-16))))


def _scale(drawn, mass) -> float:
    """The most probable c, where a token with topic s is offered t with probability mass_st / c."""
    stays, moves = np.diagonal(drawn), drawn.sum() - np.trace(drawn)
    total = mass.sum(axis=1)
    if not moves:
        return np.inf
    if not stays.any():
        return float(total.max())

    def loss(log_c):  # minus the log likelihood; c exceeds every row's sum
        return moves * log_c - (stays * np.log(-np.expm1(np.log(total) - log_c))).sum()

    low = np.log(total.max())
    return float(np.exp(minimize_scalar(loss, bounds=(low + 1e-12, low + 40), options={"xatol": 1e-9}).x))


def check_proposal(proposal, *, losses=("none", "hinge"), seed: int = 0) -> None:
    """Check a proposal of the composed kernel, compiled or of tables, on the battery of tiny corpora.

    For both collapses and every token: draws follow the stated masses (`check_draws`); the token's full
    conditional is stationary under the proposal's transitions, and these do not depend on the token's own
    topic (`check_token`); every topic is reached. Then short runs from exact draws of a posterior.

    Parameters
    ----------
    proposal : str, class or object
        As in `plugsamp.kernels.ComposedMH`.
    losses : sequence of str or Loss

    Raises
    ------
    CheckFailed
        At the first corpus where something is wrong, and is found again with another seed.
    """
    confirmed(lambda seed: _check(proposal, losses, seed), seed)


def _check(proposal, losses, seed: int) -> None:
    for loss in losses:
        cases = cases_for(loss)
        for collapse in ("full", "partial"):
            for case in cases:
                _check_tokens(proposal, case, collapse, seed)
            case = cases[0]
            if not case.fixed_parameters:
                continue
            chain = _chain_for(case, [proposal, "doc", "word"], collapse, seed)
            result = check_invariance(chain, Enumeration(case), restarts=200, sweeps=8, seed=seed)
            if not result.passes(1e-4):
                require(
                    f"{proposal} on {case}, collapse {collapse}", [f"a chain leaves the posterior:\n{result}"]
                )


def _chain_for(case: Case, proposals, collapse: str, seed: int) -> Chain:
    kernel = ComposedMH(proposals, "cycle", len(proposals), collapse)
    chain = Chain(case.corpus(), case.model(), kernel, seed=seed)
    chain.run(3)
    chain.augment()
    return chain


def _check_tokens(proposal, case: Case, collapse: str, seed: int) -> None:
    chain = _chain_for(case, [proposal], collapse, seed)
    collapsed = collapse == "full"
    for i in range(case.n_tokens):
        problems = []
        drawn = check_draws(chain, i, draws=10_000, seed=seed)
        if not drawn.passes():
            problems.append(f"what it draws does not follow the masses it states: {drawn}")
        token = check_token(chain, case, i, collapsed=collapsed, blind=collapsed)
        if not token.passes():
            problems.append(
                f"the full conditional is not stationary, or the token's own topic is used: {token}"
            )
        # However rarely: where phi or a score is tiny, so is what leads there.
        if connected_components(token.matrix > 0, connection="strong")[0] > 1:
            problems.append(f"it does not reach every topic: {token}")
        require(f"{proposal} on {case}, collapse {collapse}, token {i}", problems)
