"""The regression features u of all documents: topic proportions, covariates and intercept.

Topic proportions change with every sweep; covariates and the intercept do not (`Fixed`).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from plugsamp.system.dispatch import load

_compiled = load("plugsamp.regression.gram")

#: Outputs are worked on in groups of this many, one vector of doubles.
LANES = 8

#: A column of a sparse matrix that more than this share of documents has is kept dense: its documents are
#: then read in a row, and it is drawn together with the topics.
DENSE_SHARE = 0.5


_BY_COLUMN = ("column_ptr", "column_documents", "column_positions", "column_values")


class SparseColumns:
    """Some columns of u, mostly zeros, by document and by column. Not changed once made.

    Parameters
    ----------
    indptr : int (D+1,)
    columns : int (nnz,)
        Of each document in any order, each at most once.
    values : float (nnz,)
    n_columns : int

    Attributes
    ----------
    indptr, columns, values : int64 (D+1,), int32 (nnz,), float64 (nnz,)
        By document, columns ascending.
    column_ptr, column_documents, column_positions, column_values
        The same by column, documents ascending; positions point into the row form.

    Raises
    ------
    ValueError
        For a column that occurs twice in a document.
    """

    def __init__(self, indptr, columns, values, n_columns: int):
        self.n_columns = int(n_columns)
        self.indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        self.columns = np.ascontiguousarray(columns, dtype=np.int32)
        self.values = np.ascontiguousarray(values, dtype=float)
        if not self._transpose():
            sizes = np.diff(self.indptr)
            order = np.lexsort((self.columns, np.repeat(np.arange(len(sizes)), sizes)))
            self.columns, self.values = self.columns[order], self.values[order]
            if not self._transpose():
                raise ValueError("design: a topic occurs twice in one document")

    @classmethod
    def made(cls, n_columns: int, **arrays) -> SparseColumns:
        """Of the arrays of both forms, which are taken as they are."""
        new = object.__new__(cls)
        new.n_columns = int(n_columns)
        new.__dict__.update(arrays)
        return new

    @classmethod
    def of(cls, matrix) -> SparseColumns:
        """Of a scipy sparse matrix."""
        matrix = sparse.csr_array(matrix)
        return cls(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])

    def _transpose(self) -> bool:
        """Fill the column form; False where some row's columns do not ascend."""
        n = len(self.columns)
        self.column_ptr = np.empty(self.n_columns + 1, dtype=np.int64)
        self.column_documents = np.empty(n, dtype=np.int32)
        self.column_positions = np.empty(n, dtype=np.int64)
        self.column_values = np.empty(n)
        return _compiled.transpose(
            self.indptr, self.columns, self.values,
            self.column_ptr, self.column_documents, self.column_positions, self.column_values,
        )  # fmt: skip

    def share(self, arena, name: str) -> None:
        """Keep the arrays in buffers of an arena, where all processes see them."""
        for part in ("indptr", "columns", "values", *_BY_COLUMN):
            array = getattr(self, part)
            held = arena.buffer(f"{name}.{part}", len(array), array.dtype)
            held[:] = array
            setattr(self, part, held)

    def matrix(self) -> sparse.csr_array:
        """As a scipy sparse array (D, n_columns)."""
        shape = (len(self.indptr) - 1, self.n_columns)
        return sparse.csr_array((self.values, self.columns, self.indptr), shape=shape)


class Fixed:
    """The columns of u that no sweep changes: covariates, then the intercept.

    Parameters
    ----------
    covariates : array or sparse matrix (D, P), optional
        Columns of a sparse matrix stay sparse, but for those that most documents have.
    intercept : bool
        Append a column of ones.
    n_documents : int

    Attributes
    ----------
    dense : float64 (D, Q)
    sparse : SparseColumns, or None where every column is dense
    dense_columns, sparse_columns : int64
        Where they stand among the columns of this object.

    Raises
    ------
    ValueError
        For covariates of the wrong shape, or that are not finite.
    """

    def __init__(self, covariates, intercept: bool, n_documents: int):
        self.intercept = bool(intercept)
        if covariates is None:
            covariates = np.empty((n_documents, 0))
        if not sparse.issparse(covariates):
            covariates = np.asarray(covariates, dtype=float)
        if covariates.ndim != 2 or covariates.shape[0] != n_documents:
            raise ValueError(f"design: covariates of shape {covariates.shape} for {n_documents} documents")
        n_covariates = covariates.shape[1]
        self.n_columns = n_covariates + self.intercept
        self.sparse, self.sparse_columns = None, np.empty(0, dtype=np.int64)
        if sparse.issparse(covariates):
            covariates = sparse.csc_array(covariates, dtype=float, copy=True)
            covariates.sum_duplicates()
            covariates.eliminate_zeros()
            often = np.diff(covariates.indptr) > DENSE_SHARE * n_documents
            self.sparse_columns = np.flatnonzero(~often)
            if len(self.sparse_columns):
                self.sparse = SparseColumns.of(covariates[:, self.sparse_columns])
            kept = np.flatnonzero(often)
            covariates = covariates[:, kept].toarray()
        else:
            kept = np.arange(n_covariates)
        if not np.isfinite(covariates).all() or (
            self.sparse is not None and not np.isfinite(self.sparse.values).all()
        ):
            raise ValueError("design: covariates must be finite numbers")
        if intercept:
            covariates = np.hstack([covariates, np.ones((n_documents, 1))])
            kept = np.append(kept, n_covariates)
        self.dense = np.ascontiguousarray(covariates)
        self.dense_columns = kept.astype(np.int64)

    def share(self, arena) -> None:
        """Keep the columns where all processes see them."""
        self.dense = arena.copy("fixed.dense", self.dense)
        if self.sparse is not None:
            self.sparse.share(arena, "fixed.sparse")


