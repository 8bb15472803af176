"""What a report shows is right: terms, scores, topics, numbers and scales."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.posterior import explanations
from plugsamp.prediction import metrics
from plugsamp.prediction.evaluation import Evaluation
from plugsamp.prediction.results import Prediction
from plugsamp.report import chains, documents, outcome, page, texts, topics, verdict, weights


def corpus_of(n=24, real=False, covariates=False):
    rng = np.random.default_rng(2)
    kinds = np.arange(n) % 3
    counts = rng.poisson(0.2 + 3.0 * (np.arange(12)[None, :] // 4 == kinds[:, None]))
    counts[4] = 0
    responses = kinds * 2.0 + 10.0 if real else np.array(["a", "b", "c"])[kinds]
    x = rng.normal(size=(n, 2)) if covariates else None
    return ps.Corpus.from_counts(counts, responses=responses, covariates=x)


@pytest.mark.parametrize(
    ("multiclass", "loss"), [("multitask", "hinge"), ("ovr", "probit"), ("ovr", "hinge"), ("ovo", "hinge")]
)
@pytest.mark.parametrize("covariates", [False, True])
def test_terms_sum_to_the_prediction(multiclass, loss, covariates):
    corpus = corpus_of(covariates=covariates)
    fitted = ps.fit(corpus, ps.Model(3, loss=loss), sweeps=12, multiclass=multiclass)
    members = fitted.parts
    prediction = fitted.predict(corpus)
    rows = [0, 4, 7]
    for d, found in zip(rows, explanations.explain(members, fitted, corpus, rows), strict=True):
        assert found.predicted == prediction.labels[d] and found.true == corpus.responses[d]
        assert found.right == (found.predicted == found.true)
        for block in found.blocks:
            sums = np.sum([term.contributions for term in block.terms], axis=0)
            np.testing.assert_allclose(sums, block.totals, atol=1e-9)
            if multiclass != "ovo":
                place = {str(c): i for i, c in enumerate(fitted.coding.classes)}
                outputs = [place[o] for o in block.outputs]
                np.testing.assert_allclose(block.totals, prediction.f[d, outputs], atol=1e-9)
            shares = [t.value for t in block.terms if t.key is not None or "other topic" in t.name]
            assert sum(shares) == pytest.approx(1.0)


def test_real_responses_are_center_plus_scale_times_the_sum():
    corpus = corpus_of(real=True)
    fitted = ps.fit(corpus, ps.Model(3, loss="gaussian", standardise=True), sweeps=12)
    (found,) = explanations.explain(fitted.parts, fitted, corpus, [1])
    value = fitted.coding.center[0] + fitted.coding.scale[0] * found.blocks[0].totals[0]
    assert value == pytest.approx(fitted.predict(corpus).labels[1, 0])


def test_words_are_given_to_topics_in_full():
    corpus = corpus_of()
    fitted = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=12)
    (found,) = explanations.explain(fitted.parts, fitted, corpus, [0])
    parts: dict[str, float] = {}
    for term in found.blocks[0].terms:
        for word in term.words:
            parts[word.word] = parts.get(word.word, 0.0) + word.part
    assert parts and all(part <= 1 + 1e-9 for part in parts.values())
    # p(k | w, d) is in proportion to phi_kw theta_dk
    prediction = fitted.predict(corpus)
    theta, phi = prediction.theta[0], fitted.phi.astype(float)
    for term in found.blocks[0].terms:
        for word in term.words:
            w = fitted.vocabulary.index(word.word)
            expected = theta[int(term.key)] * phi[int(term.key), w] / (theta @ phi[:, w])
            assert word.part == pytest.approx(expected, rel=1e-6)


def evaluation_of(coding, true, predicted, f, n_known=None, probabilities=None):
    """An evaluation of given labels."""
    n, none = len(true), np.empty((len(true), 0))
    n_known = np.full(n, 5) if n_known is None else np.array(n_known)
    labels = np.array(predicted, dtype=object)
    ids = tuple(map(str, range(n)))
    prediction = Prediction(
        none, none, np.asarray(f, float), labels, probabilities, None, n_known, 0 * n_known, ids, coding
    )
    return Evaluation(prediction, np.array(true, dtype=object), {}, "accuracy")


def coding_of():
    return ps.fit(corpus_of(), ps.Model(2, loss="hinge"), sweeps=2).coding


def test_mistakes_come_first():
    f = [[1, 0, 0], [0, 1, 0], [0, 9, 1], [0, 9, 1], [0, 9, 1]]
    found = evaluation_of(coding_of(), ["a", "a", "c", "c", None], list("abbbb"), f, [5, 5, 5, 0, 5])
    assert documents.choose(corpus_of(5), found.prediction.coding, found) == [2, 1, 0, 4, 3]


def test_scores_of_classes_are_scikit_learn_s():
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    rng = np.random.default_rng(0)
    names_ = np.array(["a", "b", "c"])
    true, predicted = names_[rng.integers(0, 3, 60)], names_[rng.integers(0, 3, 60)]
    evaluation = evaluation_of(coding_of(), true.tolist(), predicted.tolist(), np.zeros((60, 3)))
    found = outcome.outcome_of(evaluation, evaluation.prediction.coding)
    assert found.confusion == confusion_matrix(true, predicted).tolist()
    expected = np.array(precision_recall_fscore_support(true, predicted)[:3]).T
    scores = [[one.scores[name] for name in ("precision", "recall", "f1")] for one in found.classes]
    np.testing.assert_allclose(scores, expected)
    right = (true == predicted).mean()
    assert evaluation.standard_error() == pytest.approx(np.sqrt(right * (1 - right) / 60), rel=0.15)


@pytest.mark.parametrize("task", ["real", "multilabel"])
def test_standard_errors_are_those_of_leaving_documents_out(task):
    corpus = corpus_of(real=True)
    if task == "multilabel":
        tags = np.random.default_rng(0).integers(0, 2, (24, 3)) | np.eye(3, dtype=int)[np.arange(24) % 3]
        corpus = ps.Corpus.from_counts(corpus.counts().toarray(), responses=tags)
    loss = "gaussian" if task == "real" else "hinge"
    fitted = ps.fit(corpus, ps.Model(2, loss=loss), sweeps=8)
    found = fitted.evaluate(corpus)
    labels, truth = np.asarray(found.prediction.labels), np.asarray(found.truth)
    left = []
    for d in range(24):
        rows = np.delete(np.arange(24), d)
        part = {name: getattr(found.prediction, name)[rows] for name in ("f", "zbar", "theta")}
        bare = {"labels": labels[rows], "probabilities": None, "calibrated": None}
        left.append(metrics.evaluate(replace(found.prediction, **part, **bare), truth[rows])[found.main_name])
    expected = np.sqrt(23 / 24 * np.sum((left - np.mean(left)) ** 2))
    assert found.standard_error() == pytest.approx(expected)


def test_how_sure_is_held_against_how_often_it_is_right():
    p = np.array([[0.97, 0.02, 0.01]] * 40 + [[0.6, 0.3, 0.1]] * 10)
    true = ["a"] * 38 + ["b"] * 2 + ["a"] * 6 + ["c"] * 4
    found = evaluation_of(coding_of(), true, ["a"] * 50, np.zeros((50, 3)), probabilities=p)
    rows = outcome.reliability(found)
    assert [(low, high, n) for low, high, n, *_ in rows] == [(0.5, 0.7, 10), (0.95, 1.0, 40)]
    assert [row[3:] for row in rows] == [pytest.approx((0.6, 0.6)), pytest.approx((0.97, 0.95))]


def test_what_is_said_of_probabilities_has_a_direction():
    p = np.array([[0.97, 0.02, 0.01]] * 40 + [[0.6, 0.3, 0.1]] * 10)
    true = ["a"] * 36 + ["b"] * 4 + ["a"] * 5 + ["c"] * 5
    fitted = ps.fit(corpus_of(), ps.Model(2, loss="multinomial"), sweeps=2)
    found = evaluation_of(fitted.coding, true, ["a"] * 50, np.zeros((50, 3)), probabilities=p)
    line = verdict.how_sure(fitted, found, outcome.reliability(found))
    assert line.answer == "roughly: it is a little too sure"
    assert line.reason.endswith("Where it is 90 % sure or more, 90 % of 40 are right.")


def test_drawn_variances_are_said():
    fitted = ps.fit(corpus_of(), ps.Model(2, loss="multinomial"), sweeps=8)
    means = sorted(fitted.variances()["mean"])
    ((group, text),) = weights.variances_of(fitted, fitted.parts)
    assert group == "topics" and text.startswith(texts.number(float(np.mean(means))))
    assert all(texts.number(m) in text for m in (means[0], means[-1]))
    assert text in fitted.report()
    fixed = ps.fit(corpus_of(), ps.Model(2, loss="hinge"), sweeps=8)
    assert weights.variances_of(fixed, fixed.parts) == []


def test_a_file_of_a_part_has_its_folder_s_name():
    assert page._file_name(Path("20ng_counts/train.svm.gz")) == "20ng_counts"
    assert page._file_name(Path("a/news.jsonl")) == "news.jsonl"
    assert page._file_name(Path("train.csv")) == "train.csv"


def test_topics_are_those_of_the_posterior():
    corpus = corpus_of()
    result = ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=20)
    found = topics.topics_of(result, list(result.parts), corpus, "relevance")
    table = result.topics()
    assert [row.number for row in found.rows] == table["topic"].tolist()
    assert [row.share for row in found.rows] == table["share"].tolist()
    assert [row.words for row in found.rows] == list(table["words"])
    mean = result.eta.mean(axis=0)
    for row in found.rows:
        assert sorted(w.mean for w in row.weights) == pytest.approx(sorted(mean[:, row.number]))
        assert all(w.low <= w.mean <= w.high for w in row.weights)
        assert all(w.mean > 0 for w in row.pro) and all(w.mean < 0 for w in row.contra)
        shown = found.data["rows"][row.key]
        assert [d[0] for d in shown["d"]] == list(result.documents(row.number, n=3)["id"])
        # the words of the slider hold those of every weight of probability
        probability = [found.data["words"][w] for w in shown["w"][:3]]
        assert (
            probability
            == result.topics(words=3, by="probability").row(table["topic"].tolist().index(row.number))[
                "words"
            ]
        )


def test_the_map_keeps_distances_of_a_plane():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(7, 2))
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))
    places, kept = topics.scaled(distance)
    again = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))
    np.testing.assert_allclose(again, distance, atol=1e-9)
    assert kept == pytest.approx(1.0)


def test_distances_of_topics_are_those_of_scipy():
    from scipy.spatial.distance import jensenshannon

    phi = np.random.default_rng(2).dirichlet(np.full(9, 0.3), size=5)
    found = topics.distances(phi)
    for i in range(5):
        for j in range(5):
            expected = 0.0 if i == j else jensenshannon(phi[i], phi[j], base=2)
            assert found[i, j] == pytest.approx(expected, abs=1e-7)


def test_words_of_a_document_add_up_to_its_prediction():
    corpus = corpus_of()
    fitted = ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=12)
    parts = list(fitted.parts)
    (why,) = explanations.explain(parts, fitted, corpus, [7])
    effects, pro, contra = documents._effects(why, parts, corpus, fitted.predict(corpus), 7)
    assert pro == why.predicted != contra
    names = list(map(str, fitted.coding.classes))
    eta, prediction = fitted.eta.mean(axis=0), fitted.predict(corpus)
    phi, theta = fitted.phi.astype(float), prediction.theta[7]
    share = phi * theta[:, None] / (theta @ phi)
    counts = corpus.counts()[[7]].toarray()[0]
    expected = (eta[names.index(pro)] - eta[names.index(contra)]) @ (share @ counts) / counts.sum()
    assert sum(value * n for _, value, n in effects) == pytest.approx(expected)


def test_a_text_is_shown_with_its_words_tinted():
    corpus = corpus_of()
    fitted = ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=12)
    text = "Before W0, w1;\n\u202ew2 and unknown."
    made = {"test": corpus}, ["7"], None, {"7": text}
    found = documents.documents_of(fitted, list(fitted.parts), *made)
    ((*_, is_text, pieces),) = found["full"]
    assert is_text
    assert "".join(text for text, *_ in pieces) == text.replace("\u202e", " ").replace("\n", " ")
    assert {text for text, *shade in pieces if shade} <= {"W0", "w1", "w2"}


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.0, 3, "0.00"), (0.721, 3, "0.721"), (-12.345, 3, "−12.3"), (1234.5, 3, "1,234"), (None, 3, "–"),
     (float("nan"), 3, "–"), (1.5e-7, 3, "1.50e−07"), (-2.5e8, 3, "−2.50e+08"), (1234567, 3, "1,234,567")],
)  # fmt: skip
def test_numbers(value, digits, text):
    assert texts.number(value, digits) == text


def test_the_first_sweeps_do_not_set_the_scale():
    sweeps, values = np.arange(1, 101.0), np.r_[np.full(5, -90e3), np.linspace(-15e3, -14e3, 95)]
    chart = chains._chart("log joint", [("s0", sweeps, values)], 50, 100)
    assert chart.drawn_from == 11 and "−90" not in chart.drawn and "−14.0k" in chart.drawn
    path = chart.drawn.partition('class="line s0"')[0].rpartition(' d="')[2]
    assert path.count("M") == 1 and path.count("L") > 90  # from where they come into sight
    flat = chains._chart("beta", [("s0", sweeps, np.sin(sweeps))], 50, 100)
    assert flat.drawn_from is None


def test_ticks_are_told_apart():
    assert texts.compact([-20e3, -10e3, 0.0]) == ["−20k", "−10k", "0"]
    from plugsamp.report.svg import extent, ticks

    for low, high in ((-1.32e6, -1.29e6), (0.0, 1e-5), (0.51, 0.52), (-3.0, 8e9), (5.0, 5.0), (0.0, 0.0)):
        values = ticks(*extent([low, high]))
        written = texts.compact(values)
        assert 2 <= len(values) <= 8 and len(set(written)) == len(written), (values, written)
