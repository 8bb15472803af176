"""How much each response counts: weights of documents and of classes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plugsamp.checks import is_number
from plugsamp.losses.coding import Coding
from plugsamp.naming import normal

#: The range of weights; squares of them times the largest cost stay finite.
SMALLEST, LARGEST = 1e-12, 1e12


def response_weights(document_weights, class_weight, coding: Coding) -> np.ndarray | None:
    """The power to which psi of each response is raised, float64 (D, C), or None where all are 1.

    A weight of 0 leaves the response aside, like a missing one.

    Parameters
    ----------
    document_weights : ndarray (D,) of float64, or None
    class_weight : mapping of class to weight, "balanced" or None
        One class a document: the weight of its class, for all outputs. Several labels: the weight of the
        label in the documents that have it. "balanced" gives every class (or, of several labels, both
        sides of each) the same total, and the documents with a response a mean weight of 1.

    Raises
    ------
    ValueError
        Classes that are none, weights out of range, or class weights where there are no classes.
    """
    parts = []
    if document_weights is not None:
        parts.append(np.asarray(document_weights, dtype=float)[:, None])
    if class_weight is not None:
        parts.append(_of_classes(class_weight, coding))
    if not parts:
        return None
    weight = np.broadcast_to(np.prod(np.broadcast_arrays(*parts), axis=0), coding.y.shape).copy()
    return None if (weight == 1.0).all() else weight


def _of_classes(class_weight, coding: Coding) -> np.ndarray:
    if coding.task not in ("binary", "multiclass", "multilabel"):
        raise ValueError(f"class weights need classes, and the responses are {coding.task}")
    positive, observed = coding.members(), ~np.isnan(coding.y)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f'class_weight must be a mapping, "balanced" or None, not {class_weight!r}')
        return _balanced(coding, positive, observed)
    return _given(class_weight, coding, positive)


def _balanced(coding: Coding, positive, observed) -> np.ndarray:
    if coding.task == "multilabel":
        n, n_positive = observed.sum(axis=0), positive.sum(axis=0)
        share = np.where(positive, n_positive, n - n_positive)
        return n / (2.0 * np.maximum(share, 1))
    known = observed.any(axis=1)
    share = np.where(positive, positive.sum(axis=0), 0).sum(axis=1)
    weight = known.sum() / (positive.shape[1] * np.maximum(share, 1))
    return np.where(known, weight, 1.0)[:, None]


#: What YAML writes for a key that Python has as something else.
_YAML = {None: "null"}


def _given(class_weight, coding: Coding, positive) -> np.ndarray:
    if not isinstance(class_weight, Mapping):
        raise ValueError(f'class_weight must be a mapping, "balanced" or None, not {class_weight!r}')
    names = {normal(str(c)): i for i, c in enumerate(coding.classes)}
    exact = {c: i for i, c in enumerate(coding.classes)}
    values = np.ones(len(coding.classes))
    for key, value in class_weight.items():
        index = exact.get(key, names.get(normal(str(key))))
        if index is None and not isinstance(key, str):  # YAML has made a truth value or a number of it
            same = [i for name, i in names.items() if name.lower() in (str(key).lower(), _YAML.get(key))]
            index = same[0] if len(same) == 1 else None
        if index is None:
            known = ", ".join(list(names)[:20])
            raise ValueError(f"class_weight names {key!r}, which is no class here; classes are {known}")
        if not (is_number(value) and (value == 0 or SMALLEST <= value <= LARGEST)):
            limits = f"0 or from {SMALLEST:g} to {LARGEST:g}"
            raise ValueError(f"class_weight of {key!r} must be {limits}, not {value!r}")
        values[index] = float(value)
    if coding.task == "multilabel":
        return np.where(positive, values, 1.0)
    return np.where(positive, values, 0.0).sum(axis=1, keepdims=True) + ~positive.any(axis=1, keepdims=True)
