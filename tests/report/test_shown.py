"""What a report shows is right: terms, scores, topics, numbers and scales."""

from __future__ import annotations

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.posterior import explanations
from plugsamp.posterior.parts import model_parts
from plugsamp.report import chains, explain, folder, texts, topics


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
    fitted = ps.fit(corpus, ps.Model(3, loss=loss), sweeps=12, multiclass=multiclass).predictor
    members = model_parts(fitted)
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
    fitted = ps.fit(corpus, ps.Model(3, loss="gaussian", standardise=True), sweeps=12).predictor
    (found,) = explanations.explain(model_parts(fitted), fitted, corpus, [1])
    value = fitted.coding.center[0] + fitted.coding.scale[0] * found.blocks[0].totals[0]
    assert value == pytest.approx(fitted.predict(corpus).labels[1, 0])


def test_words_are_given_to_topics_in_full():
    corpus = corpus_of()
    fitted = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=12).predictor
    (found,) = explanations.explain(model_parts(fitted), fitted, corpus, [0])
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


def test_mistakes_come_first():
    coding = ps.fit(corpus_of(), ps.Model(2, loss="hinge"), sweeps=2).predictor.coding
    table = folder.Table(
        ["id", "true", "predicted", "score_a", "score_b", "score_c", "n_known"],
        [
            ["0", "a", "a", "1", "0", "0", "5"],
            ["1", "a", "b", "0", "1", "0", "5"],
            ["2", "c", "b", "0", "9", "1", "5"],
            ["3", "c", "b", "0", "9", "1", "0"],
            ["4", "", "b", "0", "9", "1", "5"],
        ],
    )
    corpus = corpus_of(5)
    assert explain.choose(corpus, coding, table) == [2, 1, 0, 4, 3]


def test_scores_of_classes_are_scikit_learn_s(at):
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    from plugsamp.report.outcome import outcome_of

    rng = np.random.default_rng(0)
    names_ = np.array(["a", "b", "c"])
    true, predicted = names_[rng.integers(0, 3, 60)], names_[rng.integers(0, 3, 60)]
    table = folder.Table(
        ["true", "predicted"], [list(map(str, row)) for row in zip(true, predicted, strict=True)]
    )
    coding = ps.fit(corpus_of(), ps.Model(2, loss="hinge"), sweeps=2).predictor.coding
    found = outcome_of(table, coding)
    assert [[cell.n for cell in row] for row in found.confusion] == confusion_matrix(true, predicted).tolist()
    expected = np.array(precision_recall_fscore_support(true, predicted)[:3]).T
    np.testing.assert_allclose([[s.precision, s.recall, s.f1] for s in found.scores], expected)


def test_topics_of_the_chain_and_of_predictions_have_the_same_words():
    corpus = corpus_of()
    result = ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=20)
    (model,) = topics.models(model_parts(result.predictor), corpus, result.predictor.predict(corpus), None)
    assert sorted(t.number for t in model.topics) == [0, 1, 2]
    assert sum(t.share for t in model.topics) == pytest.approx(1.0)
    eta = result.predictor.eta
    for topic in model.topics:
        for weight in topic.weights:
            c = list(result.predictor.coding.classes).index(weight.output)
            assert weight.mean == pytest.approx(np.mean(eta[:, c, topic.number]))
            assert weight.low <= weight.mean <= weight.high
        assert len(topic.documents) == 3
        assert topic.documents[0].share >= topic.documents[-1].share


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
