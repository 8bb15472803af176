"""Moments of draws that have a normal distribution."""

import numpy as np
from scipy import stats

from ..chance import smallest


def moments_p_value(draws, mean, covariance):
    """Exact p-value of first and second moments of independent draws (n, J) of a normal distribution.

    In the QR decomposition of ones and of draws made standard normal, the elements of R are independent:
    normal above the diagonal, whose first row has the means; chi with n - j degrees of freedom on it
    (Bartlett 1933).
    """
    n, features = draws.shape
    u = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T).T
    r = np.linalg.qr(np.column_stack([np.ones(n), u]), mode="r")
    above = r[np.triu_indices(features + 1, 1)]
    squares, freedom = np.diag(r)[1:] ** 2, n - 1 - np.arange(features)
    low, high = stats.chi2.cdf(squares, freedom), stats.chi2.sf(squares, freedom)
    return smallest([*2.0 * stats.norm.sf(np.abs(above)), *np.minimum(2.0 * np.minimum(low, high), 1.0)])
