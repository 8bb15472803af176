"""Responses with some missing, some weighted and some left aside, and the weights of classes."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.losses.coding import code_classes
from plugsamp.losses.gaussian import Gaussian
from plugsamp.losses.hinge import Hinge
from plugsamp.regression.response_weights import response_weights
from plugsamp.regression.responses import Responses

NAN = np.nan


def test_log_psi_leaves_out_what_is_missing_or_of_weight_0():
    y = np.array([[1.0, NAN], [-1.0, 1.0]])
    f = np.array([[0.5, 9.0], [0.0, 2.0]])
    assert Responses(Hinge(cost=3.0), y).log_psi(f) == pytest.approx(-2 * 3 * (0.5 + 1.0 + 0.0))
    weight = np.array([[2.0, 1.0], [0.0, 5.0]])
    assert Responses(Hinge(cost=3.0), y, weight).log_psi(f) == pytest.approx(-2 * 3 * 2.0 * 0.5)


def test_kappa_and_omega_are_0_exactly_where_there_is_no_response():
    y = np.array([[1.0, NAN], [-1.0, 1.0], [1.0, -1.0]])
    weight = np.array([[1.0, 1.0], [0.0, 2.0], [1.0, 1.0]])
    responses = Responses(Hinge(), y, weight)
    kappa, omega = responses.augment(np.zeros((3, 2)), np.random.default_rng(0))
    absent = np.isnan(y) | (weight == 0)
    assert ((kappa == 0) == absent).all() and ((omega == 0) == absent).all()
    assert (responses.weight[~absent] == weight[~absent]).all() and (responses.weight > 0).all()
    rows = slice(1, 3)
    kappa, omega = responses.augment(np.zeros((2, 2)), np.random.default_rng(0), rows)
    assert ((omega == 0) == absent[rows]).all()


def test_parameters_learn_from_the_observed_alone():
    """The variance of what is observed is 4; what is missing or of weight 0 would make it huge."""
    rng = np.random.default_rng(1)
    y = rng.normal(0.0, 2.0, (80_000, 1))
    weight = np.ones_like(y)
    y[::4], y[1::4], weight[1::4] = NAN, 1e3, 0.0
    responses = Responses(Gaussian("sample"), y, weight)
    f = np.zeros_like(y)
    parts = [responses.statistics(f[rows], rng, rows) for rows in (slice(0, 1000), slice(1000, 80_000))]
    assert sum(parts) == pytest.approx(responses.statistics(f, rng))
    responses.update(sum(parts), rng)
    (variance,) = responses.parameters.values()
    assert variance[0] == pytest.approx(4.0, rel=0.15)  # some 20 standard errors


def test_balanced_classes_have_the_same_total_and_a_mean_of_1():
    coding = code_classes(np.array(["a", "a", "a", "b", None, "c", "a", "c"], dtype=object))
    weight = response_weights(None, "balanced", coding)
    labels = np.array([0, 0, 0, 1, -1, 2, 0, 2])
    totals = [weight[labels == c, 0].sum() for c in range(3)]
    assert totals == pytest.approx([7 / 3] * 3)
    assert (weight == weight[:, :1]).all()  # one weight a document, for all outputs


def test_balanced_labels_have_the_same_total_on_both_sides():
    table = np.array([[1, 0], [0, 0], [0, 1], [0, 1], [0, NAN], [0, 1]])
    coding = code_classes(table, ["rare", "common"])
    weight = response_weights(None, "balanced", coding)
    assert weight[0, 0] == pytest.approx(weight[1:, 0].sum()) == pytest.approx(3.0)
    observed = ~np.isnan(table[:, 1])
    for side in (table[:, 1] == 1, table[:, 1] == 0):
        assert weight[observed & side, 1].sum() == pytest.approx(2.5)


def test_a_label_with_one_side_alone_keeps_finite_weights():
    coding = code_classes(np.array([[1, 0], [1, 1], [1, 0]]), ["always", "sometimes"])
    assert np.isfinite(response_weights(None, "balanced", coding)).all()


def test_weights_of_documents_multiply_those_of_classes():
    coding = code_classes(np.array(["a", "b", "a"], dtype=object))
    weight = response_weights(np.array([2.0, 3.0, 0.0]), {"a": 5.0}, coding)
    assert weight[:, 0].tolist() == [10.0, 3.0, 0.0]


def test_weight_0_is_missing_for_units_and_class_weights_too():
    y = np.append(np.linspace(0, 2, 29), 1e6)
    weights = np.append(np.ones(29), 0.0)
    counts = np.ones((30, 3), int)
    model = ps.Model(2, loss="gaussian", standardise=True)
    weighted = model.coding(ps.Corpus.from_counts(counts, responses=y, weights=weights))
    missing = model.coding(ps.Corpus.from_counts(counts, responses=np.append(y[:-1], NAN)))
    np.testing.assert_array_equal(weighted.y, missing.y)
    assert weighted.scale == missing.scale

    labels = np.array(["a"] * 10 + ["b"] * 20, dtype=object)
    weights = np.where(np.arange(30) < 9, 0.0, 1.0)
    balanced = ps.Model(2, loss="hinge", class_weight="balanced")
    chain = ps.Chain(ps.Corpus.from_counts(counts, responses=labels, weights=weights), balanced)
    other = ps.Chain(ps.Corpus.from_counts(counts, responses=np.where(weights > 0, labels, None)), balanced)
    np.testing.assert_array_equal(chain.responses.weight[9:], other.responses.weight[9:])
    assert (chain.responses.missing == other.responses.missing).all()
    nothing = ps.Corpus.from_counts(counts, responses=labels, weights=np.zeros(30))
    with pytest.raises(ValueError, match="has a weight above 0"):
        ps.Chain(nothing, ps.Model(2, loss="hinge"))


def test_times_and_masked_labels_come_back_as_they_went_in():
    from datetime import datetime

    counts = np.ones((4, 3), int)
    times = np.array(["2020-01-01", "2021-01-01"] * 2, "datetime64[ns]")
    corpus = ps.Corpus.from_counts(counts, responses=times)
    assert corpus.responses.tolist() == [datetime(2020, 1, 1), datetime(2021, 1, 1)] * 2
    with pytest.raises(ValueError, match="finer than a microsecond"):
        ps.Corpus.from_counts(counts, responses=times + np.timedelta64(1, "ns"))
    masked = np.ma.array([1, 2, 3, 1], mask=[0, 0, 1, 0])
    assert ps.Corpus.from_counts(counts, responses=masked).responses.tolist() == [1, 2, None, 1]
