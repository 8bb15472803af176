"""What goes beside the counts of a corpus: responses, covariates, fields, weights. Checks and digests."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from plugsamp.checks import LARGEST, SEVERAL, check_text, date_hint, frozen, names_of
from plugsamp.counts import entries
from plugsamp.errors import InputError
from plugsamp.naming import columns_of


def responses_of(values, n_documents: int, n_words: int = 0) -> np.ndarray:
    if sp.issparse(values):
        values = values.toarray()
    if isinstance(values, str | bytes | dict | set) or not hasattr(values, "__len__"):
        raise InputError(f"responses must be an array of shape (D,) or (D, C), not {type(values).__name__}")
    if isinstance(values, np.ma.MaskedArray):  # what is masked is missing
        values = np.where(np.ma.getmaskarray(values), None, np.ma.getdata(values).astype(object))
    array = without_na(values)
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] in ("ns", "ps", "fs", "as"):
        array = _times(array)
    if array.ndim not in (1, 2):
        raise InputError(f"responses need 1 or 2 dimensions, {array.ndim} found")
    if len(array) != n_documents:
        turned = f", and {n_words} words: are rows and columns exchanged?" if len(array) == n_words else ""
        raise InputError(f"there are {len(array)} responses for {n_documents} documents{turned}")
    if array.ndim == 2 and array.shape[1] == 0:
        raise InputError("responses have no columns; pass None for a corpus without responses")
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise InputError(f"the response of document {np.argwhere(np.isinf(array))[0][0]} is infinite")
    if array.dtype.kind in "OU":
        texts = [v for v in array.ravel().tolist() if isinstance(v, str)]
        check_text(texts, "response")
        _check_ends(texts)
    array = array.copy()
    array.flags.writeable = False
    return array


def _check_ends(values) -> None:
    """NumPy's texts lose NULs at their ends, and labels that differ by them would become one."""
    bad = next((v for v in values if isinstance(v, str) and v.endswith("\0")), None)
    if bad is not None:
        raise InputError(f"response {bad!r} ends in a NUL, which texts of NumPy do not keep")


def _times(array) -> np.ndarray:
    """Times finer than Python's as datetimes, where nothing is lost."""
    coarse = array.astype("datetime64[us]")
    if ((coarse != array) & ~np.isnat(array)).any():
        raise InputError("responses are times finer than a microsecond, which no label can hold")
    return coarse.astype(object)


def without_na(values) -> np.ndarray:
    """An array of `values` of their own types, and None where pandas has NA, which compares with nothing."""
    masked = _is_na(getattr(getattr(values, "dtype", None), "na_value", None))
    array = np.asarray(values, dtype=object) if masked else typed_array(values)
    if array.dtype.kind == "O":
        absent = np.array([_is_na(v) for v in array.ravel().tolist()], bool).reshape(array.shape)
        if absent.any():
            array = np.where(absent, None, array)
        elif masked:
            array = typed_array(array.tolist())
        if array.ndim == 1 and any(isinstance(v, list | tuple | set | frozenset) for v in array.tolist()):
            raise InputError(f"responses hold lists of labels; {SEVERAL}")
    return array


def _is_na(value) -> bool:
    return type(value).__name__ == "NAType"  # of pandas, which need not be installed


def typed_array(values) -> np.ndarray:
    """An array that keeps each value's own type: NumPy would turn [1, "a", None] into text."""
    if not isinstance(values, list | tuple):
        return np.asarray(values)
    _check_ends(values)
    nested = [isinstance(v, list | tuple | np.ndarray) for v in values]
    if any(nested):
        widths = {len(v) if n else None for v, n in zip(values, nested, strict=True)}
        if len(widths) > 1:
            raise InputError(f"responses must have the same number of columns in every document; {SEVERAL}")
        rows = [typed_array(list(v)) for v in values]
        kinds = {r.dtype.kind for r in rows}
        array = np.array(rows) if "O" not in kinds and (len(kinds) == 1 or kinds <= set("iuf")) else None
        return np.array([r.tolist() for r in rows], dtype=object) if array is None else array
    kinds = {np.bool_ if isinstance(v, bool | np.bool_) else type(v) for v in values}
    numbers = all(issubclass(k, int | float | np.number) for k in kinds)
    if (len(kinds) == 1 and issubclass(next(iter(kinds)), str | np.bool_)) or (kinds and numbers):
        array = np.array(values)
        if array.dtype.kind in "biufU":
            return array
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def covariates_of(values, n_documents: int):
    """Finite numbers (D, P), dense or CSR, read-only; a copy."""
    if sp.issparse(values):
        return _sparse_covariates(values, n_documents)
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"covariates must be numbers: {error}") from None
    if array.ndim != 2:
        raise InputError(f"covariates need 2 dimensions (documents, covariates), {array.ndim} found")
    _check_documents(len(array), n_documents)
    fits = np.abs(array) <= LARGEST  # NaN is not
    if not fits.all():
        row, column = np.argwhere(~fits)[0]
        _refuse_covariate(array[row, column], row, column)
    return frozen(array)


