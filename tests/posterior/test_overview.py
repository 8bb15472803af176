"""What notebooks show of a corpus and of predictions, and predictions as a data frame."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.documents.overview import corpus_table
from plugsamp.prediction.table import prediction_table, short_prediction_table


def corpus(**more):
    rng = np.random.default_rng(0)
    return ps.Corpus.from_counts(rng.poisson(1.0, (30, 8)), **more)


def shown(table) -> dict:
    return dict(zip(table["corpus"], table[""], strict=True))


def test_a_corpus_is_a_short_table():
    labels = np.array(["<b>", "x", None] * 10, dtype=object)
    found = corpus(responses=labels, fields={"year": range(30)})
    assert shown(corpus_table(found))["responses"] == "2 values: <b> 10, x 10; 10 missing"
    assert shown(corpus_table(found))["fields"] == "year"
    assert "<b>" not in found._repr_html_() and len(repr(found).splitlines()) == 1
    assert shown(corpus_table(corpus(responses=np.linspace(0, 1, 30))))["responses"] == (
        "real numbers from 0 to 1"
    )
    assert shown(corpus_table(corpus(responses=np.eye(30)[:, :2])))["responses"] == "2 columns: 0, 1"
    many = shown(corpus_table(corpus(responses=[f"c{i}" for i in range(30)])))["responses"]
    assert many.startswith("30 values: c0 1, ") and many.endswith(" and 22 more")


@pytest.mark.parametrize(
    "loss, responses, columns",
    [
        ("probit", ["a", "b", "c"] * 10, ["predicted", "probability_a", "probability_b", "probability_c"]),
        ("hinge", ["a", "b"] * 15, ["predicted", "score_b"]),
        ("gaussian", np.arange(30.0), ["predicted", "score_y"]),
        ("logistic", np.tile([[0, 1], [1, 1], [1, 0]], (10, 1)), ["predicted_0", "predicted_1"]),
        (None, None, ["id", "topic_0"]),
    ],
)
def test_predictions_are_tables(loss, responses, columns):
    documents = corpus(responses=responses)
    model = ps.Model(3) if loss is None else ps.Model(3, loss=loss)
    prediction = ps.fit(documents, model, sweeps=6).predict(documents)
    table = prediction_table(prediction, topics=True)
    assert table.columns[0] == "id" and len(table) == 30 and set(columns) <= set(table.columns)
    assert "topic_2" in table and "topic_2" not in prediction_table(prediction)
    assert len(short_prediction_table(prediction)) == 12
    assert "Predictions of 30 documents, the first 12" in prediction._repr_html_()
    assert repr(prediction).startswith("Predictions of 30 documents, the first 5")
    assert len(repr(prediction).splitlines()) == 7
    pandas = pytest.importorskip("pandas")
    frame = prediction.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(table.columns)
