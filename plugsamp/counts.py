"""A document by word matrix from anywhere, verified in full before compiled code sees it."""

from __future__ import annotations

import numbers
import warnings

import numpy as np
import scipy.sparse as sp

from plugsamp.errors import InputError, InputWarning
from plugsamp.sizes import check_claim

#: Ids, counts and the numbers of documents and words go up to here.
LIMIT = 2_147_483_647

#: What makes counts of other things.
ELSEWHERE = "plugsamp.readers read files, scikit-learn's CountVectorizer counts the words of texts"


def canonical(X) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Rows sorted by word, duplicates summed, zeros left out; `X` itself is never changed.

    Parameters
    ----------
    X : sparse matrix or array of any format, or dense array (D, V)
        Whole numbers from 0 to 2147483647, of any numeric type.

    Returns
    -------
    indptr : ndarray (D+1,) of int64
    indices, data : ndarrays (entries,) of int32
    shape : (D, V)

    Raises
    ------
    InputError
        Naming row and column (from 0) of the first entry that is not a count or lies outside.
    """
    if sp.issparse(X):
        rows, columns, values, shape = entries(X)
    else:
        rows, columns, values, shape = _dense_entries(X)
    for number, what in zip(shape, ("documents", "words"), strict=True):
        axis = "rows" if what == "documents" else "columns"
        check_claim(f"the matrix's {number} {axis}", number, what, len(values))
    values = whole(values, rows, columns)
    keep = values != 0
    if not keep.all():
        rows, columns, values = rows[keep], columns[keep], values[keep]
    rows, columns, values = summed(rows, columns, values)
    indptr = np.zeros(shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    return indptr, columns.astype(np.int32), values.astype(np.int32), shape


def check_shape(shape) -> tuple[int, int]:
    """(D, V) as ints, each within the limit."""
    if len(shape) != 2:
        raise InputError(f"counts need 2 dimensions (documents, words), {len(shape)} found")
    for size, what in zip(shape, ("documents (rows)", "words (columns)"), strict=True):
        if size > LIMIT:
            raise InputError(f"{size} {what} are over the limit {LIMIT}")
    return int(shape[0]), int(shape[1])


def check_pointers(
    indptr, n_major: int, n_entries: int, *, exact: bool = False, axis: str = "row"
) -> np.ndarray:
    """Row pointers that compiled code may follow, as int64.

    Parameters
    ----------
    indptr : array (n_major+1,)
    n_entries : int
        The length of `indices` and of `data`.
    exact : bool
        Whether the pointers must end at `n_entries`; SciPy's own matrices may have room to spare.
    """
    indptr = np.asarray(indptr)
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu":
        raise InputError(
            f"indptr must be a vector of integers, found {indptr.ndim} dimensions of {indptr.dtype}"
        )
    if len(indptr) != n_major + 1:
        raise InputError(f"indptr has {len(indptr)} entries, {n_major + 1} are needed for {n_major} {axis}s")
    if indptr[0] != 0:
        raise InputError(f"indptr starts at {indptr[0]}, it must start at 0")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        raise InputError(f"indptr decreases at {axis} {falls[0]}")
    end = int(indptr[-1])
    if end > n_entries or (exact and end != n_entries):
        raise InputError(f"indptr ends at {end}, there are {n_entries} entries")
    return indptr.astype(np.int64)


def whole(values, rows=None, columns=None) -> np.ndarray:
    """Counts as int64, refused unless each is a whole number from 0 to the limit.

    The places in the message come from `rows` and `columns` where they are given.
    """
    values = np.asarray(values)
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.int64)
    if kind not in "iuf":
        raise InputError(f"counts must be whole numbers, found values of type {values.dtype}")
    if kind == "f":
        with np.errstate(invalid="ignore"):
            good = (values >= 0) & (values <= LIMIT) & (values == np.floor(values))  # NaN fails each
    else:
        good = (values >= 0) & (values <= LIMIT)
    if not good.all():
        first = int(np.argmin(good))
        value = values[first]
        where = "" if rows is None else f" at row {rows[first]}, column {columns[first]}"
        if kind == "f" and np.isnan(value):
            raise InputError(f"NaN{where} is not a count; counts are whole numbers from 0 to {LIMIT}")
        if value < 0:
            raise InputError(f"negative count {value:g}{where}; counts are whole numbers from 0 to {LIMIT}")
        if value > LIMIT:
            raise InputError(f"count {value:.15g}{where} is over the limit {LIMIT}")
        raise InputError(
            f"{value:.15g}{where} is not a whole count; counts are whole numbers from 0 to {LIMIT}, and "
            "weights such as tf-idf are none"
        )
    return values.astype(np.int64)


def entries(X, *, exact: bool = False):
    """(rows, columns, values, shape) of a sparse matrix, its indices verified with nothing but NumPy.

    Parameters
    ----------
    X : sparse matrix or array, or anything with the attributes of a CSR, CSC or COO one
    exact : bool
        Whether the row pointers must end at the number of entries (files), see `check_pointers`.
    """
    shape = check_shape(X.shape)
    if X.format not in ("csr", "csc", "coo"):
        X = X.tocoo()  # formats whose conversion is SciPy's own Python
    if X.format == "coo":
        rows, columns = (np.asarray(i) for i in (X.row, X.col))
        _check_inside(rows, shape[0], "row", columns, "column")
        _check_inside(columns, shape[1], "column", rows, "row")
        return rows.astype(np.int64), columns.astype(np.int64), np.asarray(X.data), shape
    by_row = X.format == "csr"
    n_major, n_minor = shape if by_row else shape[::-1]
    axis, other = ("row", "column") if by_row else ("column", "row")
    indices, data = np.asarray(X.indices), np.asarray(X.data)
    if len(indices) != len(data):
        raise InputError(f"there are {len(indices)} indices for {len(data)} values")
    indptr = check_pointers(X.indptr, n_major, len(data), exact=exact, axis=axis)
    if indices.dtype.kind not in "iu":
        raise InputError(f"indices must be integers, found {indices.dtype}")
    indices, data = indices[: indptr[-1]], data[: indptr[-1]]
    major = np.repeat(np.arange(n_major, dtype=np.int64), np.diff(indptr))
    _check_inside(indices, n_minor, other, major, axis)
    minor = indices.astype(np.int64)
    return (major, minor, data, shape) if by_row else (minor, major, data, shape)


def _check_inside(index, size, what, other, other_what):
    if len(index) == 0:
        return
    if index.dtype.kind not in "iu":
        raise InputError(f"indices must be integers, found {index.dtype}")
    if index.min() >= 0 and index.max() < size:
        return
    first = int(np.argmax((index < 0) | (index >= size)))
    raise InputError(f"{what} {index[first]} at {other_what} {other[first]} is outside 0..{size - 1}")


def _dense_entries(X):
    if isinstance(X, str | bytes) or not (hasattr(X, "__array__") or isinstance(X, list | tuple)):
        raise InputError(
            f"counts must be a document by word matrix, sparse or dense, not {type(X).__name__}; " + ELSEWHERE
        )
    try:
        dense = np.asarray(X)
    except ValueError:  # rows of several lengths
        dense = np.empty(len(X), dtype=object)
        for i, row in enumerate(X):
            dense[i] = row
        _refuse_text(dense)
        raise InputError(
            "counts must be a document by word matrix, and rows have different lengths"
        ) from None
    _refuse_text(dense)
    shape = check_shape(dense.shape)
    if dense.dtype.kind == "O":
        dense = _numbers(dense)
    if dense.dtype.kind not in "biuf":
        raise InputError(f"counts must be whole numbers, found values of type {dense.dtype}")
    rows, columns = np.nonzero(dense)  # NaN is not zero, so it is seen
    return rows, columns, dense[rows, columns], shape


def _numbers(dense):
    """Objects, such as of data frames with nullable types, as an array of numbers where all are numbers."""
    cells = dense.ravel().tolist()
    if not all(isinstance(cell, numbers.Real) for cell in cells):
        absent = (at for at, cell in enumerate(cells) if cell is None or type(cell).__name__ == "NAType")
        if (at := next(absent, None)) is not None and dense.ndim == 2:
            row, column = divmod(at, dense.shape[1])
            raise InputError(
                f"the count at row {row}, column {column} is missing; fillna(0) of a data frame makes it 0"
            )
        return dense
    return np.array(cells).reshape(dense.shape)


def _refuse_text(dense) -> None:
    if dense.dtype.kind not in "OUS":
        return
    cells = dense.ravel()[:100].tolist()
    cells += [cell for cells_of in cells if isinstance(cells_of, list | tuple) for cell in cells_of[:10]]
    if any(isinstance(cell, str | bytes) for cell in cells):
        raise InputError(f"counts must be whole numbers, found text; {ELSEWHERE}")


def summed(rows, columns, values, place="row {row}, column {column}".format):
    """Sorted by (row, column), equal places summed in 64 bits with one warning.

    `place` makes the text for the first of them, from ``row=`` and ``column=``.
    """
    if len(rows) < 2:
        return rows, columns, values
    step, across = np.diff(rows), np.diff(columns)
    if bool(np.all((step > 0) | ((step == 0) & (across > 0)))):
        return rows, columns, values
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
    if first.all():
        return rows, columns, values
    again = int(np.argmin(first))
    warnings.warn(
        f"{np.count_nonzero(~first)} entries repeat a word of their document and were summed, "
        f"first at {place(row=rows[again], column=columns[again])}",
        InputWarning,
        stacklevel=4,
    )
    starts = np.flatnonzero(first)
    rows, columns, values = rows[starts], columns[starts], np.add.reduceat(values, starts)
    return rows, columns, whole(values, rows, columns)