def _sparse_covariates(values, n_documents: int) -> sp.csr_array:
    if values.ndim != 2:
        raise InputError(f"covariates need 2 dimensions (documents, covariates), {values.ndim} found")
    # Verified before SciPy's compiled code, which trusts its indices, sees them.
    rows, columns, data, shape = entries(values)
    _check_documents(shape[0], n_documents)
    if data.dtype.kind not in "biuf":
        raise InputError(f"covariates must be numbers, found values of type {data.dtype}")
    data = data.astype(np.float64)
    fits = np.abs(data) <= LARGEST
    if not fits.all():
        first = int(np.argmin(fits))
        _refuse_covariate(data[first], rows[first], columns[first])
    matrix = sp.coo_array((data, (rows, columns)), shape=shape).tocsr()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return frozen(matrix)


def _check_documents(found: int, n_documents: int) -> None:
    if found != n_documents:
        raise InputError(f"there are covariates of {found} documents for {n_documents} documents")


def _refuse_covariate(value, row, column):
    wrong = f"larger than {LARGEST:g}" if math.isfinite(value) else "not a finite number"
    raise InputError(f"covariate {value} at row {row}, column {column} is {wrong}")


def fields_of(fields: Mapping, n_documents: int) -> dict[str, np.ndarray]:
    """Columns of raw values by name: float64 (NaN is missing), or objects (None is missing); read-only."""
    fields = fields if (columns := columns_of(fields)) is None else columns
    if not isinstance(fields, Mapping):
        raise InputError(
            f"fields must be a mapping of names to columns or a data frame, not {type(fields).__name__}"
        )
    names_of(list(fields), len(fields), "fields", "field", "columns")
    return {str(name): _field(str(name), values, n_documents) for name, values in fields.items()}


def _field(name: str, values, n_documents: int) -> np.ndarray:
    if isinstance(values, str | bytes | dict | set) or not hasattr(values, "__len__"):
        raise InputError(f"field {name!r} must be a sequence of values, not {type(values).__name__}")
    if len(values) != n_documents:
        raise InputError(f"field {name!r} has {len(values)} values for {n_documents} documents")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf" and values.ndim == 1:
        array = values.astype(np.float64)
        if np.isinf(array).any():
            raise InputError(f"field {name!r} of document {int(np.argmax(np.isinf(array)))} is infinite")
        return frozen(array)
    array = np.empty(n_documents, dtype=object)
    for row, value in enumerate(values):
        array[row] = _field_value(name, value, row)
    return frozen(array)


def _field_value(name: str, value, row: int):
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or _is_na(value):
        return None
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if np.isinf(value):
            raise InputError(f"field {name!r} of document {row} is infinite")
        return None if np.isnan(value) else value
    if isinstance(value, str):
        check_text([value], f"value of field {name!r},")
        return str(value)
    if isinstance(value, list | tuple | np.ndarray) and all(isinstance(v, str) for v in value):
        check_text(value, f"value of field {name!r},")
        return tuple(map(str, value))
    raise InputError(
        f"field {name!r} of document {row} must be text, a number, true or false, a list of texts or "
        f"missing, found {value!r}{date_hint(value)}"
    )


def weights_of(values, n_documents: int) -> np.ndarray:
    """Weights of documents, 0 or within the range that squares of them bear."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"weights must be numbers: {error}") from None
    if array.shape != (n_documents,):
        raise InputError(f"weights of shape {array.shape} were given for {n_documents} documents")
    fits = (array == 0) | ((array >= 1e-12) & (array <= 1e12))  # NaN is neither
    if not fits.all():
        row = int(np.argmin(fits))
        raise InputError(f"the weight of document {row} must be 0 or from 1e-12 to 1e12, not {array[row]}")
    array.flags.writeable = False
    return array


def column_names(values, names, what: str):
    if names is None:
        return None
    if values is None:
        raise InputError(f"{what}_names were given without {what}s")
    size = 1 if values.ndim == 1 else values.shape[1]
    return names_of(names, size, f"{what}_names", f"{what} name", "columns")


def hash_strings(h, names):
    if names is None:
        h.update(b"none")
        return
    h.update(len(names).to_bytes(8, "little"))
    encoded = [n.encode() for n in names]
    h.update(np.array([len(e) for e in encoded], dtype="<i8").tobytes())
    h.update(b"".join(encoded))


def hash_values(h, values):
    """Values with their types, so that 1, True, 1.0 and "1" differ; sizes of numeric types do not matter."""
    if values is None:
        h.update(b"none")
        return
    h.update(repr(values.shape).encode())
    if sp.issparse(values):
        h.update(b"sparse")
        for part, kind in ((values.indptr, "<i8"), (values.indices, "<i8"), (values.data, "<f8")):
            h.update(part.astype(kind).tobytes())
        return
    kind = values.dtype.kind
    if kind in "biuf":
        h.update(kind.replace("u", "i").encode())
        h.update(values.astype({"b": "|b1", "f": "<f8"}.get(kind, "<i8")).tobytes())
    else:
        hash_strings(h, [f"{type(v).__name__}:{v!r}" for v in values.ravel().tolist()])


def is_missing(values: np.ndarray) -> np.ndarray:
    """None and NaN are missing, whatever the type of the others."""
    if values.dtype.kind in "biuf":
        return np.isnan(values)
    flat = values.ravel().tolist()
    flat = [v is None or (isinstance(v, float | np.floating) and np.isnan(v)) for v in flat]
    return np.array(flat, dtype=bool).reshape(values.shape)
