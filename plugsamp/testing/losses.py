"""A loss on its own: is (kappa, omega) the augmentation of its psi, and are its parts one likelihood?"""

from __future__ import annotations

import numpy as np
from scipy import stats

from plugsamp.chain import Chain
from plugsamp.losses.base import BoundLoss, DrawError, Loss
from plugsamp.losses.coding import Coding
from plugsamp.registry import resolve
from plugsamp.testing.agreement import check_invariance
from plugsamp.testing.cases import cases_for, variants_for
from plugsamp.testing.geweke import chain_stepper, geweke, geweke_case, simulated_by
from plugsamp.testing.posterior import Enumeration
from plugsamp.testing.statistics import confirmed, differing, require

_F = (-1.3, 0.2, 0.9, 1.0, 2.1)


def check_loss(loss: str | Loss, *, chains: bool = True, seed: int = 0) -> None:
    """Check a loss: that all its parts speak of one psi, at any f, and that chains with it are right.

    - psi(y|g)/psi(y|f) is the mean, over (kappa, omega) drawn at f, of exp(kappa (g-f) - omega (g^2-f^2)/2),
      and likewise for powers of psi, where the loss takes weights;
    - kappa, omega and log_psi are finite and omega is 0 or more at extreme f and y; the draws are a function
      of the generator, and the arguments are left as they were;
    - `cdf` is a distribution function whose density is proportional to psi; `simulate` draws from it, with
      `mean` as its mean (where the loss has them);
    - parameters drawn from their prior, and then given responses simulated with them, have one distribution;
    - short runs of a chain agree with enumerated posteriors or, where the loss has parameters, with the
      forward simulation of the whole model (`chains`; some seconds).

    Parameters
    ----------
    loss : str or Loss
        A registered name (all its variants are checked) or an object.

    Raises
    ------
    CheckFailed
        With everything that is wrong, and that is found again with another seed.
    """
    if isinstance(loss, str):
        for options in variants_for(loss):
            check_loss(resolve("losses", loss, **options), chains=chains, seed=seed)
        return
    if not isinstance(loss, Loss):
        raise TypeError(f"a loss is a subclass of plugsamp.losses.Loss, and {loss!r} is none")
    if not loss.unsupervised:
        confirmed(lambda seed: _check(loss, chains, seed), seed)


def _check(loss, chains: bool, seed: int) -> None:
    label = repr(loss)
    rng = np.random.default_rng([seed, 29])
    problems = _parameters_vary(loss, rng)
    bound = BoundLoss(loss, loss.simulate_parameters(1, rng))
    coding = loss.code(cases_for(loss)[0].responses, None)
    if not isinstance(coding, Coding):
        found = type(coding).__name__
        require(label, [f"code must return a Coding, as code_real and code_classes do, not {found}"])
    levels = np.unique(np.concatenate([_observed(case.y) for case in cases_for(loss)[:3]]))
    problems += _manners(bound, levels)
    if not problems:
        problems += _extremes(bound, coding, levels, rng)
    if not problems:
        problems += _augmentation(bound, levels, rng)
        problems += _likelihood(bound, coding, levels, rng)
    if loss.start(2) and not problems:
        problems += _update(loss, rng)
    if chains and not problems:
        problems += _chains(loss, seed)
    require(label, problems)


def _observed(y) -> np.ndarray:
    return y[~np.isnan(y)]


def _column(values, n: int) -> np.ndarray:
    return np.full((n, 1), values, dtype=float)


def _parameters_vary(loss, rng) -> list[str]:
    one, two = loss.simulate_parameters(2, rng), loss.simulate_parameters(2, rng)
    start = loss.start(2)
    if set(one) != set(start):
        return [f"simulate_parameters gives {sorted(one)} and start {sorted(start)}"]
    for name, values in start.items():
        if not (isinstance(values, np.ndarray) and values.dtype == float and len(values) == 2):
            return [f"parameter {name!r} must be a float64 array whose first axis is the output"]
    if start and all(np.array_equal(one[name], two[name]) for name in one):
        return ["simulate_parameters must draw from the parameters' prior; it gives the same twice"]
    return []


def _manners(bound, levels) -> list[str]:
    f = np.linspace(-2.0, 2.0, 12).reshape(6, 2)
    y = np.resize(levels, (6, 2))
    before = f.copy(), y.copy()
    try:
        draws = [bound.augment(f, y, np.random.default_rng(1)) for _ in range(2)]
    except DrawError as error:
        return [str(error)]
    problems = []
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(*draws, strict=True)):
        problems.append("augment draws from something else than the generator that it is given")
    if not (np.array_equal(f, before[0]) and np.array_equal(y, before[1])):
        problems.append("augment changes its arguments")
    try:
        bound.log_psi(y, f)
    except DrawError as error:
        problems.append(f"{error}: it is elementwise")
    return problems


