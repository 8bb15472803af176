"""Draws of a Gaussian given its precision matrix Lambda = sum_d omega_d u_d u_d^T + diag(prior)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

#: Below this pivot of Lambda scaled to a unit diagonal, some 1e-16 / pivot of the smallest precision is
#: rounding, and the draw is made from the features themselves.
SMALLEST_PIVOT = 1e-10


class WeightError(ArithmeticError):
    """The weights of an output cannot be drawn; the message names the output and the reason."""


class Factor:
    """The Cholesky factor of matrix + diag(prior), scaled on both sides to a unit diagonal.

    Precisions that span thirty orders of magnitude (a horseshoe's, those of unused topics) lose nothing.
    Collinear columns with a weak prior do: where the sum over documents is many orders larger than the prior
    in a direction that only the prior determines (all topics against the intercept), the prior's digits are
    lost in the sum. `pivot` tells.

    Parameters
    ----------
    matrix : float64 (J, J), C order
        Only the upper triangle is read; overwritten.
    prior : float64 (J,)

    Attributes
    ----------
    pivot : float
        The smallest pivot, at most 1; 0 where the matrix is not positive definite.
    """

    def __init__(self, matrix, prior):
        diagonal = np.einsum("ii->i", matrix)
        diagonal += prior
        self.pivot = 0.0
        if not (diagonal > 0).all():
            return
        self.scale = 1.0 / np.sqrt(diagonal)
        matrix *= self.scale[:, None]
        matrix *= self.scale
        diagonal[:] = 1.0
        # The transpose of a C array is a Fortran array without a copy: its lower triangle is filled.
        self.lower, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
        if not failed:
            self.pivot = float(np.einsum("ii->i", self.lower).min(initial=1.0)) ** 2

    def draw(self, linear, noise) -> np.ndarray:
        """Lambda^-1 linear + a root of Lambda^-1 times noise; all (J,)."""
        half, _ = lapack.dtrtrs(self.lower, linear * self.scale, lower=1)
        drawn, _ = lapack.dtrtrs(self.lower, half + noise, lower=1, trans=1)
        return drawn * self.scale


def draw_orthogonal(pieces, prior, noise) -> np.ndarray:
    """The same draw by orthogonal triangularisation: Lambda is never formed.

    The rows sqrt(omega_d) u_d and sqrt(prior) are turned into a triangle R with Lambda = R^T R. Its
    entries are square roots, so twice as many digits separate data and prior. Costs some D J^2. What is
    left is that of the features' own rounding: 1e-16 sum_d |omega_d (y_d - f_d)| / prior, of the mean.

    Parameters
    ----------
    pieces : iterable of (u (n, J), omega (n,), kappa (n,))
        Of all documents, some at a time; omega >= 0.
    prior, noise : float64 (J,)
    """
    n = len(prior)
    triangle = np.zeros((0, n + 1))
    rest = np.zeros(n)  # of kappa where omega is 0
    for u, omega, kappa in pieces:
        root = np.sqrt(omega)
        there = root > 0
        rest += kappa[~there] @ u[~there]
        rows = np.hstack([u[there] * root[there, None], (kappa[there] / root[there])[:, None]])
        triangle = np.linalg.qr(np.vstack([triangle, rows]), mode="r")
    own = np.hstack([np.diag(np.sqrt(prior)), np.zeros((n, 1))])
    triangle = np.linalg.qr(np.vstack([triangle, own]), mode="r")
    upper, target = triangle[:n, :n], triangle[:n, n]
    sign = np.where(np.diag(upper) < 0, -1.0, 1.0)  # as Cholesky has it
    upper, target = upper * sign[:, None], target * sign
    if not (np.diag(upper) > 0).all():
        return np.full(n, np.nan)  # told by the caller, who knows the output
    half, _ = lapack.dtrtrs(upper, rest, lower=0, trans=1)
    drawn, _ = lapack.dtrtrs(upper, target + half + noise, lower=0)
    return drawn
