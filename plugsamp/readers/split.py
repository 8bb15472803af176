"""A seeded choice of test documents."""

from __future__ import annotations

import numpy as np

from plugsamp.errors import InputError
from plugsamp.random.draws import Purpose, stream
from plugsamp.sizes import share_of


def seeded_split(n_documents: int, test_size: float, seed: int, classes=None) -> np.ndarray:
    """Which documents are for testing.

    Parameters
    ----------
    n_documents : int
    test_size : float
        A share of the documents, above 0 and below 1.
    seed : int
        0 or more; 0 is a seed like any other.
    classes : sequence of D labels, optional
        Each class then keeps its share, as far as whole documents allow. A class with one document trains,
        and the share is one of the others. Where there are more classes than test documents the classes play
        no part.

    Returns
    -------
    test : ndarray (D,) of bool
    """
    if isinstance(test_size, bool) or not isinstance(test_size, int | float) or not 0 < test_size < 1:
        raise InputError(f"test_size must be a share above 0 and below 1, not {test_size!r}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"the seed of a split must be a whole number, 0 or more, not {seed!r}")
    if n_documents < 2:
        raise InputError(f"{n_documents} document cannot be split into training and test documents")
    from sklearn.model_selection import train_test_split  # here, as it takes a second to import

    pool, n_test, code = np.arange(n_documents), _share(test_size, n_documents), None
    if classes is not None:
        _, code, sizes = np.unique(np.asarray(classes, dtype=str), return_inverse=True, return_counts=True)
        several = sizes[code] > 1
        n_classes, n_several = int(np.count_nonzero(sizes > 1)), int(np.count_nonzero(several))
        n_chosen = _share(test_size, n_several) if n_classes else 0
        if n_classes and min(n_chosen, n_several - n_chosen) >= n_classes:
            pool, n_test, code = pool[several], n_chosen, code[several]
        else:
            code = None
    state = int(stream(int(seed), Purpose.SPLIT).integers(2**32))
    _, chosen = train_test_split(pool, test_size=n_test, random_state=state, stratify=code)
    test = np.zeros(n_documents, dtype=bool)
    test[chosen] = True
    return test


def _share(test_size: float, n_documents: int) -> int:
    """Documents for testing, of so many: at least one, and not all."""
    return min(max(1, round(share_of(test_size, n_documents))), n_documents - 1)


def class_labels(responses):
    """Labels to stratify by, or None where the responses are not one class a document."""
    if responses is None or responses.ndim > 1 or responses.dtype.kind == "f":
        return None
    return [str(v) for v in responses.tolist()]
