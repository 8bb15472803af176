"""Names of measures: which there are, where a run has them, which way is better."""

from __future__ import annotations

import pytest

from plugsamp.prediction import metrics as measured
from plugsamp.sweeps import metric

METRICS = {
    "main": 0.8, "main_name": "test_accuracy", "seconds": 2.5, "n_topics": 3,
    "test": {"accuracy": 0.8, "f1_macro": 0.7, "log_loss": None, "n_scored": 20},
    "train": {"accuracy": 0.9, "f1_macro": 0.9, "r2_price": 0.5, "n_scored": 80},
}  # fmt: skip


@pytest.mark.parametrize(
    "name, value",
    [
        ("main", 0.8),
        ("accuracy", 0.8),
        ("test_f1_macro", 0.7),
        ("train_accuracy", 0.9),
        ("train_r2_price", 0.5),
        ("log_loss", None),
        ("perplexity", None),
        ("seconds", 2.5),
    ],
)
def test_values(name, value):
    assert metric.check(name) == name
    assert metric.value(METRICS, name) == value
    assert metric.value({}, name) is None


def test_without_test_documents_those_of_training_count():
    assert metric.value({**METRICS, "test": None}, "accuracy") == 0.9


def test_all_measures_the_main_one_first():
    found = metric.measures(METRICS)
    assert list(found) == [
        "test_accuracy",
        "test_f1_macro",
        "train_accuracy",
        "train_f1_macro",
        "train_r2_price",
    ]
    assert metric.measures({}) == {}


def test_which_way_is_better():
    for name in ("main", "accuracy", "train_f1_macro", "r2_price", "log_likelihood", "tokens_per_second"):
        assert metric.higher_is_better(name), name
    for name in ("log_loss", "test_rmse", "mae_price", "perplexity", "seconds"):
        assert not metric.higher_is_better(name), name


def test_some_have_a_right_value():
    metrics = {"test": {"coverage_90": 0.84}, "train": {"coverage_90": 0.97}}
    assert metric.value(metrics, "coverage_90") == 0.84 and metric.check("train_coverage_90")
    assert metric.objective(metrics, "coverage_90") == pytest.approx(0.06)
    assert not metric.higher_is_better("test_coverage_90")  # the distance
    assert sorted((0.5, 0.99, 0.88), key=metric.better("coverage_90")) == [0.5, 0.99, 0.88]
    assert metric.objective(METRICS, "accuracy") == 0.8 and metric.objective({}, "coverage_90") is None


def test_main_is_better_when_higher_whatever_the_task():
    assert all(metric.HIGHER[name] for name in measured.MAIN.values())


@pytest.mark.parametrize(
    "name, hint", [("acuracy", "'accuracy'"), ("trian_r2", "'train_r2'"), ("loss", "main, ")]
)
def test_others_are_refused(name, hint):
    with pytest.raises(ValueError, match=f"no metric '{name}'") as error:
        metric.check(name)
    assert hint in str(error.value)
    for other in (None, 3, ["accuracy"]):
        with pytest.raises(ValueError, match="metric must be a name"):
            metric.check(other)


def test_a_number_beyond_all_floats_is_none():
    assert metric.value({"main": 10**400, "main_name": "test_accuracy"}, "main") is None
