"""predictions.csv and data frames: columns, missing responses, intervals, names of topics."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.losses.coding import Coding
from plugsamp.prediction.results import Prediction
from plugsamp.prediction.table import prediction_table


def made(task: str, classes, f, labels, ids=None, **more) -> Prediction:
    f, n = np.asarray(f, dtype=float), len(f)
    coding = Coding(np.empty((0, f.shape[1])), task, np.array(classes, dtype=object))
    found = {"probabilities": None, "calibrated": None, "n_known": np.full(n, 4)} | more
    return Prediction(
        zbar=np.full((n, 2), 0.5), theta=np.full((n, 2), 0.5), f=f, labels=labels,
        n_unknown=np.arange(n), ids=tuple(ids or map(str, range(n))), coding=coding, **found,
    )  # fmt: skip


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_classes(tmp_path):
    truth = np.array(["a", None, "b,c"], dtype=object)
    labels = np.array(["a", "b,c", 'say "hi"'], dtype=object)
    f = [[1.0, 0.1], [0.5, 1 / 3], [0.0, -1.0]]
    found = made("multiclass", ["a", "b,c"], f, labels, ["1", "2", "\ud800"])
    prediction_table(found, truth).to_csv(tmp_path / "p.csv")
    rows = read(tmp_path / "p.csv")
    assert rows[0] == ["id", "true", "predicted", "score_a", "score_b,c", "n_known", "n_unknown"]
    assert rows[2] == ["2", "", "b,c", "0.5", repr(1 / 3), "4", "1"]
    assert rows[3][:3] == ["\\ud800", "b,c", 'say "hi"']


def test_several_labels_and_no_truth():
    found = made("multilabel", ["u", "v"], [[0.0, -1.0]], np.array([[1, 0]], np.int8))
    table = prediction_table(found, np.array([[1.0, np.nan]]))
    assert table.columns == (
        "id", "true_u", "true_v", "predicted_u", "predicted_v", "score_u", "score_v", "n_known", "n_unknown",
    )  # fmt: skip
    assert table.rows == [["0", 1.0, None, 1, 0, 0.0, -1.0, 4, 0]]
    assert prediction_table(found).columns[:2] == ("id", "predicted_u")


def test_probabilities():
    p = np.array([[0.75, 0.25], [0.0, 1.0]])
    found = made("binary", ["a", "b"], np.zeros((2, 1)), np.array(["a", "b"], object), probabilities=p)
    table = prediction_table(found)
    assert table.columns[2:5] == ("probability_a", "probability_b", "score_b")
    assert table["probability_b"].tolist() == [0.25, 1.0]


@pytest.mark.parametrize("names", [["y"], ["u", "v"]])
def test_intervals_of_real_responses(names):
    rng = np.random.default_rng(0)
    y = rng.normal(size=(30, len(names)))
    corpus = ps.Corpus.from_counts(rng.poisson(1.0, (30, 8)), responses=y, response_names=names)
    prediction = ps.fit(corpus, ps.Model(2, loss="gaussian"), sweeps=6).predict(corpus)
    table = prediction_table(prediction, y)
    ends = [f"{end}_{name}" for name in names for end in ("lower", "upper")] if names != ["y"] else None
    place = table.columns.index("lower" if ends is None else "lower_u")
    assert list(table.columns[place : place + 2 * len(names)]) == (ends or ["lower", "upper"])
    np.testing.assert_array_equal(table[table.columns[place + 1]], prediction.interval(0.9)[:, 0, 1])


def test_topics_go_by_their_names():
    rng = np.random.default_rng(0)
    corpus = ps.Corpus.from_counts(rng.poisson(1.0, (9, 8)))
    posterior = ps.fit(corpus, ps.Model(4), sweeps=4)
    posterior.names = {0: "crashes", 2: "id", 3: "crashes"}
    prediction = posterior.predict(corpus)
    columns = prediction_table(prediction, topics=True).columns
    assert columns[1:5] == ("crashes (topic_0)", "topic_1", "id (topic_2)", "crashes (topic_3)")
    assert "crashes (" in repr(prediction)
