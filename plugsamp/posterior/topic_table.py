"""Topics in little space, without a loss: most words of a topic have the same probability, that of no token.

Averaged over draws, phi_kw of a word that topic k never had is the same number for all such words, to the
bit, where beta is one number. So a topic is that number, and the words that have another.
"""

from __future__ import annotations

import numpy as np

#: From this share of cells on that differ from their topic's number the table is kept as it is.
DENSE = 0.5

NAMES = ("phi_common", "phi_ends", "phi_topics", "phi_values")


def packed(phi: np.ndarray) -> dict[str, np.ndarray]:
    """float32 (K, V) as arrays of which `unpacked` makes the same bits."""
    phi = np.ascontiguousarray(phi, dtype=np.float32)
    common = np.array([_most_frequent(row) for row in phi], dtype=np.float32)
    other = (phi.view(np.uint32) != common.view(np.uint32)[:, None]).T  # word by word
    if other.mean() >= DENSE:
        return {"phi": phi}
    words, topics = np.nonzero(other)
    small = np.uint16 if len(phi) <= 1 << 16 else np.uint32
    return {
        "phi_common": common,
        "phi_ends": np.cumsum(np.bincount(words, minlength=phi.shape[1])),
        "phi_topics": topics.astype(small),
        "phi_values": phi[topics, words],
    }


def _most_frequent(row: np.ndarray) -> np.float32:
    values, times = np.unique(row, return_counts=True)
    return values[times.argmax()]


def size(arrays: dict[str, np.ndarray]) -> int:
    """Bytes of the table that `unpacked` would make; 0 of one that is there."""
    return 0 if "phi" in arrays else 4 * len(arrays["phi_common"]) * len(arrays["phi_ends"])


def unpacked(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What `packed` was given, float32 (K, V).

    Raises
    ------
    KeyError, ValueError, IndexError
        Arrays that are none of its.
    """
    if "phi" in arrays:
        return arrays["phi"]
    common, ends, topics, values = (arrays[name] for name in NAMES)
    for name, array, kind in zip(NAMES, (common, ends, topics, values), "fiuf", strict=True):
        if array.ndim != 1 or array.dtype.kind != kind:
            raise ValueError(f"{name} is {array.dtype} of {array.ndim} dimensions")
    lengths = np.diff(ends, prepend=0)
    if (lengths < 0).any() or not (lengths.sum() == len(topics) == len(values)):
        raise ValueError(f"{len(topics)} topics and {len(values)} values for {lengths.sum()} cells")
    phi = np.empty((len(ends), len(common)), np.float32)
    phi[:] = common
    phi[np.repeat(np.arange(len(ends)), lengths), topics] = values
    return phi.T
