"""Scores class by class, label by label, response by response."""

from types import SimpleNamespace

import numpy as np
import pytest

from plugsamp.losses.coding import Coding
from plugsamp.prediction.by_output import by_output


def prediction(task, classes, labels):
    labels = np.array(labels, dtype=object if task in ("binary", "multiclass") else float)
    classes = list(classes)
    n = len(classes) - (task == "binary")
    coding = Coding(np.empty((0, n)), task, np.array(classes, dtype=object))
    return SimpleNamespace(coding=coding, labels=labels, f=np.zeros((len(labels), n)))


def test_classes_by_hand():
    true = np.array(["a", "a", "b", "b", "b", None, "new"], dtype=object)
    found = by_output(prediction("multiclass", "abc", ["a", "b", "b", "b", "a", "a", "b"]), true)
    assert found.columns == ["class", "precision", "recall", "f1", "support", "predicted"]
    assert found.rows == [
        ["a", 1 / 2, 1 / 2, 1 / 2, 2, 2],
        ["b", 1 / 2, pytest.approx(2 / 3), pytest.approx(4 / 7), 3, 4],
        ["c", None, None, None, 0, 0],  # neither true nor predicted
        ["new", None, 0.0, 0.0, 1, 0],
    ]
    assert found.confusion_columns == ["true", "a", "b", "c", "new"]
    assert found.confusion == [
        ["a", 1, 1, 0, 0],
        ["b", 1, 2, 0, 0],
        ["c", 0, 0, 0, 0],
        ["new", 0, 1, 0, 0],
    ]
    assert found.mistakes() == [(1, "a", "b"), (1, "b", "a"), (1, "new", "b")]


def test_labels_by_hand():
    true = np.array([[1, 0], [1, np.nan], [0, np.nan], [0, np.nan]])
    found = by_output(prediction("multilabel", "xy", [[1, 0], [0, 1], [1, 0], [0, 0]]), true)
    assert found.rows == [["x", 0.5, 0.5, 0.5, 2, 2], ["y", None, None, None, 0, 0]]
    assert found.confusion == [["x", 1, 1, 1, 1], ["y", 1, 0, 0, 0]]
    assert found.mistakes() == []


def test_numbers_by_hand():
    true = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, np.nan]])
    found = by_output(prediction("real", "uv", [[0.0, 3.0], [2.0, 0.0], [1.0, 0.0]]), true)
    assert found.columns == ["response", "r2", "rmse", "mae", "support"]
    assert found.rows == [
        ["u", pytest.approx(1 - 9 / 8), pytest.approx(3**0.5), 1.0, 3],
        ["v", None, 2.0, 2.0, 1],
    ]
    assert found.confusion == []


def test_nothing_known():
    assert by_output(prediction("multiclass", "ab", ["a"]), np.array([None], dtype=object)) is None
    assert by_output(prediction("real", "u", [[1.0]]), np.array([np.nan])) is None


def test_labels_that_read_the_same_are_one():
    composed, apart = "caf\u00e9", "cafe\u0301"
    made = prediction("multiclass", [composed, "tea"], [composed, "tea"])
    found = by_output(made, np.array([apart, "tea"], dtype=object))
    assert [row[0] for row in found.rows] == [composed, "tea"] and found.mistakes() == []
