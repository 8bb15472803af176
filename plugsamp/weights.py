"""Drawing the weights eta given (kappa, omega): MODEL section 4.

Given the augmentation, output c is a Gaussian regression on u_d = (zbar_d, x_d) with precision
Lambda_c = Lambda0_c + sum_d omega_dc u_d u_d^T and linear term b_c = sum_d kappa_dc u_d.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from plugsamp.blas import single_thread
from plugsamp.checks import whole
from plugsamp.columns import Columns
from plugsamp.dispatch import load
from plugsamp.priors.base import WeightPrior
from plugsamp.random.draws import Purpose, stream

_compiled = load("plugsamp.gram")

#: Outputs are drawn in groups of this many, one vector of doubles.
GROUP = 8

#: Up to this many features a joint draw is worth its price (see `tools/bench_weights.py`).
BLOCK_LIMIT = 400

METHODS = ("auto", "block", "coordinate")


class WeightError(ArithmeticError):
    """The weights of an output cannot be drawn; the message names the output and the reason."""


class Design:
    """The features u of all documents: topic proportions (sparse), covariates and intercept (dense).

    Columns are in the order of eta: topics, covariates, intercept. Not changed once made.

    Parameters
    ----------
    indptr : int (D+1,)
    topics : int (nnz,)
        Topics present in each document, in any order, each at most once a document.
    counts : int (nnz,)
        n_dk.
    lengths : int (D,)
        N_d. An empty document has zbar = 0.
    n_topics : int
    covariates : float64 (D, P), optional
    intercept : bool
        Append a column of ones.

    Attributes
    ----------
    indptr, topics, values : int64 (D+1,), int32 (nnz,), float64 (nnz,)
        Topic proportions n_dk / N_d by document, topics ascending.
    column_ptr, column_documents, column_positions, column_values
        The same by topic, documents ascending; positions point into the row form.
    dense : float64 (D, P) or (D, P+1)

    Raises
    ------
    ValueError
        For arrays that do not fit together.
    """

    def __init__(self, indptr, topics, counts, lengths, n_topics, covariates=None, intercept=False):
        self.n_topics, self.intercept = int(n_topics), bool(intercept)
        self.indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        self.topics = np.ascontiguousarray(topics, dtype=np.int32)
        sizes = np.diff(self.indptr)
        if len(self.indptr) < 1 or self.indptr[0] != 0 or self.indptr[-1] != len(topics) or (sizes < 0).any():
            raise ValueError("design: indptr must ascend from 0 to the number of entries")
        if len(counts) != len(topics):
            raise ValueError(f"design: {len(counts)} counts for {len(topics)} topics")
        if len(lengths) != len(sizes):
            raise ValueError(f"design: {len(lengths)} lengths for {len(sizes)} documents")
        if len(topics) and (self.topics.min() < 0 or self.topics.max() >= n_topics):
            raise ValueError(f"design: topics must lie in 0..{n_topics - 1}")
        lengths = np.asarray(lengths, dtype=float)
        inverse = np.divide(1.0, lengths, out=np.zeros(len(sizes)), where=lengths > 0)
        self.values = counts * np.repeat(inverse, sizes)
        self.dense = _dense(covariates, intercept, len(sizes))
        if not self._transpose():
            order = np.lexsort((self.topics, np.repeat(np.arange(len(sizes)), sizes)))
            self.topics, self.values = self.topics[order], self.values[order]
            if not self._transpose():
                raise ValueError("design: a topic occurs twice in one document")

    def _transpose(self) -> bool:
        """Fill the column form; False where some row's topics do not ascend."""
        n = len(self.topics)
        self.column_ptr = np.empty(self.n_topics + 1, dtype=np.int64)
        self.column_documents = np.empty(n, dtype=np.int32)
        self.column_positions = np.empty(n, dtype=np.int64)
        self.column_values = np.empty(n)
        return _compiled.transpose(
            self.indptr, self.topics, self.values,
            self.column_ptr, self.column_documents, self.column_positions, self.column_values,
        )  # fmt: skip

    @property
    def n_documents(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_features(self) -> int:
        """J = K + P, and one more with an intercept."""
        return self.n_topics + self.dense.shape[1]

    def predictor(self, eta) -> np.ndarray:
        """f = u eta^T, float64 (D, C), from weights (C, J); sums in a fixed order."""
        eta = np.asarray(eta, dtype=float)
        n_outputs = len(eta)
        padded = np.zeros((self.n_features, -(-n_outputs // GROUP) * GROUP))
        padded[:, :n_outputs] = eta.T
        out = np.empty((self.n_documents, padded.shape[1]))
        _compiled.predictor(self.indptr, self.topics, self.values, self.dense, padded, out)
        return np.ascontiguousarray(out[:, :n_outputs])


def _dense(covariates, intercept, n_documents) -> np.ndarray:
    columns = []
    if covariates is not None:
        covariates = np.asarray(covariates, dtype=float)
        if covariates.ndim != 2 or len(covariates) != n_documents:
            raise ValueError(f"design: covariates of shape {covariates.shape} for {n_documents} documents")
        columns.append(covariates)
    if intercept:
        columns.append(np.ones((n_documents, 1)))
    return np.ascontiguousarray(np.hstack(columns)) if columns else np.empty((n_documents, 0))


def check_update(method: str, passes: int) -> None:
    """Refuse a method or a number of passes that does not exist (ValueError)."""
    if method not in METHODS:
        raise ValueError(f"weight_update must be one of {', '.join(METHODS)}, not {method!r}")
    whole("weight_passes", passes, 1)


def choose_method(method: str, n_features: int) -> str:
    """The method that "auto" stands for: joint draws as long as their K^3 costs little.

    Raises
    ------
    ValueError
        For a name that is none of "auto", "block" and "coordinate".
    """
    if method not in METHODS:
        raise ValueError(f"weight_update must be one of {', '.join(METHODS)}, not {method!r}")
    if method != "auto":
        return method
    return "block" if n_features <= BLOCK_LIMIT else "coordinate"


def groups(n_outputs: int) -> list[np.ndarray]:
    """The fixed groups of outputs: the unit of parallel work."""
    return [np.arange(start, min(start + GROUP, n_outputs)) for start in range(0, n_outputs, GROUP)]


def update_outputs(
    design: Design,
    kappa,
    omega,
    eta,
    outputs,
    prior: WeightPrior,
    prior_state: dict,
    columns: Columns,
    seed: int,
    sweep: int,
    *,
    method: str = "auto",
    passes: int = 1,
) -> None:
    """Draw the weights of some outputs, in place.

    An output's draws depend on its own kappa, omega, weights and stream alone, to the last bit: not on
    which outputs are updated together, nor on how many threads BLAS would use.

    Parameters
    ----------
    design : Design
    kappa, omega : float64 (D, C)
        Both 0 where the response is missing.
    eta : float64 (C, J)
        Changed in place.
    outputs : sequence of int
        Which outputs; they are worked on eight at a time.
    prior : WeightPrior
    prior_state : dict
    columns : Columns
    seed, sweep : int
        Key of the streams.
    method : {"auto", "block", "coordinate"}
        A joint draw by Cholesky, or Gibbs passes over single weights (paper 000, section 3.4).
    passes : int
        Passes of "coordinate".

    Raises
    ------
    WeightError
        Non-finite kappa or omega, or a precision matrix that is not positive definite even after a
        jitter of 1e-10 of its mean diagonal.
    ValueError
        For an unknown method or a number of passes below 1.
    """
    check_update(method, passes)
    method = choose_method(method, design.n_features)
    outputs = np.asarray(outputs, dtype=np.int64)
    for start in range(0, len(outputs), GROUP):
        chosen = outputs[start : start + GROUP]
        _check_finite("kappa", kappa, chosen)
        _check_finite("omega", omega, chosen)
        precisions = np.array([prior.precision(prior_state, int(c), columns) for c in chosen])
        rngs = [stream(seed, Purpose.WEIGHTS, sweep, int(c)) for c in chosen]
        if method == "block":
            drawn = _draw_block(design, kappa, omega, chosen, precisions, rngs)
        else:
            drawn = _draw_coordinate(design, kappa, omega, eta, chosen, precisions, rngs, passes)
        for c, weights in zip(chosen.tolist(), drawn, strict=True):
            if not np.isfinite(weights).all():
                raise WeightError(
                    f"output {c}: weight {int(np.argmin(np.isfinite(weights)))} is not finite after its "
                    f"{method} update (largest omega {np.max(omega[:, c]):.3g})"
                )
            eta[c] = weights


def _check_finite(name, values, chosen) -> None:
    finite = np.isfinite(values[:, chosen])
    if not finite.all():
        document, column = np.argwhere(~finite)[0]
        c = int(chosen[column])
        raise WeightError(f"output {c}: {name} of document {document} is {values[document, c]}")


def _lanes(values, chosen) -> np.ndarray:
    """Columns `chosen` of (D, C) as (D, GROUP), padded by zeros."""
    lanes = np.zeros((len(values), GROUP))
    lanes[:, : len(chosen)] = values[:, chosen]
    return lanes


def gram(design: Design, kappa, omega, chosen) -> tuple[np.ndarray, np.ndarray]:
    """sum_d omega_dc u_d u_d^T (J, J, GROUP), upper triangles, and sum_d kappa_dc u_d (J, GROUP).

    The last axis holds the outputs `chosen`, then zeros. Where omega is one number for all documents
    (Gaussian, DO-probit), one matrix would serve all outputs observed on the same documents: such a
    shortcut belongs here.
    """
    precision = np.zeros((design.n_features, design.n_features, GROUP))
    linear = np.zeros((design.n_features, GROUP))
    _compiled.gram(
        design.indptr,
        design.topics,
        design.values,
        design.column_ptr,
        design.column_documents,
        design.column_positions,
        design.dense,
        _lanes(kappa, chosen),
        _lanes(omega, chosen),
        np.empty(design.n_topics, dtype=np.int64),
        precision,
        linear,
    )
    return precision, linear


def _draw_block(design, kappa, omega, chosen, precisions, rngs) -> list[np.ndarray]:
    matrices, linear = gram(design, kappa, omega, chosen)
    drawn = []
    with single_thread():
        for lane, c in enumerate(chosen.tolist()):
            matrix = np.ascontiguousarray(matrices[:, :, lane])
            noise = rngs[lane].standard_normal(len(matrix))
            drawn.append(draw_gaussian(matrix, precisions[lane], linear[:, lane], noise, c))
    return drawn


def draw_gaussian(matrix, prior, linear, noise, output: int) -> np.ndarray:
    """Lambda^-1 b + L^-T noise, where Lambda = matrix + diag(prior) = L L^T.

    Only the upper triangle of `matrix` (J, J) is read; `matrix` is overwritten.
    """
    diagonal = np.einsum("ii->i", matrix)
    diagonal += prior
    # The transpose of a C array is a Fortran array without a copy: its lower triangle is filled.
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
    if failed:
        diagonal += 1e-10 * diagonal.mean()
        factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
    if failed:
        raise WeightError(
            f"output {output}: the precision matrix of its weights is not positive definite at weight "
            f"{failed - 1}, also with jitter (diagonal from {diagonal.min():.3g} to {diagonal.max():.3g})"
        )
    half, _ = lapack.dtrtrs(factor, linear, lower=1)
    drawn, _ = lapack.dtrtrs(factor, half + noise, lower=1, trans=1)
    return drawn


def _draw_coordinate(design, kappa, omega, eta, chosen, precisions, rngs, passes) -> np.ndarray:
    size = len(chosen)
    weights = np.zeros((design.n_features, GROUP))
    weights[:, :size] = eta[chosen].T
    prior = np.ones_like(weights)
    prior[:, :size] = precisions.T
    noise = np.zeros((passes, *weights.shape))
    for lane, rng in enumerate(rngs):
        noise[:, :, lane] = rng.standard_normal((passes, len(weights)))
    residual = np.empty((design.n_documents, GROUP))
    _compiled.predictor(design.indptr, design.topics, design.values, design.dense, weights, residual)
    lanes = _lanes(omega, chosen)
    residual *= lanes
    np.subtract(_lanes(kappa, chosen), residual, out=residual)
    _compiled.coordinate(
        design.column_ptr,
        design.column_documents,
        design.column_values,
        design.dense,
        lanes,
        residual,
        prior,
        noise,
        np.empty_like(weights),
        weights,
    )
    return weights[:, :size].T
