"""A weight prior on its own: does its update leave the joint of weights and shrinkage as it is?"""

from __future__ import annotations

import numpy as np

from plugsamp.priors.base import WeightPrior
from plugsamp.priors.columns import Columns
from plugsamp.registry import resolve
from plugsamp.testing.cases import variants_for
from plugsamp.testing.statistics import confirmed, differing, require

_COLUMNS = Columns(n_topics=3, n_covariates=2, intercept=True)
_N_OUTPUTS = 2


def check_prior(prior: str | WeightPrior, *, draws: int = 3000, rounds: int = 3, seed: int = 0) -> None:
    """Check a weight prior: its precisions, its density, and its update against forward simulation.

    The shrinkage is drawn from its prior and the weights given it; then weights and shrinkage are updated
    in turn, which may not change the distribution of anything (Geweke 2004, for the prior alone).

    Parameters
    ----------
    prior : str or WeightPrior
        A registered name (all its variants are checked) or an object.
    draws : int
        Independent draws of each kind.
    rounds : int
        Updates between the two.

    Raises
    ------
    CheckFailed
        With everything that is wrong, and that is found again with another seed.
    """
    if isinstance(prior, str):
        for options in variants_for(prior, "priors"):
            check_prior(resolve("priors", prior, **options), draws=draws, rounds=rounds, seed=seed)
        return
    confirmed(lambda seed: _check(prior, draws, rounds, seed), seed)


def _check(prior, draws: int, rounds: int, seed: int) -> None:
    rng = np.random.default_rng([seed, 31])
    problems = _precisions(prior, prior.start(_N_OUTPUTS, _COLUMNS), "of the first state")
    problems += _density(prior, rng)
    if not problems and prior.start(_N_OUTPUTS, _COLUMNS):
        problems += _extremes(prior, rng)
        problems += _joint(prior, draws, rounds, rng)
    require(repr(prior), problems)


def _precisions(prior, state, of: str) -> list[str]:
    problems = []
    for c in range(_N_OUTPUTS):
        precision = np.asarray(prior.precision(state, c, _COLUMNS))
        if precision.shape != (len(_COLUMNS),):
            problems.append(f"precision {of} has shape {precision.shape}, not {(len(_COLUMNS),)}")
        elif not (np.isfinite(precision).all() and (precision > 0).all()):
            problems.append(f"precision {of} must be finite and above 0, found {precision}")
    for name, values in state.items():
        if not (isinstance(values, np.ndarray) and values.dtype == float and len(values) == _N_OUTPUTS):
            problems.append(f"state {name!r} must be a float64 array whose first axis is the output")
    return problems


def _weights(prior, state, rng) -> np.ndarray:
    precision = np.array([prior.precision(state, c, _COLUMNS) for c in range(_N_OUTPUTS)])
    return rng.standard_normal(precision.shape) / np.sqrt(precision)


def _density(prior, rng) -> list[str]:
    """log_density differs between weights by what the stated precisions give."""
    state = prior.simulate(_N_OUTPUTS, _COLUMNS, rng)
    problems = _precisions(prior, state, "of a simulated state")
    if problems:
        return problems
    one, two = _weights(prior, state, rng), _weights(prior, state, rng)
    precision = np.array([prior.precision(state, c, _COLUMNS) for c in range(_N_OUTPUTS)])
    expected = -0.5 * (precision * (one**2 - two**2)).sum()
    got = prior.log_density(state, one, _COLUMNS) - prior.log_density(state, two, _COLUMNS)
    if not np.isclose(got, expected, rtol=1e-6, atol=1e-8):
        problems.append(
            f"log_density changes by {got:.6g} between weights, the precisions say {expected:.6g}"
        )
    return problems


def _extremes(prior, rng) -> list[str]:
    problems = []
    for size in (0.0, 1e-30, 1e-8, 1e8, 1e15):
        state = prior.start(_N_OUTPUTS, _COLUMNS)
        for _ in range(20):
            for c in range(_N_OUTPUTS):
                prior.update(state, c, _COLUMNS, np.full(len(_COLUMNS), size), rng)
            _rescale(prior, state, np.full((_N_OUTPUTS, len(_COLUMNS)), size), rng)
        problems += _precisions(prior, state, f"after updates with weights of {size:g}")
    return problems


def _rescale(prior, state, eta, rng) -> None:
    """Draw scales of groups of weights, without responses."""
    n = 1 + len(prior.groups(_COLUMNS))
    if n > 1:
        linear, quadratic = np.zeros((_N_OUTPUTS, n)), np.zeros((_N_OUTPUTS, n, n))
        prior.rescale(state, _COLUMNS, eta, linear, quadratic, rng)


def _joint(prior, draws: int, rounds: int, rng) -> list[str]:
    def simulated():
        state = prior.simulate(_N_OUTPUTS, _COLUMNS, rng)
        return state, _weights(prior, state, rng)

    def updated():
        state, eta = simulated()
        for _ in range(rounds):
            for c in range(_N_OUTPUTS):
                prior.update(state, c, _COLUMNS, eta[c], rng)
            _rescale(prior, state, eta, rng)
            eta = _weights(prior, state, rng)
        return state, eta

    forward = [_features(prior, *simulated()) for _ in range(draws)]
    if all(forward[0] == forward[1]):
        return ["simulate must draw the state from its prior; it gives the same twice"]
    after = [_features(prior, *updated()) for _ in range(draws)]
    names = _names(prior)
    found = differing(
        dict(zip(names, np.transpose(forward), strict=True)),
        dict(zip(names, np.transpose(after), strict=True)),
    )
    return [f"update is no draw given the weights: {problem}" for problem in found]


def _names(prior) -> list[str]:
    names = [f"eta[{c},{j}]" for c in range(_N_OUTPUTS) for j in (0, 3, 5)] + [
        "largest |eta|",
        "sum of log |eta|",
    ]
    names += ["sum of precision eta^2", "sum of precisions", "largest precision"]
    for name, values in prior.start(_N_OUTPUTS, _COLUMNS).items():
        names += [f"{name} at {index}" for index in np.ndindex(values.shape)]
    return names


def _features(prior, state, eta) -> np.ndarray:
    precision = np.array([prior.precision(state, c, _COLUMNS) for c in range(_N_OUTPUTS)])
    values = [*eta[:, [0, 3, 5]].ravel(), np.abs(eta).max(), np.log(np.abs(eta) + 1e-300).sum()]
    values += [(precision * eta**2)[:, :-1].sum(), precision[:, :-1].sum(), precision[:, :-1].max()]
    for part in state.values():
        values += list(part.ravel())
    return np.array(values)
