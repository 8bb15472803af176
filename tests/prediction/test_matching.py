"""Responses of other documents against a model's: by name, not by place."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputWarning
from plugsamp.prediction.evaluation import evaluate
from plugsamp.prediction.matching import responses_for


def corpus(responses=None, names=None):
    counts = np.eye(4, 6, dtype=int) + 1
    return ps.Corpus.from_counts(counts, responses=responses, response_names=names)


LABELS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
REALS = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, np.nan], [4.0, 41.0]])


@pytest.fixture(scope="module")
def labels():
    return ps.fit(corpus(LABELS, ["x", "y", "z"]), ps.Model(2, loss="hinge"), sweeps=3, seed=0)


@pytest.fixture(scope="module")
def reals():
    return ps.fit(corpus(REALS, ["price", "age"]), ps.Model(2, loss="gaussian"), sweeps=3, seed=0)


def test_labels_in_another_order_score_alike(labels):
    wanted = evaluate(labels, corpus(LABELS, ["x", "y", "z"])).measures
    turned = evaluate(labels, corpus(LABELS[:, [2, 0, 1]], ["z", "x", "y"]))
    assert turned.measures == wanted
    np.testing.assert_array_equal(turned.truth, LABELS)


def test_a_label_that_no_document_has_is_0_and_one_that_the_model_lacks_is_told(labels):
    with pytest.warns(InputWarning, match="left aside: 'q'"):
        found = responses_for(labels.coding, corpus(np.array([[1, 1], [1, 0], [0, 1], [0, 0]]), ["q", "y"]))
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]])


def test_documents_without_labels_stay_without(labels):
    given = np.array([[1], [None], [0], [1]], dtype=object)
    found = responses_for(labels.coding, corpus(given, ["z"]))
    assert found.tolist() == [[0, 0, 1], [None] * 3, [0, 0, 0], [0, 0, 1]]


def test_real_responses_go_by_name(reals):
    wanted = evaluate(reals, corpus(REALS, ["price", "age"])).measures
    turned = evaluate(reals, corpus(REALS[:, ::-1], ["age", "price"]))
    assert turned.measures == wanted
    with pytest.warns(InputWarning) as told:
        found = responses_for(reals.coding, corpus(REALS, ["age", "weight"]))
    np.testing.assert_array_equal(found, np.column_stack([np.full(4, np.nan), REALS[:, 0]]))
    assert ["left aside: 'weight'" in str(w.message) for w in told] == [True, False]
    assert "no 'price'" in str(told[1].message)
    with pytest.raises(ValueError, match="none of its responses"):
        responses_for(reals.coding, corpus(REALS, ["a", "b"]))


def test_without_names_places_count(labels):
    given = corpus(LABELS)
    assert responses_for(labels.coding, given) is given.responses
    unnamed = ps.fit(corpus(LABELS), ps.Model(2, loss="hinge"), sweeps=2, seed=0)
    named = corpus(LABELS, ["x", "y", "z"])
    assert responses_for(unnamed.coding, named) is named.responses
