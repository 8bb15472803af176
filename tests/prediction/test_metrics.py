"""Measures of predictions, by hand."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from plugsamp.losses.coding import Coding
from plugsamp.prediction.by_output import by_output
from plugsamp.prediction.coverage import coverage
from plugsamp.prediction.metrics import calibration_error, evaluate


def prediction(labels, task, classes, probabilities=None, calibrated=None):
    named = np.empty(len(classes), dtype=object)
    named[:] = list(classes)
    labels = np.asarray(labels, dtype=object if task in ("binary", "multiclass") else None)
    return SimpleNamespace(
        labels=labels,
        f=np.zeros((len(labels), 1)),
        coding=Coding(np.empty((0, 1)), task, named),
        probabilities=probabilities,
        calibrated=calibrated,
        likelihood=False,
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


def test_errors_of_each_output_and_of_counts():
    f = np.array([[1.0, 0.0], [2.0, 5.0], [4.0, 1.0]])
    y = np.array([[1.0, np.nan], [2.0, 3.0], [3.0, 3.0]])
    found = evaluate(prediction(f, "real", ["u", "v"]), y)
    assert found["mae"] == pytest.approx((0 + 0 + 1 + 2 + 2) / 5)
    assert found["rmse_u"] == pytest.approx(np.sqrt(1 / 3)) and found["mae_v"] == pytest.approx(2.0)
    assert "coverage_90" not in found and "log_density" not in found
    counts = evaluate(prediction(f[:, 0], "count", ["u"]), np.array([1, 2, None], dtype=object))
    assert counts["main"] == "r2" and counts["r2"] == 1.0 and counts["n_missing"] == 1


def test_no_known_value():
    found = evaluate(prediction([[1.0], [2.0]], "real", ["u"]), [None, float("nan")])
    assert found["r2"] is found["rmse"] is found["mae"] is None and found["n_scored"] == 0


def test_log_loss_where_there_is_a_likelihood():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.5, 0.25, 0.25], [0.3, 0.3, 0.4]])
    labels = ["a", "c", "a", "c"]
    true = ["a", "b", None, "z"]
    with pytest.warns(UserWarning, match="'z'; log_loss is of the other 2 documents"):
        found = evaluate(prediction(labels, "multiclass", "abc", p, True), true)
    assert found["log_loss"] == pytest.approx(-(np.log(0.7) + np.log(0.1)) / 2)
    assert found["accuracy"] == pytest.approx(1 / 3)
    # .7 was right, .8 (of "b") and .4 (of a label never seen) were not
    assert found["calibration_error"] == pytest.approx((0.3 + 0.8 + 0.4) / 3)
    for calibrated in (False, None):
        uncalibrated = prediction(labels, "multiclass", "abc", p, calibrated)
        assert "log_loss" not in evaluate(uncalibrated, list("abca"))


def test_log_loss_of_several_labels():
    p = np.array([[0.7, 0.2], [0.1, 0.9]])
    true = np.array([[1, 1], [0, np.nan]])
    found = evaluate(prediction((p > 0.5).astype(np.int8), "multilabel", "xy", p, True), true)
    assert found["log_loss"] == pytest.approx(-(np.log(0.7) + np.log(0.2) + np.log(0.9)) / 3)
    assert found["calibration_error"] == pytest.approx((0.3 + 0.8 + 0.1) / 3)


def test_calibration_error_is_of_means_in_a_bin():
    p, right = np.array([0.91, 0.95, 0.99, 1.0, 0.61, 0.69]), np.array([1, 1, 1, 0, 1, 0])
    assert calibration_error(p, right) == pytest.approx((3.85 - 3 + 1.3 - 1) / 6)


def test_density_and_coverage_of_real_responses():
    case = prediction([[1.0], [2.0], [3.0], [4.0]], "real", ["u"], calibrated=True)
    case.predictive = SimpleNamespace(log_density=lambda y: -(y**2))
    case.interval = lambda level: np.stack([case.labels - level, case.labels + level], axis=-1)
    found = evaluate(case, np.array([1.5, 5.0, np.nan, 4.9]))
    assert found["coverage_90"] == pytest.approx(2 / 3)
    assert found["log_density"] == pytest.approx(-(1.5**2 + 25 + 4.9**2) / 3)
    assert found["coverage_90_lowest"] is None  # of three values


def test_coverage_by_fifths():
    rng = np.random.default_rng(0)
    predicted = rng.permutation(np.arange(100.0))
    case = prediction(predicted[:, None], "real", ["u"], calibrated=True)
    case.interval = lambda level: np.stack([case.labels - 1, case.labels + 1], axis=-1)
    case.predictive = SimpleNamespace(log_density=lambda y: -(y**2))
    true = predicted + np.where(predicted < 10, -2.0, np.where(predicted > 94, 2.0, 0.5))
    table = coverage(case, true)
    assert table["low"] == [0, 20, 40, 60, 80] and table["high"] == [19, 39, 59, 79, 99]
    assert table["covered"] == [0.5, 1, 1, 1, 0.75] and table["documents"] == [20] * 5
    assert table["below"] == [0.5, 0, 0, 0, 0] and table["above"] == [0, 0, 0, 0, 0.25]
    assert table["width"] == [2.0] * 5 and "response" not in table
    found = evaluate(case, true)
    assert found["coverage_90_lowest"] == 0.5 and found["coverage_90"] == pytest.approx(0.85)
    several = prediction(np.column_stack([predicted, predicted]), "real", ["u", "v"], calibrated=True)
    several.interval = lambda level: np.stack([several.labels - 1, several.labels + 1], axis=-1)
    some = np.column_stack([true, np.where(predicted < 97, np.nan, true)])
    table = coverage(several, some)
    assert table["response"] == ["u"] * 5 + ["v"] * 3 and table["documents"][-3:] == [1, 1, 1]


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


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_scikit_learn(seed):
    from sklearn import metrics as sk

    rng = np.random.default_rng(seed)
    t, guess = rng.integers(5, size=40), rng.integers(4, size=40)
    p = rng.dirichlet(np.ones(6), 40)
    p[0, t[0]] = 0.0
    p[0] /= p[0].sum()
    found = prediction(list(guess), "multiclass", range(6), p, calibrated=True)
    scores = evaluate(found, t)
    assert scores["f1_macro"] == sk.f1_score(t, guess, average="macro")
    assert scores["f1_micro"] == scores["accuracy"] == sk.accuracy_score(t, guess)
    assert scores["log_loss"] == sk.log_loss(t, p, labels=range(6))
    three = np.transpose([row[1:4] for row in by_output(found, t).rows]).astype(float)
    theirs = sk.precision_recall_fscore_support(t, guess, labels=range(6), zero_division=np.nan)
    np.testing.assert_array_equal(three, theirs[:3])

    t, guess = rng.integers(2, size=(40, 3)), rng.integers(2, size=(40, 3))
    p = rng.random((40, 3))
    guess[:, 2] = t[:, 2] = 0
    scores = evaluate(prediction(guess, "multilabel", "xyz", p, calibrated=True), t)
    assert scores["f1_micro"] == sk.f1_score(t, guess, average="micro")
    assert scores["f1_macro"] == sk.f1_score(t, guess, average="macro", zero_division=0.0)
    assert scores["log_loss"] == sk.log_loss(t.ravel(), p.ravel())

    y, f = rng.normal(size=(2, 40))
    assert evaluate(prediction(f, "real", ["u"]), y)["r2"] == sk.r2_score(y, f)
