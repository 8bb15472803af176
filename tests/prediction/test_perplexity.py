"""The probability of held-out words against enumerations."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

import plugsamp as ps
from plugsamp.prediction.evaluation import evaluate
from plugsamp.prediction.perplexity import document_completion, left_to_right

from ..chance import of_mean

PHI = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.1, 0.2, 0.6]])
ALPHA = np.array([0.8, 0.3])
WORDS = ("a", "b", "c", "d")


@pytest.fixture
def predictor():
    """A model with known topics."""
    corpus = ps.Corpus.from_counts(np.eye(4, dtype=int), vocabulary=WORDS)
    made = ps.fit(corpus, ps.Model(2, alpha=ALPHA), sweeps=2)
    from dataclasses import replace

    return replace(made.parts[0], phi=PHI, restarts=400)


def documents(*texts):
    counts = np.array([[text.count(w) for w in WORDS] for text in texts])
    return ps.Corpus.from_counts(counts, vocabulary=WORDS, require_tokens=False)


def exact(text) -> float:
    """log p(text | phi, alpha), over all assignments."""
    total, n = 0.0, len(text)
    for z in product(range(2), repeat=n):
        counts = np.bincount(z, minlength=2)
        log_p = gammaln(counts + ALPHA).sum() - gammaln(ALPHA).sum()
        log_p += gammaln(ALPHA.sum()) - gammaln(n + ALPHA.sum())
        total += np.exp(log_p) * np.prod([PHI[k, WORDS.index(w)] for k, w in zip(z, text, strict=True)])
    return np.log(total)


def found_probability(predictor, text, seed, particles=500):
    found = left_to_right(predictor.with_options(seed=seed), documents(text), particles=particles)
    assert found.n_tokens.tolist() == [len(text)]
    return np.exp(found.log_p[0])


def test_left_to_right_of_one_token_is_exact(predictor):
    """All particles say the same."""
    probability = np.exp(exact("a"))
    for seed in range(5):
        np.testing.assert_allclose(found_probability(predictor, "a", seed), probability, rtol=1e-5)


@pytest.mark.parametrize("text", ["ad", "aabcd", "dddaab"])
def test_left_to_right_has_the_exact_probability_as_its_mean(predictor, text, chance):
    probability = np.exp(exact("".join(sorted(text))))

    def p_value(seed, scale):
        return of_mean(
            [found_probability(predictor, text, 1000 * seed + s) for s in range(60 * scale)], probability
        )

    chance.holds(p_value)


def test_left_to_right_of_nothing(predictor):
    found = left_to_right(predictor, documents("", "ab"), particles=10)
    assert found.log_p[0] == 0.0 and found.n_tokens.tolist() == [0, 2]


def test_completion_of_two_tokens_is_known(predictor):
    """One token fitted, one scored: theta is the posterior mean given the first."""
    found = document_completion(predictor, documents("ad"))
    values = []
    for fitted, scored in (("a", "d"), ("d", "a")):
        p = ALPHA * PHI[:, WORDS.index(fitted)]
        theta = (p / p.sum() + ALPHA) / (1 + ALPHA.sum())
        values.append(np.log(theta @ PHI[:, WORDS.index(scored)]))
    assert min(abs(found.log_p[0] - v) for v in values) < 0.01
    assert found.n_tokens.tolist() == [1]


def test_one_token_is_scored_by_the_prior(predictor):
    found = document_completion(predictor, documents("a", "", "d"))
    prior = ALPHA / ALPHA.sum()
    expected = [np.log(prior @ PHI[:, 0]), 0.0, np.log(prior @ PHI[:, 3])]
    np.testing.assert_allclose(found.log_p, expected, rtol=1e-5)
    assert found.perplexity == pytest.approx(np.exp(-found.log_p.sum() / 2))


def test_halves_depend_on_the_document_alone(predictor):
    alone = document_completion(predictor, documents("aabbccdd"))
    among = document_completion(predictor, documents("abcd", "aabbccdd", "ad"))
    assert alone.log_p[0] == among.log_p[1]
    assert alone.n_tokens[0] == among.n_tokens[1] == 4
    others = {document_completion(predictor, documents("aabbccdd"), seed=s).log_p[0] for s in range(6)}
    assert len(others) > 1


def test_a_better_model_is_less_perplexed():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(60, 0.05), 4)
    counts = np.array([rng.multinomial(80, rng.dirichlet(np.full(4, 0.2)) @ topics) for _ in range(240)])
    train, test = ps.Corpus.from_counts(counts[:180]), ps.Corpus.from_counts(counts[180:])
    found = [document_completion(ps.fit(train, ps.Model(k), sweeps=60), test) for k in (1, 4)]
    assert found[1].perplexity < 0.7 * found[0].perplexity
    whole = left_to_right(ps.fit(train, ps.Model(4), sweeps=60), test)
    assert whole.perplexity == pytest.approx(found[1].perplexity, rel=0.3)


def test_results_are_shown_in_a_line(predictor):
    corpus = documents(*["abcd", "aab"] * 200)
    held = document_completion(predictor, corpus)
    text = repr(held)
    assert text == str(held) and f"perplexity={held.perplexity:.2f}" in text and "n_documents=400" in text
    labelled = corpus.with_responses(["x", "y"] * 200)
    for options in ({}, {"chains": 2}, {"multiclass": "ovr"}):
        fitted = ps.fit(labelled, ps.Model(2, loss="probit"), sweeps=2, **options)
        for one in (fitted.parts[0], evaluate(fitted, labelled), fitted.coding):
            assert repr(one).startswith(f"{type(one).__name__}(") and "\n" not in repr(one)
            assert len(repr(one)) < 700
        shown = repr(fitted.predict(corpus))
        assert shown.startswith("Predictions of 400 documents") and "array" not in shown
        assert len(shown.splitlines()) <= 10
