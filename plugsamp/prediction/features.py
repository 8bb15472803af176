"""The features of new documents and their linear predictors, bit-equal whatever is predicted together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from plugsamp.regression.weights import GROUP
from plugsamp.system.dispatch import load

_sums = load("plugsamp.regression.gram")


class DocumentFeatures:
    """u = (topic proportions, covariates, intercept) of some documents.

    Parameters
    ----------
    topics : float64 (D, K)
    covariates : float64 (D, P) or CSR, or None
    intercept : bool
    """

    def __init__(self, topics, covariates=None, intercept: bool = False):
        self.n_topics = topics.shape[1]
        self.sparse = covariates if sp.issparse(covariates) else None
        parts = [topics]
        if covariates is not None and self.sparse is None:
            parts.append(covariates)
        if intercept:
            parts.append(np.ones((len(topics), 1)))
        self.dense = np.hstack(parts)

    def times(self, eta) -> np.ndarray:
        """f = u eta^T, float64 (D, C), from weights (C, J); each row summed in an order of its own."""
        if self.sparse is None:
            return _times(self.dense, eta)
        first, last = self.n_topics, self.n_topics + self.sparse.shape[1]
        rest = np.hstack([eta[:, :first], eta[:, last:]])
        # SciPy's product goes over the entries of each row in turn.
        return _times(self.dense, rest) + self.sparse @ np.ascontiguousarray(eta[:, first:last].T)


def _times(u, eta) -> np.ndarray:
    """u eta^T, summed in one order: BLAS rounds differently with the number of rows."""
    n_outputs = len(eta)
    weights = np.zeros((u.shape[1], -(-n_outputs // GROUP) * GROUP))
    weights[:, :n_outputs] = eta.T
    out = np.empty((len(u), weights.shape[1]))
    nothing = np.zeros(len(u) + 1, np.int64), np.empty(0, np.int32), np.empty(0)
    _sums.predictor(*nothing, np.ascontiguousarray(u), weights, out)
    return np.ascontiguousarray(out[:, :n_outputs])