class Design:
    """The features u of all documents. Not changed once made.

    Columns are numbered as those of eta: topics, covariates, intercept. Inside they are in two parts:
    the *joint* columns (topics, dense covariates, intercept) and the *single* ones (sparse covariates),
    of which there may be tens of thousands.

    Parameters
    ----------
    indptr : int (D+1,)
    topics : int (nnz,)
        Topics present in each document, in any order, each at most once a document.
    counts : int or float (nnz,)
        n_dk.
    lengths : int (D,)
        N_d. An empty document has zbar = 0.
    n_topics : int
    covariates : array or sparse matrix (D, P), or Fixed, optional
        A `Fixed` holds the intercept too, and spares a chain the work of making it in every sweep.
    intercept : bool
        Append a column of ones.

    Attributes
    ----------
    topics : SparseColumns
        Topic proportions n_dk / N_d.
    dense : float64 (D, Q)
        Dense covariates and the intercept.
    sparse : SparseColumns or None
        Sparse covariates.
    joint, single : int64
        The columns of eta that topics and `dense`, and `sparse`, stand for.

    Raises
    ------
    ValueError
        For arrays that do not fit together.
    """

    def __init__(self, indptr, topics, counts, lengths, n_topics, covariates=None, intercept=False):
        indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        topics = np.asarray(topics)
        sizes = np.diff(indptr)
        if len(indptr) < 1 or indptr[0] != 0 or indptr[-1] != len(topics) or (sizes < 0).any():
            raise ValueError("design: indptr must ascend from 0 to the number of entries")
        if len(counts) != len(topics):
            raise ValueError(f"design: {len(counts)} counts for {len(topics)} topics")
        if len(lengths) != len(sizes):
            raise ValueError(f"design: {len(lengths)} lengths for {len(sizes)} documents")
        if len(topics) and (topics.min() < 0 or topics.max() >= n_topics):
            raise ValueError(f"design: topics must lie in 0..{n_topics - 1}")
        lengths = np.asarray(lengths, dtype=float)
        inverse = np.divide(1.0, lengths, out=np.zeros(len(sizes)), where=lengths > 0)
        values = counts * np.repeat(inverse, sizes)
        if not isinstance(covariates, Fixed):
            covariates = Fixed(covariates, intercept, len(sizes))
        if len(covariates.dense) != len(sizes):
            raise ValueError(f"design: covariates of {len(covariates.dense)} documents for {len(sizes)}")
        self._of(SparseColumns(indptr, topics, values, n_topics), covariates)

    @classmethod
    def made(cls, topics: SparseColumns, fixed: Fixed) -> Design:
        """Of parts that fit together."""
        new = object.__new__(cls)
        new._of(topics, fixed)
        return new

    def _of(self, topics: SparseColumns, fixed: Fixed) -> None:
        self._set(topics, fixed.dense, fixed.sparse)
        self.joint = np.concatenate([np.arange(topics.n_columns), topics.n_columns + fixed.dense_columns])
        self.single = topics.n_columns + fixed.sparse_columns
        self.n_features = topics.n_columns + fixed.n_columns

    def _set(self, topics, dense, sparse_part) -> None:
        self.topics, self.dense, self.sparse = topics, dense, sparse_part
        self._joined = None
        #: Unit Gram matrices by pattern of documents, and the last factor: see `plugsamp.regression.weights`.
        self.shared: dict[bytes, np.ndarray] = {}
        self.last_factor: tuple = (None, None)

    @property
    def n_documents(self) -> int:
        return len(self.topics.indptr) - 1

    @property
    def n_topics(self) -> int:
        return self.topics.n_columns

    def joined(self) -> Design:
        """The same features with every column a joint one: for draws of all weights together."""
        if self.sparse is None:
            return self
        if self._joined is None:
            both = sparse.hstack([self.topics.matrix(), self.sparse.matrix()], format="csr")
            new = object.__new__(Design)
            new._set(SparseColumns.of(both), self.dense, None)
            k = self.n_topics
            new.joint = np.concatenate([self.joint[:k], self.single, self.joint[k:]])
            new.single, new.n_features = self.single[:0], self.n_features
            self._joined = new
        return self._joined

    def predictor(self, eta) -> np.ndarray:
        """f = u eta^T, float64 (D, C), from weights (C, J); sums in a fixed order."""
        eta = np.asarray(eta, dtype=float)
        n_outputs = len(eta)
        padded = np.zeros((self.n_features, -(-n_outputs // LANES) * LANES))
        padded[:, :n_outputs] = eta.T
        out = np.zeros((self.n_documents, padded.shape[1]))
        self.add_joint(padded[self.joint], out)
        self.add_single(padded[self.single], out)
        return np.ascontiguousarray(out[:, :n_outputs])

    def add_joint(self, weights, out) -> None:
        """out (D, L) += the joint columns' part of f, from their weights (joint, L); L a multiple of 8."""
        t = self.topics
        _compiled.predictor(t.indptr, t.columns, t.values, self.dense, weights, out, True)

    def add_single(self, weights, out) -> None:
        """out (D, L) += the single columns' part of f."""
        if self.sparse is not None:
            s = self.sparse
            nothing = no_columns(self.n_documents)
            _compiled.predictor(s.indptr, s.columns, s.values, nothing, weights, out, True)


def no_columns(n_documents: int) -> np.ndarray:
    """The dense part of a design that has none."""
    return np.empty((n_documents, 0))