def _extremes(bound, coding, levels, rng) -> list[str]:
    problems, strange = [], []
    f = np.array([0.0, 1e-300, 1e-8, 1.0, 40.0, 1e3, 1e6])
    f = np.concatenate([-f, f])[:, None]
    values = list(levels) + {"real": [-1e6, 0.0, 1e6], "count": [0.0, 1e5]}.get(coding.task, [])
    powers = [None] + ([1e-3, 1e3] if bound.loss.weighted else [])
    for y in values:
        at = np.full_like(f, y)
        for power in powers:
            for _ in range(20):
                with np.errstate(all="ignore"):
                    kappa, omega = bound.augment(
                        f, at, rng, None if power is None else np.full_like(f, power)
                    )
                bad = ~(np.isfinite(kappa) & np.isfinite(omega) & (omega >= 0))
                if bad.any():
                    drawn = f"kappa = {kappa[bad][0]:g}, omega = {omega[bad][0]:g}"
                    strange.append(f"f = {f[bad][0] + 0.0:g}, y = {y:g}: {drawn}")
                    break
        with np.errstate(all="ignore"):
            log_psi = np.broadcast_to(bound.log_psi(at, f), f.shape)
        if not np.isfinite(log_psi).all():
            bad = ~np.isfinite(log_psi)
            problems.append(f"log_psi is {log_psi[bad][0]} at f = {f[bad][0]:g}, y = {y:g}")
    if strange:
        more = f" (and so on, {len(strange)} in all)" if len(strange) > 1 else ""
        problems.append(f"kappa and omega must be finite, omega 0 or more; at {strange[0]}{more}")
    return problems


def _augmentation(bound, levels, rng, n: int = 40_000) -> list[str]:
    """psi(y|g)/psi(y|f) is the mean, over (kappa, omega) drawn at f, of the ratio of their Gaussians."""
    compared = 0
    for y in levels[:6]:
        for power in (None, 0.4, 2.5) if bound.loss.weighted else (None,):
            weight = None if power is None else _column(power, n)
            for f in _F:
                kappa, omega = bound.augment(_column(f, n), _column(y, n), rng, weight)
                for g in (f - 0.8, f - 0.3, f + 0.3, f + 0.8):
                    ratio = np.exp(kappa * (g - f) - 0.5 * omega * (g * g - f * f))
                    if not ratio.max() < 20 * ratio.mean():
                        continue  # too heavy a tail for a mean to tell anything
                    compared += 1
                    log_psi = [bound.log_psi(_column(y, 1), _column(v, 1)).item() for v in (g, f)]
                    expected = np.exp((power or 1.0) * (log_psi[0] - log_psi[1]))
                    if (
                        abs(ratio.mean() - expected)
                        > 5.5 * ratio.std() / np.sqrt(ratio.size) + 1e-9 * expected
                    ):
                        at = f"f = {f}, y = {y:g}" + ("" if power is None else f", weight {power}")
                        return [
                            f"(kappa, omega) drawn at {at} give psi(y|{g:.4g})/psi(y|f) "
                            f"= {ratio.mean():.5g}, log_psi says {expected:.5g}"
                        ]
    return [] if compared >= 10 else ["(kappa, omega) vary too much to be compared with log_psi anywhere"]


def _likelihood(bound, coding, levels, rng, n: int = 20_000) -> list[str]:
    """`cdf`, `simulate`, `mean` and `probabilities` against psi."""
    problems = []
    for f in (-0.9, 0.3, 1.4):
        column = _column(f, n)
        drawn = bound.simulate(column, rng)
        if coding.task in ("binary", "multiclass", "multilabel"):
            if drawn is not None:
                problems += _simulated_labels(bound, levels, f, np.asarray(drawn))
        else:
            problems += _simulated_numbers(bound, coding, f, drawn)
    extreme = np.repeat(np.array([[-1e6], [-3.0], [0.0], [3.0], [1e6]]), coding.n_outputs, axis=1)
    p = bound.probabilities(extreme, coding)
    if p is not None:
        shape = len(extreme), len(coding.classes)
        if p.shape != shape or not np.isfinite(p).all() or not ((p >= 0) & (p <= 1)).all():
            problems.append(f"probabilities must be from 0 to 1 and of shape {shape}, found {p}")
        elif coding.task != "multilabel" and not np.allclose(p.sum(axis=1), 1.0):
            problems.append(f"probabilities of a document must sum to 1, found {p.sum(axis=1)}")
    return problems


def _simulated_labels(bound, levels, f: float, drawn) -> list[str]:
    psi = np.exp([bound.log_psi(_column(y, 1), _column(f, 1)).item() for y in levels])
    share = psi / psi.sum()
    found = np.array([(drawn == y).mean() for y in levels])
    if np.isclose(found.sum(), 1.0) and (np.abs(found - share) < 5 * np.sqrt(0.25 / drawn.size)).all():
        return []
    return [f"simulate draws {levels} at f = {f} with shares {found.round(3)}, psi says {share.round(3)}"]


