"""Decisions about several labels: thresholds from held-out documents, kept with the model."""

import csv
import importlib
import json
import typing

import numpy as np
import pytest
from sklearn.metrics import f1_score

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.commands.fit import Settings
from plugsamp.estimators import SupervisedTopicClassifier
from plugsamp.fitting.deciding import folds
from plugsamp.options import check
from plugsamp.prediction import thresholds


def corpus(n=300, seed=0):
    """Three labels, each with words of its own; the last is rare."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, 3)) < [0.5, 0.3, 0.1]).astype(int)
    rates = 0.3 + 2.5 * np.repeat(labels, 2, axis=1)
    counts = rng.poisson(np.hstack([rates, np.ones((n, 2))]))
    words = ["moon", "orbit", "soup", "bread", "vote", "party", "the", "and"]
    return ps.Corpus.from_counts(counts, responses=labels, vocabulary=words, require_tokens=False)


MODEL = ps.Model(6, beta=0.01, loss=ps.losses.Hinge(cost=10.0), weights=ps.priors.Normal(0.1))


def fit(**options):
    return ps.fit(corpus(), options.pop("model", MODEL), **{"sweeps": 30} | options)


def test_the_best_threshold_is_the_best_of_all():
    rng = np.random.default_rng(0)
    for _ in range(8):
        scores, truth = np.round(rng.normal(size=30), 1), rng.random(30) < 0.3
        best = max(f1_score(truth, scores > t, zero_division=0.0) for t in [*scores, -9.0])
        found = f1_score(truth, scores > thresholds.best_threshold(scores, truth), zero_division=0.0)
        assert found == pytest.approx(best)


def test_rare_labels_take_the_common_threshold():
    scores = np.column_stack([np.linspace(-1, 1, 100), np.linspace(-1, 1, 100), np.linspace(-1, 1, 100)])
    truth = np.column_stack([scores[:, 0] > 0, scores[:, 0] > 0.6, np.zeros(100, bool)])
    found = thresholds.found("validated", scores, truth, 1.0)
    common = thresholds.best_threshold(scores.ravel(), truth.ravel())
    assert found[2] == pytest.approx(common)
    assert common < found[1] < 0.6  # 20 of 100 documents: two thirds of the way


def test_prevalence_gives_as_many_labels_as_training_documents_have():
    scores = np.random.default_rng(0).normal(size=(50, 4))
    found = thresholds.found("prevalence", scores, np.zeros((50, 4)), 1.5)
    assert (scores > found).sum() == 75
    for n_labels in (0.0, 4.0):
        found = thresholds.found("prevalence", scores, np.zeros((50, 4)), n_labels)
        assert (scores > found).sum() == 50 * n_labels


def test_labels_are_decided_by_held_out_documents_unless_told_otherwise():
    auto, zero = fit(), fit(decide="zero")
    assert auto.coding.thresholds.shape == (3,) and zero.coding.thresholds is None
    new = corpus(seed=1)
    assert (auto.predict(new).f == zero.predict(new).f).all()  # the same model
    assert (auto.predict(new).labels == (auto.predict(new).f > auto.coding.thresholds)).all()
    assert auto.evaluate(new).measures["f1_micro"] > zero.evaluate(new).measures["f1_micro"]
    assert fit(decide=0.25).coding.thresholds.tolist() == [0.25] * 3
    held = fit(decide="validated", validation=corpus(seed=2))
    assert held.coding.thresholds.tolist() != auto.coding.thresholds.tolist()
    few = ps.fit(corpus(40), MODEL, sweeps=4)
    assert few.coding.thresholds is None  # too few documents


@pytest.mark.parametrize("options", [{"chains": 2}, {"multiclass": "ovr"}, {"supervised": "two_step"}])
def test_all_kinds_of_models_keep_their_thresholds(options, tmp_path):
    found = fit(decide="prevalence", sweeps=5, **options)
    assert found.coding.thresholds is not None
    labels = found.predict(corpus(seed=1)).labels
    for path in (tmp_path / "model", tmp_path / "model.zip"):
        found.save(path)
        loaded = ps.load(path)
        assert (loaded.coding.thresholds == found.coding.thresholds).all()
        assert (loaded.predict(corpus(seed=1)).labels == labels).all()


def test_losses_with_probabilities_have_thresholds_of_probabilities():
    model = ps.Model(4, loss="logistic")
    found = fit(model=model)
    prediction = found.predict(corpus(seed=1))
    assert (prediction.labels == (prediction.probabilities > found.coding.thresholds)).all()
    assert ((found.coding.thresholds > 0) & (found.coding.thresholds < 1)).all()


def test_every_label_stays_among_the_documents_to_fit():
    labels = np.zeros((60, 3), int)
    labels[:30, 0] = 1
    labels[np.arange(59), 1] = 1
    labels[7, 2] = 1
    held = folds(ps.Corpus.from_counts(np.ones((60, 2), int), responses=labels))
    assert len(held) == 5 and 56 <= np.sum(held) <= 60
    for out in held:
        assert labels[~out, 2].any() and not labels[~out, 1].all()


@pytest.mark.parametrize("n, n_folds", [(60, 5), (500, 3), (1499, 2), (1500, 1), (9000, 1)])
def test_enough_documents_are_held_out(n, n_folds):
    held = folds(
        ps.Corpus.from_counts(
            np.ones((n, 1), int), responses=np.tile(np.eye(2, dtype=int), (n // 2 + 1, 1))[:n]
        )
    )
    assert len(held) == n_folds and (np.sum(held, axis=0) <= 1).all()
    assert np.sum(held) >= min(300, n - 2)


@pytest.mark.parametrize("decide", ["often", True, float("nan"), None])
def test_refusals(decide):
    with pytest.raises(ValueError, match="decide must be auto, zero"):
        fit(decide=decide)


def test_the_command_takes_whole_numbers():
    assert check(1, typing.get_type_hints(Settings)["decide"]) == 1.0


def test_one_class_a_document_has_no_threshold():
    classes = ps.Corpus.from_counts(np.eye(4, dtype=int), responses=["a", "b"] * 2)
    with pytest.raises(ValueError, match="several labels"):
        ps.fit(classes, MODEL, sweeps=2, decide="validated")
    assert ps.fit(classes, MODEL, sweeps=2).coding.thresholds is None


def test_what_cannot_be_decided_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="2 documents are too few"):
        ps.fit(corpus(2), MODEL, sweeps=2, decide="validated")
    module = importlib.import_module("plugsamp.fitting.fit")
    monkeypatch.setattr(module, "Chain", None)  # before anything is sampled
    with pytest.raises(ValueError, match="decide=2 is a probability"):
        ps.fit(corpus(), ps.Model(2, loss="logistic"), sweeps=2, decide=2)
    with pytest.raises(TypeError, match="validation must be a Corpus"):
        fit(validation=0.2)


def test_the_estimator_decides_as_fit_does():
    train, new = corpus(), corpus(seed=1)
    options = {"n_topics": 6, "loss": MODEL.loss, "weights": MODEL.weights, "sweeps": 20, "random_state": 0}
    auto = SupervisedTopicClassifier(**options).fit(train.counts(), train.responses)
    zero = SupervisedTopicClassifier(decide="zero", **options).fit(train.counts(), train.responses)
    assert (
        auto.predict(new.counts())
        == (auto.decision_function(new.counts()) > auto.posterior_.coding.thresholds)
    ).all()
    assert (zero.predict(new.counts()) == (zero.decision_function(new.counts()) > 0)).all()


def test_the_command_writes_decided_labels(tmp_path):
    path = tmp_path / "news.jsonl"
    documents = corpus(100)
    with open(path, "w", encoding="utf-8") as file:
        for row, labels in zip(documents.counts().toarray(), documents.responses, strict=True):
            counts = {w: int(n) for w, n in zip(documents.vocabulary, row, strict=True) if n}
            names = [name for name, has in zip("abc", labels, strict=True) if has]
            file.write(json.dumps({"counts": counts, "labels": names}) + "\n")
    options = ["corpus=jsonl", f"corpus.path={path}", "corpus.test_size=0.3", "n_topics=4", "sweeps=10"]
    options += ["decide=-0.5", "report=false", f"hydra.run.dir={tmp_path / 'run'}"]
    assert main(["fit", *options]) == 0
    with open(tmp_path / "run" / "predictions.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert all(row[f"predicted_{n}"] == str(int(float(row[f"score_{n}"]) > -0.5)) for n in "abc")
    out = tmp_path / "again.csv"
    assert main(["predict", f"model={tmp_path / 'run'}", *options[:3], "part=test", f"out={out}"]) == 0
    with open(out, encoding="utf-8", newline="") as file:
        assert [row["predicted_a"] for row in csv.DictReader(file)] == [row["predicted_a"] for row in rows]
