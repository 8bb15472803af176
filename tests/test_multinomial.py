"""The multinomial loss: stick-breaking, order of classes, and all that goes with a loss."""

import numpy as np
import pytest
from scipy.special import expit

import plugsamp as ps
from plugsamp.losses import Multinomial
from plugsamp.posterior.saved import load_model, save_model
from plugsamp.regression.response_weights import response_weights

LABELS = np.array(["a", "c", "c", "b", "c", "b", None], dtype=object)


def counts_of(y):
    rng = np.random.default_rng(0)
    number = np.unique(y, return_inverse=True)[1]
    return rng.poisson(np.where(np.arange(8) // 2 == number[:, None], 3.0, 0.4)) + np.eye(1, 8, dtype=int)


def fitted(**options):
    y = np.array(["x", "y", "z", "w"])[np.random.default_rng(1).choice(4, 160, p=[0.1, 0.4, 0.2, 0.3])]
    corpus = ps.Corpus.from_counts(counts_of(y), responses=y)
    model = ps.Model(4, loss=Multinomial(**options.pop("loss", {})), weights=ps.priors.Normal(variance=20.0))
    return ps.fit(corpus, model, sweeps=30, **options), corpus, y


def test_classes_are_coded_from_the_most_frequent():
    coding = Multinomial().code(LABELS)
    assert coding.classes.tolist() == ["a", "b", "c"] and coding.order == (2, 1, 0)
    nan = np.nan
    expected = [[-1, -1], [1, nan], [1, nan], [-1, 1], [1, nan], [-1, 1], [nan, nan]]
    np.testing.assert_array_equal(coding.y, expected)
    assert coding.output_names == ["c", "b"]
    np.testing.assert_array_equal(coding.members()[:, 0], LABELS == "a")
    assert Multinomial("label").code(LABELS).order == (0, 1, 2)


def test_two_classes_are_one_logit():
    coding = Multinomial().code(np.array(["no", "yes", "yes"]))
    assert coding.task == "binary" and coding.order is None
    f = np.array([[-2.0], [0.3]])
    np.testing.assert_allclose(Multinomial().probabilities(f, coding)[:, 1], expit(f[:, 0]))


def test_probabilities_are_sticks_of_the_ordered_classes():
    coding = Multinomial().code(LABELS)
    f = np.array([[0.4, -1.1], [800.0, -800.0], [-800.0, 800.0], [-900.0, -900.0]])
    p = Multinomial().probabilities(f, coding)
    first, second = expit(f).T
    np.testing.assert_allclose(p, np.column_stack([(1 - first) * (1 - second), (1 - first) * second, first]))


def test_the_sum_of_log_psi_is_the_log_probability():
    loss, coding = Multinomial(), Multinomial().code(LABELS)
    f = np.random.default_rng(0).normal(size=coding.y.shape)
    ours = np.nansum(loss.log_psi(coding.y, f), axis=1)[:-1]
    p = loss.probabilities(f, coding)
    place = {"a": 0, "b": 1, "c": 2}
    np.testing.assert_allclose(ours, [np.log(p[d, place[label]]) for d, label in enumerate(LABELS[:-1])])


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="order must be one of frequency, label, not 'size'"):
        Multinomial("size")
    with pytest.raises(ValueError, match="multinomial is for one label a document"):
        Multinomial().code(np.array([[1, 0], [0, 1]]))


def test_class_weights_are_of_all_outputs_of_a_document():
    coding = Multinomial().code(LABELS)
    weight = response_weights(None, {"a": 3.0, "b": 2.0}, coding)
    np.testing.assert_array_equal(weight[:, 0], [3, 1, 1, 2, 1, 2, 1])


def order_of(found):
    return ", ".join(found.coding.classes[c] for c in found.coding.order)


@pytest.mark.parametrize("options", [{}, {"chains": 2}, {"loss": {"order": "label"}}])
def test_fit_predict_save_load(tmp_path, options):
    found, corpus, y = fitted(**options)
    prediction = found.predict(corpus)
    assert prediction.calibrated is True and prediction.probabilities.shape == (160, 4)
    np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1)
    assert (prediction.labels == y).mean() > 0.8
    save_model(tmp_path / "model", found)
    loaded = load_model(tmp_path / "model")
    assert loaded.coding.order == found.coding.order
    np.testing.assert_array_equal(loaded.predict(corpus).probabilities, prediction.probabilities)
    assert set(found.weights()["output"]) < {"w", "x", "y", "z"}
    explained = found.explain(corpus, documents=[0, 1])
    last = found.coding.classes[found.coding.order[-1]]
    assert f"against those after it ({order_of(found)}); {last} has none." in str(explained)


def test_probabilities_are_means_over_draws():
    found, corpus, _ = fitted()
    prediction = found.predict(corpus.take(np.arange(5)))
    (_, parts), *_ = prediction.predictive.mixtures()
    loss, coding = found.loss, prediction.coding
    each = [loss.probabilities(one, coding) for _, f in parts for one in f]
    np.testing.assert_allclose(prediction.probabilities, np.mean(each, axis=0))


def test_resumes_to_the_bit(tmp_path):
    _, corpus, _ = fitted()
    model = ps.Model(4, loss="multinomial")
    ps.fit(corpus, model, sweeps=6, checkpoint=tmp_path / "c")
    more = ps.fit(corpus, model, sweeps=12, checkpoint=tmp_path / "c", resume=True)
    whole = ps.fit(corpus, model, sweeps=12)
    np.testing.assert_array_equal(more.eta, whole.eta)


def test_estimators_know_it():
    _, _, y = fitted()
    counts = counts_of(y)
    found = ps.SupervisedTopicClassifier(4, loss="multinomial", sweeps=20, random_state=0).fit(counts, y)
    p = found.predict_proba(counts)
    assert p.shape == (160, 4) and found.classes_.tolist() == ["w", "x", "y", "z"]
    np.testing.assert_array_equal(found.classes_[p.argmax(axis=1)], found.predict(counts))


@pytest.mark.parametrize("order", ["frequency", "label"])
def test_the_order_changes_the_model_little(order):
    """Without signal mean probabilities are the classes' shares, whatever the order."""
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b", "c"], 900, p=[0.1, 0.6, 0.3])
    counts = rng.poisson(1.0, (900, 6)) + np.eye(1, 6, dtype=int)
    corpus = ps.Corpus.from_counts(counts, responses=y)
    prediction = ps.fit(corpus, ps.Model(2, loss=Multinomial(order)), sweeps=60, seed=0).predict(corpus)
    share = np.array([(y == c).mean() for c in "abc"])
    off = prediction.probabilities.mean(axis=0) - share
    # The mean of the draws varies by some half a standard error of the shares.
    assert (np.abs(off) < 3 * np.sqrt(share * (1 - share) / 900)).all()


def test_topics_speak_for_the_last_class_too():
    coding = Multinomial(order="label").code(np.array(["a", "b", "c"]))
    eta = np.array([[3.0, -3.0, -3.0, 0.0], [0.0, 3.0, -3.0, 0.0]])  # topics of a, b, c and none
    found = coding.by_class(eta)
    assert coding.spoken_for == ["a", "b", "c"]
    assert found.argmax(axis=0)[:3].tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found[:, 3], 0, atol=1e-12)
    p = Multinomial(order="label").probabilities(eta.T, coding)
    even = Multinomial(order="label").probabilities(np.zeros((1, 2)), coding)
    log = np.log(p / even)
    np.testing.assert_allclose(found.T, log - log.mean(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(coding.by_class(np.stack([eta, -eta]))[0], found)