def _simulated_numbers(bound, coding, f: float, drawn) -> list[str]:
    problems = []
    if drawn is not None:
        mean, error = bound.mean(_column(f, 1)).item(), np.std(drawn) / np.sqrt(np.size(drawn))
        if np.isfinite(mean) and abs(np.mean(drawn) - mean) > 5 * error:
            problems.append(f"mean({f}) is {mean:.4g}, and simulate has a mean of {np.mean(drawn):.4g}")
    centre = bound.mean(_column(f, 1)).item()
    y = np.arange(0.0, 12.0) if coding.task == "count" else centre + np.linspace(-2.5, 2.5, 41) + 0.0137
    below = bound.cdf(y[:, None], _column(f, len(y)))
    if below is None:
        return problems
    below = np.asarray(below).ravel()
    if not (
        np.isfinite(below).all() and (below >= 0).all() and (below <= 1).all() and (np.diff(below) >= 0).all()
    ):
        return [*problems, f"cdf(y, {f}) must ascend from 0 to 1"]
    # its density is proportional to psi, as a function of f
    masses = [_density(bound, coding, y, at) for at in (f, f + 0.4)]
    log_psi = [np.ravel(bound.log_psi(y[:, None], _column(at, len(y)))) for at in (f, f + 0.4)]
    sharp = (masses[0] > 1e-5) & (masses[1] > 1e-5)
    off = np.abs(np.log(masses[1][sharp] / masses[0][sharp]) - (log_psi[1] - log_psi[0])[sharp])
    if off.max(initial=0.0) > 2e-3:
        at = y[sharp][int(np.argmax(off))]
        problems.append(
            f"the density of cdf at y = {at:.3g}, f = {f} is not proportional to psi: its log is off by "
            f"{off.max():.2g}"
        )
    elif bound.loss.calibrated and not np.allclose(np.exp(log_psi[0]), masses[0], rtol=5e-3, atol=1e-5):
        problems.append("log_psi of a calibrated loss must be normalised over y, as its cdf is")
    if drawn is not None:
        drawn = np.ravel(drawn)
        if coding.task == "count":
            found = np.array([(drawn <= v).mean() for v in y])
            wrong = (np.abs(found - below) > 5 * np.sqrt(0.25 / drawn.size)).any()
        else:
            wrong = (
                stats.kstest(drawn, lambda v: np.ravel(bound.cdf(v[:, None], _column(f, len(v))))).pvalue
                < 1e-6
            )
        if wrong:
            problems.append(f"simulate at f = {f} does not draw from cdf")
    return problems


def _density(bound, coding, y, f: float) -> np.ndarray:
    step = 1.0 if coding.task == "count" else 2e-4
    low, high = (y - 1.0, y) if coding.task == "count" else (y - step / 2, y + step / 2)
    at = _column(f, len(y))
    return np.ravel(bound.cdf(high[:, None], at) - bound.cdf(low[:, None], at)) / step


def _update(loss, rng, draws: int = 5000) -> list[str]:
    """Parameters of the prior, and the same after an update given responses simulated with them."""
    if not simulated_by(loss, 2):
        return ["it draws parameters, and without `simulate` nothing can check them"]
    f = rng.uniform(-1.5, 1.5, (7, 2))
    weight = np.ones_like(f)
    weight[2, 0] = weight[5, 1] = 0.0

    def features(parameters, y):
        log_psi = BoundLoss(loss, parameters).log_psi(y, f)
        found = {
            "log psi": log_psi.sum(),
            "log psi of one": log_psi[0, 0],
            "sum |y - f|": np.abs(y - f)[:, 0].sum(),
        }
        for name, values in parameters.items():
            found |= {f"{name} at {index}": values[index] for index in np.ndindex(values.shape)}
        return found

    def draw(updates: int):
        parameters = loss.simulate_parameters(2, rng)
        y = BoundLoss(loss, parameters).simulate(f, rng)
        for _ in range(updates):
            parts = [
                loss.statistics(f[rows], y[rows], weight[rows], parameters, rng)
                for rows in (slice(0, 3), slice(3, 7))
            ]
            loss.update(parameters, np.sum(parts, axis=0), rng)
        return features(parameters, y)

    sets = [[draw(updates) for _ in range(draws)] for updates in (0, 2)]
    first, second = ({name: np.array([found[name] for found in one]) for name in one[0]} for one in sets)
    return [f"update is no draw given the responses: {problem}" for problem in differing(first, second)]


def _chains(loss, seed: int) -> list[str]:
    problems = []
    cases = cases_for(loss)
    if cases[0].n_outputs and cases[0].fixed_parameters:
        for case in (cases[0], cases[2], cases[3]):
            chain = Chain(case.corpus(), case.model(), "dense", seed=seed)
            result = check_invariance(chain, Enumeration(case), restarts=200, sweeps=10, seed=seed)
            if not result.passes(1e-4):
                problems.append(f"a chain leaves the enumerated posterior of {case}:\n{result}")
    elif simulated_by(loss, 2):
        result = geweke(geweke_case(loss), chain_stepper(_dense, collapsed=True), seed=seed)
        if not result.passes(1e-4):
            problems.append(f"a chain does not agree with forward simulation:\n{result}")
    return problems


def _dense(case, z, seed):
    return Chain(case.corpus(), case.model(), "dense", seed=seed, init=z)
