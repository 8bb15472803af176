"""Moments of draws that have a normal distribution."""

import numpy as np

from ..chance import of_chain


def moments_p_value(draws, mean, covariance):
    """Of first and second moments of a chain's draws (n, J) against those of a normal distribution."""
    u = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T).T
    rows, columns = np.tril_indices(len(mean))
    expected = np.concatenate([np.zeros(len(mean)), (rows == columns).astype(float)])
    return of_chain(np.hstack([u, u[:, rows] * u[:, columns]]), expected)
