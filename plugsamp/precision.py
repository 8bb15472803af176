"""Draws of a Gaussian given its precision matrix and linear term."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

#: Added to the unit diagonal where rounding has made a matrix indefinite.
JITTER = 1e-10


class WeightError(ArithmeticError):
    """The weights of an output cannot be drawn; the message names the output and the reason."""


class Factor:
    """The Cholesky factor of Lambda = matrix + diag(prior), scaled to a unit diagonal.

    Precisions of weights may span some thirty orders of magnitude (a horseshoe's scales, weights of
    unused topics). Scaled by the diagonal on both sides, no entry is above 1, and what helps a matrix that
    rounding has made indefinite is small beside every weight's own precision.

    Parameters
    ----------
    matrix : float64 (J, J), C order
        Only the upper triangle is read; overwritten.
    prior : float64 (J,)
    output : int
        For the message.

    Raises
    ------
    WeightError
        Not positive definite, also with the jitter.
    """

    def __init__(self, matrix, prior, output: int):
        diagonal = np.einsum("ii->i", matrix)
        diagonal += prior
        size = diagonal.copy()
        if not (size > 0).all():
            self._refuse(output, int(np.argmin(size)), size)
        self.scale = 1.0 / np.sqrt(size)
        matrix *= self.scale[:, None]
        matrix *= self.scale
        diagonal[:] = 1.0
        # The transpose of a C array is a Fortran array without a copy: its lower triangle is filled.
        self.lower, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
        if failed:
            diagonal += JITTER
            self.lower, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
        if failed:
            self._refuse(output, failed - 1, size)

    @staticmethod
    def _refuse(output, weight, diagonal):
        raise WeightError(
            f"output {output}: the precision matrix of its weights is not positive definite at weight "
            f"{weight}, also with jitter (diagonal from {diagonal.min():.3g} to {diagonal.max():.3g})"
        )

    def draw(self, linear, noise) -> np.ndarray:
        """Lambda^-1 linear + a root of Lambda^-1 times noise; all (J,)."""
        half, _ = lapack.dtrtrs(self.lower, linear * self.scale, lower=1)
        drawn, _ = lapack.dtrtrs(self.lower, half + noise, lower=1, trans=1)
        return drawn * self.scale


def draw_gaussian(matrix, prior, linear, noise, output: int) -> np.ndarray:
    """Lambda^-1 linear + a root of Lambda^-1 times noise, where Lambda = matrix + diag(prior)."""
    return Factor(matrix, prior, output).draw(linear, noise)
