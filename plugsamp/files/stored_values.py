"""Columns of any kind as plain arrays and a little JSON, and back with each value's own type."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from plugsamp.files.stored_labels import decode_labels, encode_labels

#: Codes of what is missing.
NONE, NAN = -1, -2

_PLAIN = (str, int, bool, float)


def encode_values(values: np.ndarray) -> tuple[np.ndarray, dict]:
    """An array of what a corpus may hold, as numbers and what they mean.

    Raises
    ------
    StorageError
        Values of a type that cannot be kept.
    """
    if values.dtype.kind in "biuf":
        return values, {}
    codes, known = np.empty(values.size, np.int32), {}
    for i, value in enumerate(values.ravel().tolist()):
        if value is None:
            codes[i] = NONE
        elif isinstance(value, float) and math.isnan(value):
            codes[i] = NAN
        else:
            codes[i] = known.setdefault(json.dumps(_as_json(value), allow_nan=False), len(known))
    return codes.reshape(values.shape), {"values": list(known), "text": values.dtype.kind == "U"}


def decode_values(array: np.ndarray, meaning: Mapping) -> np.ndarray:
    """What `encode_values` was given."""
    if not meaning:
        return array
    found = np.empty(len(meaning["values"]) + 2, object)
    found[:-2] = [_from_json(json.loads(text)) for text in meaning["values"]] if len(found) > 2 else []
    found[NAN], found[NONE] = math.nan, None
    values = found[array]
    return values.astype(str) if meaning["text"] and values.size else values


def _as_json(value):
    if type(value) in _PLAIN:
        return value
    if isinstance(value, tuple):
        return list(value)
    return encode_labels([value])


def _from_json(value):
    if isinstance(value, list):
        return tuple(value)
    return decode_labels(value)[0] if isinstance(value, dict) else value


def encode_strings(strings: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Their bytes one after another, uint8, and where each ends, int64."""
    encoded = [s.encode() for s in strings]
    ends = np.cumsum([len(e) for e in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def decode_strings(data: np.ndarray, ends: np.ndarray) -> list[str]:
    """What `encode_strings` was given."""
    whole, edges = data.tobytes(), [0, *ends.tolist()]
    return [whole[a:b].decode() for a, b in pairwise(edges)]
