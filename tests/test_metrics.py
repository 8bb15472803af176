"""Measures of predictions, by hand."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from plugsamp.losses.coding import Coding
from plugsamp.metrics import evaluate


def prediction(labels, task, classes):
    named = np.empty(len(classes), dtype=object)
    named[:] = list(classes)
    labels = np.asarray(labels, dtype=object if task in ("binary", "multiclass") else None)
    return SimpleNamespace(
        labels=labels,
        f=np.zeros((len(labels), 1)),
        coding=Coding(np.empty((0, 1)), task, named),
        probabilities=None,
        calibrated=None,
    )


def test_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(prediction(["a", "b", "c", "a"], "multiclass", "abc"), ["a", "b", "a", None])
    assert found["main"] == "accuracy"
    assert found["accuracy"] == found["f1_micro"] == pytest.approx(2 / 3)
    assert found["f1_macro"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert (found["n_scored"], found["n_missing"]) == (3, 1)


@pytest.mark.parametrize("classes", [(False, True), (3, 100), (-1.5, 2.0), ("no", "yes")])
def test_labels_of_any_type(classes):
    low, high = classes
    found = evaluate(prediction([low, high, high], "binary", classes), np.array([low, high, low]))
    assert found["accuracy"] == pytest.approx(2 / 3)


def test_labels_never_seen_are_wrong_with_one_warning():
    with pytest.warns(UserWarning, match="'c', 'd'") as caught:
        found = evaluate(prediction(["a", "b", "b", "a"], "binary", "ab"), ["a", "c", "d", "c"])
    assert len(caught) == 1
    assert found["accuracy"] == 0.25
    assert found["f1_macro"] == pytest.approx((2 / 3 + 0 + 0 + 0) / 4)


def test_no_known_label():
    found = evaluate(prediction(["a", "b"], "binary", "ab"), [None, float("nan")])
    assert found["accuracy"] is None and found["n_missing"] == 2


def test_multilabel():
    labels = np.array([[1, 0], [1, 1], [0, 0]], np.int8)
    true = np.array([[1, 0], [0, 1], [1, np.nan]])
    found = evaluate(prediction(labels, "multilabel", "xy"), true)
    assert found["main"] == "f1_micro"
    assert found["f1_micro"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert found["f1_macro"] == pytest.approx((2 * 1 / (2 + 1 + 1) + 1.0) / 2)
    assert found["accuracy"] == pytest.approx(1 / 2)
    assert (found["n_scored"], found["n_missing"]) == (5, 1)


def test_real():
    f = np.array([[1.0, 0.0], [2.0, 5.0], [4.0, 1.0]])
    y = np.array([[1.0, np.nan], [2.0, 3.0], [3.0, 3.0]])
    found = evaluate(prediction(f, "real", ["u", "v"]), y)
    assert found["main"] == "r2"
    assert found["r2"] == found["r2_u"] == pytest.approx(1 - 1 / 2)
    assert found["r2_v"] is None
    assert found["rmse"] == pytest.approx(np.sqrt((0 + 0 + 1 + 4 + 4) / 5))
    assert evaluate(prediction(f[:, 0], "real", ["u"]), y[:, 0])["r2"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "case, responses, message",
    [
        (prediction(["a", "b"], "binary", "ab"), ["a"], "2 predicted"),
        (prediction(["a", "b"], "binary", "ab"), [["a", "b"], ["b", "a"]], "one label"),
        (prediction([[1, 0], [0, 1]], "multilabel", "ab"), [1, 0], "2 responses a document"),
        (prediction([0.0], "none", []), [1], "no responses"),
    ],
)
def test_refusals(case, responses, message):
    with pytest.raises(ValueError, match=message):
        evaluate(case, np.array(responses))
