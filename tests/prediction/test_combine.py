"""Classes as separate binary models."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.prediction.combine import tasks, votes
from plugsamp.prediction.evaluation import evaluate


def corpus(labels):
    rng = np.random.default_rng(3)
    kinds = {label: k for k, label in enumerate(dict.fromkeys(v for v in labels if v is not None))}
    counts = np.zeros((len(labels), 9), int)
    for d, label in enumerate(labels):
        words = rng.integers(0, 9, 4)
        own = rng.integers(0, 3, 20) + 3 * kinds.get(label, 0)
        np.add.at(counts[d], np.concatenate([words, own]), 1)
    return ps.Corpus.from_counts(counts, responses=labels)


LABELS = ([10, 20, 30] * 12) + [None]


def test_one_against_the_rest_uses_all_documents():
    made, coding = tasks(corpus(LABELS), "ovr")
    assert [name for name, _, _ in made] == ["10", "20", "30"]
    assert all(rows is None and len(responses) == 37 for _, rows, responses in made)
    assert made[1][2][:3].tolist() == [False, True, False]
    assert made[1][2][-1] is None
    assert coding.classes.tolist() == [10, 20, 30]


def test_one_against_one_uses_the_documents_of_its_pair():
    made, _ = tasks(corpus(LABELS), "ovo")
    assert [name for name, _, _ in made] == ["10 | 20", "10 | 30", "20 | 30"]
    assert [len(rows) for _, rows, _ in made] == [24, 24, 24]
    assert made[1][2][:2].tolist() == [False, True]


def test_votes_count_pairs_and_settle_ties_by_margin():
    margins = np.array([[-1.0, -2.0, 3.0], [1.0, -5.0, 1.0]])  # the second: 1 beats 0, 0 beats 2, 2 beats 1
    scores = votes(margins, 3)
    assert np.argmax(scores, axis=1).tolist() == [0, 0]
    assert np.round(scores[0]).tolist() == [2, 0, 1]
    assert np.abs(scores - np.round(scores)).max() < 1 / 3


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
@pytest.mark.parametrize("loss", ["hinge", "gaussian"])
def test_classes_are_learnt_and_come_back_as_they_went_in(scheme, loss):
    train = corpus(LABELS)
    model = ps.Model(3, loss=loss, weights=ps.priors.Normal(variance=10.0))
    if loss == "gaussian":
        with pytest.raises(ValueError, match="real responses"):
            ps.fit(train, model, sweeps=4, multiclass=scheme)
        return
    result = ps.fit(train, model, sweeps=30, multiclass=scheme, seed=1)
    prediction = result.predict(train)
    assert set(prediction.labels.tolist()) <= {10, 20, 30}
    assert (prediction.labels[:36] == np.array(LABELS[:36])).mean() > 0.8
    again = ps.fit(train, model, sweeps=30, multiclass=scheme, seed=1, n_jobs=2)
    assert again.digest == result.digest
    assert [row["task"] for row in result.trace[::30]] == [part.name for part in result.parts]


def test_several_labels_are_a_model_each():
    table = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 6)
    rng = np.random.default_rng(0)
    counts = np.hstack([rng.poisson(0.2 + 8 * np.repeat(table, 3, axis=1)), rng.poisson(6.0, (24, 3))])
    made = ps.Corpus.from_counts(counts, responses=table)
    model = ps.Model(3, loss="hinge", weights=ps.priors.Normal(variance=10.0))
    result = ps.fit(made, model, sweeps=40, multiclass="ovr")
    assert (result.predict(made).labels == table).mean() > 0.8
    with pytest.raises(ValueError, match="one label a document"):
        ps.fit(made, model, sweeps=4, multiclass="ovo")


def test_what_is_wrong_is_said():
    model = ps.Model(2, loss="hinge")
    with pytest.raises(ValueError, match="multitask, ovr, ovo"):
        ps.fit(corpus(LABELS), model, sweeps=4, multiclass="one")
    with pytest.raises(ValueError, match="needs a loss"):
        ps.fit(corpus(LABELS), ps.Model(2, loss="none"), sweeps=4, multiclass="ovr")


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_a_saved_ensemble_predicts_to_the_bit(scheme, tmp_path):
    train = corpus(LABELS)
    model = ps.Model(3, loss="logistic")
    predictor = ps.fit(train, model, sweeps=6, multiclass=scheme)
    loaded = ps.load_model(ps.save_model(tmp_path / "model", predictor, model))
    assert loaded.digest == predictor.digest
    ours, theirs = predictor.predict(train), loaded.predict(train)
    assert (ours.f == theirs.f).all()
    assert ours.labels.tolist() == theirs.labels.tolist()
    assert ours.f.shape == (37, 3)
    if scheme == "ovr":
        assert np.allclose(ours.probabilities.sum(axis=1), 1.0)
        # what is decided is what is most probable; each class's own model is a likelihood
        assert ours.labels.tolist() == (10 * (1 + np.argmax(ours.probabilities, axis=1))).tolist()
        assert ours.likelihood and ours.calibrated is False
    else:
        assert ours.calibrated is None


def test_covariates_of_new_documents_are_made_once(monkeypatch):
    from plugsamp.covariates.encoder import Encoder

    train = corpus(LABELS)
    covariates = ps.Covariates(words="tfidf")
    model = ps.Model(3, loss="logistic")
    predictor = ps.fit(train, model, sweeps=4, multiclass="ovr", covariates=covariates, n_jobs=2)
    made, transform = [], Encoder.transform
    monkeypatch.setattr(Encoder, "transform", lambda self, c: made.append(c) or transform(self, c))
    found = predictor.predict(train)
    assert len(made) == 1
    alone = np.hstack([member.predict(train).f for member in predictor.parts])
    np.testing.assert_array_equal(found.f, alone)


def test_weights_of_classes_reach_every_model():
    train = corpus(LABELS)
    plain = ps.fit(train, ps.Model(3, loss="hinge"), sweeps=6, multiclass="ovr")
    heavy = ps.Model(3, loss="hinge", class_weight={20: 50.0})
    weighted = ps.fit(train, heavy, sweeps=6, multiclass="ovr")
    by_hand = train.with_weights(np.where(np.array(train.responses) == 20, 50.0, 1.0))
    same = ps.fit(by_hand, ps.Model(3, loss="hinge"), sweeps=6, multiclass="ovr")
    assert weighted.digest == same.digest != plain.digest


@pytest.mark.parametrize("loss", ["gaussian", "epsilon_insensitive", "logistic"])
def test_several_chains_are_the_mixture_of_all_their_draws(loss):
    """Predictions, probabilities, intervals and densities, by hand from each chain's own components."""
    train = corpus(LABELS)
    rng = np.random.default_rng(4)
    responses = rng.normal(50.0, 3.0, (37, 2)) if loss != "logistic" else np.array(LABELS)
    train = train.with_responses(responses)
    model = ps.Model(3, loss=loss, standardise=loss != "logistic")
    chains = ps.fit(train, model, sweeps=8, chains=2, seed=2)
    found, parts = chains.predict(train), [member.predict(train) for member in chains.parts]
    np.testing.assert_array_equal(found.f, np.mean([part.f for part in parts], axis=0))
    assert found.calibrated is (loss != "logistic")
    if loss == "logistic":
        assert found.likelihood
        own = np.mean([_own_probabilities(part) for part in parts], axis=0)
        np.testing.assert_allclose(found.probabilities, own / own.sum(axis=1, keepdims=True))
        return
    np.testing.assert_allclose(found.labels, np.mean([part.labels for part in parts], axis=0))
    y = rng.normal(50.0, 3.0, (37, 2))
    log_p = found.predictive.log_density(y)
    each = [part.predictive.log_density(y) for part in parts]
    np.testing.assert_allclose(np.exp(log_p), np.mean(np.exp(each), axis=0))
    low, high = np.moveaxis(found.interval(0.8), -1, 0)
    for end, p in ((low, 0.1), (high, 0.9)):
        assert (np.sort([part.interval(0.8)[..., int(p > 0.5)] for part in parts], axis=0)[0] <= end).all()
        np.testing.assert_allclose(_mass(found, end), p, atol=1e-6)
    measured = evaluate(chains, train).measures
    assert {"r2", "log_density", "coverage_90"} <= set(measured)


def _own_probabilities(part):
    ((_, components),) = part.predictive.mixtures()
    return np.mean([1 / (1 + np.exp(-one)) for _, f in components for one in f], axis=0)


def _mass(found, y):
    """P(Y <= y) by the mixture, y in the user's units."""
    y = (y - found.coding.center) / found.coding.scale
    out = np.empty(y.shape)
    for rows, components in found.predictive.mixtures():
        values = [bound.cdf(y[rows], one) for bound, f in components for one in f]
        out[rows] = np.mean(values, axis=0)
    return out
