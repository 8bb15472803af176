"""Class labels as JSON, each with its own type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

import numpy as np

from plugsamp.files.storage import StorageError


def encode_labels(labels: Sequence) -> dict:
    """Class labels with their type, for JSON; `decode_labels` gives back equal values of equal type."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in labels]
    kinds = {type(v) for v in plain}
    if not plain:
        return {"type": "str", "values": []}
    kind = next((k for k, (type_, *_) in _LABEL_TYPES.items() if kinds == {type_}), None)
    if kind is None:
        found = ", ".join(sorted(k.__name__ for k in kinds))
        raise StorageError(f"class labels are of type {found}; one of {', '.join(_LABEL_TYPES)} can be kept")
    return {"type": kind, "values": [_LABEL_TYPES[kind][1](v) for v in plain]}


def decode_labels(encoded: Mapping) -> np.ndarray:
    """Class labels as an object array of Python values."""
    kind, _, read, written = _LABEL_TYPES.get(encoded["type"], (None,) * 4)
    if kind is None or any(type(v) is not written for v in encoded["values"]):
        raise StorageError(f"class labels of type {encoded['type']!r} cannot be read")
    labels = np.empty(len(encoded["values"]), dtype=object)
    try:
        labels[:] = [read(v) for v in encoded["values"]]
    except (ValueError, ArithmeticError) as error:
        raise StorageError(f"a class label of type {encoded['type']!r} cannot be read: {error}") from None
    return labels


def _same(value):
    return value


#: By name: the type, how a value is written and read, and the type that JSON has for it.
_LABEL_TYPES = {
    "str": (str, _same, _same, str),
    "int": (int, _same, _same, int),
    "bool": (bool, _same, _same, bool),
    "float": (float, _same, _same, float),
    "bytes": (bytes, bytes.hex, bytes.fromhex, str),
    "date": (date, date.isoformat, date.fromisoformat, str),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat, str),
    "Decimal": (Decimal, str, Decimal, str),
}
