"""How responses become outputs, and outputs responses again."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass, replace

import numpy as np

from plugsamp.brief import Brief
from plugsamp.checks import LARGEST, date_hint, is_number, number_of, shortened
from plugsamp.documents.columns import is_missing
from plugsamp.errors import InputWarning
from plugsamp.files.storage import StorageError
from plugsamp.files.stored_labels import encode_labels
from plugsamp.lookalikes import warn_of
from plugsamp.units import mean_and_deviation

log = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class Coding(Brief):
    """Coded responses of a corpus.

    Attributes
    ----------
    y : ndarray (D, C) of float64
        The coded response of each document and output; NaN where missing.
    task : {"none", "binary", "multiclass", "multilabel", "real", "count"}
    classes : ndarray of object
        The user's labels, sorted: two for a binary task (one output, the later one positive), one an
        output otherwise; for real responses and counts the names of the outputs.
    order : tuple of int, or None
        Of classes that come one after the other (`plugsamp.losses.Multinomial`): their places in `classes`,
        first to last. Each has an output but the last, and `y` is NaN after a document's class.
    thresholds : ndarray (C,) of float64, or None
        Of several labels the scores, or probabilities, above which a document has each; by default 0, or one
        half (`plugsamp.prediction.thresholds`).
    center, scale : ndarray (C,) of float64, or None
        Of standardised real responses: y is (response - center) / scale.
    """

    y: np.ndarray
    task: str
    classes: np.ndarray
    center: np.ndarray | None = None
    scale: np.ndarray | None = None
    order: tuple[int, ...] | None = None
    thresholds: np.ndarray | None = None

    @classmethod
    def empty(cls) -> Coding:
        return cls(np.empty((0, 0)), "none", np.empty(0, dtype=object))

    @property
    def n_outputs(self) -> int:
        return self.y.shape[1]

    @property
    def output_names(self) -> list[str]:
        """The class (or response) that a positive f of each output speaks for."""
        if self.order is not None:
            return [str(self.classes[c]) for c in self.order[:-1]]
        return [str(c) for c in (self.classes[1:] if self.task == "binary" else self.classes)]

    @property
    def spoken_for(self) -> list[str]:
        """What topics speak for or against: the rows of `by_class`."""
        return self.output_names if self.order is None else [str(c) for c in self.classes]

    def by_class(self, eta: np.ndarray) -> np.ndarray:
        """Return what each topic says of each class, (..., C, K) to (..., len(spoken_for), K).

        These are the weights, but where classes come one after the other. There it is the log probability of
        the class in a document of this topic alone, less that without weights, less the mean over classes.
        """
        if self.order is None:
            return eta
        no, yes = (np.logaddexp(0, sign * eta) - np.log(2) for sign in (1, -1))  # minus log(1 - p), log p
        zero = np.zeros_like(eta[..., :1, :])
        log_p = -np.concatenate([yes, zero], axis=-2)
        log_p -= np.concatenate([zero, np.cumsum(no, axis=-2)], axis=-2)
        found = np.empty_like(log_p)
        found[..., list(self.order), :] = log_p - log_p.mean(axis=-2, keepdims=True)
        return found

    def strongest(self, weights: np.ndarray, n: int) -> list[int]:
        """Return which rows of `by_class` a topic speaks for, at most `n`, the strongest first.

        Of classes and labels those with positive weights, or else the one with the smallest. Of numbers, and
        of two classes in one output, those with the largest weights of either sign.
        """
        if self.task in ("real", "count", "binary"):
            return np.argsort(-np.abs(weights), kind="stable")[:n].tolist()
        order = np.argsort(-weights, kind="stable")[:n]
        return order[weights[order] > 0].tolist() or [int(np.argmin(weights))]

    @property
    def one_model(self) -> bool:
        """Whether one likelihood can give the class probabilities: not three binary models or more."""
        return self.task != "multiclass" or len(self.classes) == 2 or self.order is not None

    def members(self) -> np.ndarray:
        """Return which documents have each class or label, bool (D, classes)."""
        positive, observed = self.y > 0, ~np.isnan(self.y)
        if self.task == "binary":  # the side below zero is a class of its own
            return np.hstack([observed & ~positive, positive])
        if self.order is None:
            return positive
        found = np.empty((len(self.y), len(self.classes)), dtype=bool)
        last = observed.any(axis=1) & ~positive.any(axis=1)
        found[:, list(self.order)] = np.column_stack([positive, last])
        return found

    def standardised(self) -> Coding:
        """Real responses with mean 0 and variance 1 in each output (a constant one is only centred)."""
        center, scale = np.array([mean_and_deviation(y[~np.isnan(y)]) for y in self.y.T]).T
        return replace(self, y=(self.y - center) / scale, center=center, scale=scale)

    def restore(self, y: np.ndarray) -> np.ndarray:
        """Values (..., C) on the scale of `y` in the units that the user gave."""
        return y if self.center is None else y * self.scale + self.center

    def decide(self, f: np.ndarray) -> np.ndarray:
        """Labels from linear predictors (D, C): largest f, f above 0 or the thresholds, or f itself.

        See model.md section 2.
        """
        if self.task == "binary":
            return self.classes[(f[:, 0] > 0).astype(int)]
        if self.task == "multiclass":
            return self.classes[np.argmax(f, axis=1)]
        if self.task == "multilabel":
            return (f > (0.0 if self.thresholds is None else self.thresholds)).astype(np.int8)
        return self.restore(f)

    def choose(self, probabilities: np.ndarray) -> np.ndarray:
        """Labels from probabilities (D, classes): the largest, or those above one half or the thresholds."""
        if self.task == "multilabel":
            return (probabilities > (0.5 if self.thresholds is None else self.thresholds)).astype(np.int8)
        return self.classes[np.argmax(probabilities, axis=1)]


def filled(y, missing) -> np.ndarray:
    """y with each missing response replaced by the first observed one of its output, a valid value."""
    if not missing.any():
        return y
    first = y[np.argmin(missing, axis=0), np.arange(y.shape[1])]
    return np.where(missing, np.where(missing.all(axis=0), 0.0, first), y)


def code_real(responses, names=None) -> Coding:
    """Code one real response a document, or a (D, C) table of several, as they are.

    Raises
    ------
    ValueError
        A value that is no finite number of size 1e30 at most (None and NaN are missing), or a column
        without any response.
    """
    table = np.asarray(responses)
    table = table.reshape(len(table), -1)
    missing = is_missing(table)
    y = np.full(table.shape, np.nan)
    plain = table.dtype.kind in "iuf" and (missing | (np.abs(table.astype(float)) <= LARGEST)).all()
    if plain:
        y[~missing] = table[~missing]
    for row, column in () if plain else np.argwhere(~missing):
        value = table[row, column : column + 1].tolist()[0]  # as Python's own, in messages too
        if is_number(value) and LARGEST < abs(value) < np.inf:
            raise ValueError(
                f"responses must be of size {LARGEST:g} at most, and document {row} has {shortened(value)}; "
                "larger units keep them in range"
            )
        if not is_number(value) or abs(value) == np.inf:
            raise ValueError(
                f"this loss is for real responses, and document {row} has {value!r}; None and NaN are missing"
                + date_hint(value)
            )
        y[row, column] = float(value)
    empty = np.flatnonzero(missing.all(axis=0))
    if len(empty):
        which = f"response {empty[0]} has" if table.shape[1] > 1 else "the corpus has"
        raise ValueError(f"{which} no observed response")
    classes = np.empty(table.shape[1], dtype=object)
    if names is not None:
        classes[:] = list(names)
    else:
        classes[:] = ["y"] if table.shape[1] == 1 else [str(i) for i in range(table.shape[1])]
    return Coding(y, "real", classes)


def code_classes(responses, names=None, *, one_each: bool = False) -> Coding:
    """Code one label a document (binary or multi-class), or a (D, L) table of 0/1 (multi-label), as ±1.

    Parameters
    ----------
    responses : ndarray (D,) or (D, L)
    names : sequence of str, optional
        Of the labels of a table.
    one_each : bool
        One output a class where there are two as well (by default one output for both).

    Raises
    ------
    ValueError
        Fewer than two classes; labels of mixed types; a multi-label table with other values than 0, 1.
    """
    responses = np.asarray(responses)
    if responses.ndim == 2 and responses.shape[1] > 1:
        return _code_multilabel(responses, names)
    labels = responses.reshape(len(responses)).astype(object)
    missing = is_missing(labels)
    observed = labels[~missing].tolist()
    try:
        # True == 1, so that sorting alone would make one class of the two.
        if len({isinstance(v, bool | np.bool_) for v in observed}) > 1:
            raise TypeError
        classes = sorted(set(observed))
    except TypeError:
        kinds = sorted({type(v).__name__ for v in observed})
        raise ValueError(f"labels must be of one type, found {' and '.join(kinds)}") from None
    try:
        encode_labels(classes)
    except StorageError as error:  # before the sampling, not when the model is saved
        raise ValueError(f"{error}; [str(label) for label in labels] makes texts of them") from None
    if len(classes) < 2:
        found = f"only one class, {classes[0]!r}" if classes else "no labels"
        raise ValueError(f"a classifier needs documents of two classes or more, the corpus has {found}")
    if len(classes) > 50 and len(classes) > 0.5 * len(observed) and isinstance(classes[0], float):
        raise ValueError(
            f"the responses are {len(classes)} different real numbers in {len(observed)} documents: "
            "real responses, not classes; choose a loss for real responses"
        )
    _say_numbers(classes)
    warn_of(classes, "labels", stacklevel=4)
    index = {c: i for i, c in enumerate(classes)}
    code = np.array([-1 if m else index[v] for v, m in zip(labels, missing, strict=True)])
    binary = len(classes) == 2 and not one_each
    if binary:
        y = np.where(code == 1, 1.0, -1.0)[:, None]
    else:
        y = np.where(code[:, None] == np.arange(len(classes)), 1.0, -1.0)
    y[missing] = np.nan
    named = np.empty(len(classes), dtype=object)
    named[:] = classes
    return Coding(y, "binary" if binary else "multiclass", named)


def _say_numbers(classes: list) -> None:
    """Say where numbers are taken as classes: warn of decimals, log whole numbers that are text."""
    plain = [c for c in classes if isinstance(c, str | int | float | np.number) and not isinstance(c, bool)]
    numbers = {number_of(str(c)) for c in plain}
    if len(numbers) < len(classes) or not np.isfinite(list(numbers)).all():
        return
    fraction = next((c for c in plain if float(c) % 1), None)
    if fraction is None and len(classes) == 2:
        return
    decimal = fraction or next((c for c in plain if isinstance(c, str) and "." in c), None)
    example = plain[0] if decimal is None else decimal
    shown = repr(float(example) if isinstance(example, float | np.floating) else example)
    real = "" if decimal is None else "real "
    told = (
        f"the responses are {len(classes)} different {real}numbers, such as {shown}, and each is taken as a "
        "class of its own, without order; loss=gaussian takes them as numbers"
    )
    if decimal is None and isinstance(example, str):
        log.info(told)
    elif decimal is not None:
        warnings.warn(told, InputWarning, stacklevel=4)


def _code_multilabel(table, names) -> Coding:
    missing = is_missing(table)
    if table.dtype.kind in "biuf":
        plain = np.where(missing, 0, table)
        indicator = (plain == 0) | (plain == 1)
    else:
        plain = [0 if m else v for m, v in zip(missing.ravel().tolist(), table.ravel().tolist(), strict=True)]
        indicator = np.array([not isinstance(v, str | bytes) and v in (0, 1) for v in plain])
    bad = np.argwhere(~indicator.reshape(table.shape))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"several response columns are multi-label and must hold 0, 1 or missing; "
            f"row {row}, column {column} holds {table[row, column : column + 1].tolist()[0]!r}"
        )
    values = np.array(plain, dtype=float).reshape(table.shape)
    y = 2.0 * values - 1.0
    y[missing] = np.nan
    classes = np.empty(table.shape[1], dtype=object)
    classes[:] = list(names) if names is not None else [str(i) for i in range(table.shape[1])]
    warn_of(names or (), "labels", stacklevel=5)
    return Coding(y, "multilabel", classes)
