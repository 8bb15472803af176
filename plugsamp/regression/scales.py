"""What the responses say of the scales of groups of weights, given (kappa, omega)."""

from __future__ import annotations

import numpy as np

from plugsamp.priors.base import WeightPrior
from plugsamp.priors.columns import Columns
from plugsamp.random.draws import Purpose, stream
from plugsamp.regression.design import LANES, Design


def moments(design: Design, kappa, omega, eta, outputs, groups) -> tuple[np.ndarray, np.ndarray]:
    """Return sums over documents of products of the groups' parts of the linear predictor.

    An output's sums depend on its own kappa, omega and weights alone, to the last bit.

    Parameters
    ----------
    design : Design
    kappa, omega : float64 (D, C)
    eta : float64 (C, J)
    outputs : sequence of int
        Up to eight, n of them.
    groups : sequence of slice
        Of the columns of eta, G of them.

    Returns
    -------
    linear : float64 (n, G + 1)
        sum_d kappa_d f_dg, f_dg the part of group g; last the part of all columns in no group.
    quadratic : float64 (n, G + 1, G + 1)
        sum_d omega_d f_dg f_dh.
    """
    outputs = np.asarray(outputs)
    n = len(outputs)
    weights = np.zeros((design.n_features, LANES))
    weights[:, :n] = eta[outputs].T
    rest, parts = weights.copy(), []
    for where in groups:
        own = np.zeros_like(weights)
        own[where], rest[where] = weights[where], 0.0
        parts.append(_predictor(design, own, n))
    parts.append(_predictor(design, rest, n))
    kappa, omega = kappa[:, outputs], omega[:, outputs]
    linear = np.stack([(kappa * f).sum(axis=0) for f in parts], axis=1)
    quadratic = np.empty((n, len(parts), len(parts)))
    for g, f in enumerate(parts):
        f = omega * f
        for h in range(g + 1):
            quadratic[:, g, h] = quadratic[:, h, g] = (f * parts[h]).sum(axis=0)
    return linear, quadratic


def _predictor(design: Design, weights, n: int) -> np.ndarray:
    f = np.zeros((design.n_documents, LANES))
    if weights.any():
        design.add_joint(weights[design.joint], f)
        design.add_single(weights[design.single], f)
    return f[:, :n]


def rescale(parts, prior: WeightPrior, state: dict, columns: Columns, eta, seed: int, sweep: int) -> None:
    """Draw the scales of a prior with groups, in place.

    Parameters
    ----------
    parts : sequence of (linear, quadratic)
        What `moments` returns of all outputs, some at a time, in their order.
    prior : WeightPrior
    state : dict of float64 arrays
    columns : Columns
    eta : float64 (C, J)
    seed, sweep : int
        Key of the stream.
    """
    linear, quadratic = (np.concatenate(values) for values in zip(*parts, strict=True))
    rng = stream(seed, Purpose.SHRINKAGE, sweep, len(eta))  # outputs have those below
    prior.rescale(state, columns, eta, linear, quadratic, rng)
