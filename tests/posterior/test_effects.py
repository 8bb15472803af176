"""Effects of fields on topics: pooling and regressions by other formulas, coverage by simulation."""

import numpy as np
import pytest
from scipy import stats

import plugsamp as ps
from plugsamp.errors import InputError
from plugsamp.posterior.design import design
from plugsamp.posterior.effects import effects, effects_of_draws, pooled, proportions, regressions
from plugsamp.prediction.fold_in import FoldIn

DELTA = np.array([0.2, -0.1, -0.1, 0.0])


def corpus(seed: int, n: int = 120, tokens: int = 80, n_words: int = 60, **fields):
    """Documents whose field x, where it is "yes", moves the mean proportions by DELTA; and the topics."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.1), 4)
    x = rng.permutation(np.arange(n) < 0.4 * n).astype(int)  # "no" is the most frequent, and so the reference
    means = np.array([0.4, 0.3, 0.2, 0.1]) + np.outer(x, DELTA)
    theta = np.array([rng.dirichlet(3.0 * mean) for mean in means])
    counts = np.array([rng.multinomial(rng.integers(tokens // 2, 2 * tokens), t @ phi) for t in theta])
    fields = {"x": np.where(x == 1, "yes", "no"), **{name: make(rng, n) for name, make in fields.items()}}
    return ps.Corpus.from_counts(counts, fields=fields), phi


def fold_in(phi) -> FoldIn:
    words = tuple(f"w{i}" for i in range(phi.shape[1]))
    return FoldIn(phi.astype(np.float32), np.full(len(phi), 0.75), words, 6, 2, 16, "effects")


def test_pooling_is_rubins():
    rng = np.random.default_rng(0)
    q, u = rng.normal(size=(7, 3)), rng.uniform(1, 2, (7, 3))
    found = pooled(q, u, 50)
    for j in range(3):
        mean = sum(q[:, j]) / 7
        between = sum((q[:, j] - mean) ** 2) / 6
        total = sum(u[:, j]) / 7 + between + between / 7
        share = (between + between / 7) / total
        by_draws, by_documents = 6 / share**2, 51 / 53 * 50 * (1 - share)
        freedom = 1 / (1 / by_draws + 1 / by_documents)
        assert found.estimate[j] == pytest.approx(mean) and found.se[j] ** 2 == pytest.approx(total)
        assert found.freedom[j] == pytest.approx(freedom)
        half = stats.t(freedom).isf(0.05) * total**0.5
        assert found.interval(0.9)[1][j] == pytest.approx(mean + half)
        assert found.p_value()[j] == pytest.approx(2 * stats.t(freedom).cdf(-abs(mean) / total**0.5))
    same = pooled(np.ones((5, 1)), np.ones((5, 1)), 50)  # nothing between draws: those of one regression
    assert same.freedom[0] == pytest.approx(51 / 53 * 50) and same.se[0] == 1
    with pytest.raises(ValueError, match="two draws or more"):
        pooled([1.0], [1.0], 5)


def test_regressions_are_those_of_normal_equations():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])
    draws = rng.uniform(size=(3, 40, 5))
    estimates, variances = regressions(X, draws)
    bread = np.linalg.inv(X.T @ X)
    hat = np.diag(X @ bread @ X.T)
    for m in range(3):
        for k in range(5):
            b = np.linalg.lstsq(X, draws[m, :, k], rcond=None)[0]
            residual = (draws[m, :, k] - X @ b) / (1 - hat)
            np.testing.assert_allclose(estimates[m, :, k], b)
            covariance = bread @ (X.T * residual**2) @ X @ bread
            np.testing.assert_allclose(variances[m, :, k], np.diag(covariance))


def test_a_document_alone_in_its_category_has_no_standard_error():
    X = np.column_stack([np.ones(20), np.arange(20) == 3, np.arange(20) % 2])
    estimates, variances = regressions(X, np.random.default_rng(2).uniform(size=(2, 20, 1)))
    assert np.isnan(variances[:, 1]).all() and np.isfinite(variances[:, [0, 2]]).all()
    assert np.isfinite(estimates).all()


def test_fields_become_columns():
    documents, _ = corpus(
        3,
        year=lambda rng, n: np.append(rng.integers(1990, 2020, n - 1).astype(float), np.nan),
        old=lambda rng, n: (rng.random(n) < 0.5).tolist(),
    )
    found = design(["x", "year", "old"], documents)
    old = [str(value).lower() for value in documents.fields["old"][:119]]
    rare, often = sorted(("true", "false"), key=old.count)
    assert found.references["old"] == often
    assert found.terms == ("Intercept", "x=yes", "year", f"old={rare}")
    assert found.references["x"] == "no" and len(found.rows) == 119
    np.testing.assert_array_equal(found.matrix[:, 1], documents.fields["x"][:119] == "yes")
    pytest.importorskip("formulaic")
    same = design("~ x + year + old", documents)
    np.testing.assert_array_equal(same.rows, found.rows)
    assert set(same.terms) == set(found.terms) and same.references == found.references
    order = [same.terms.index(term) for term in found.terms]
    np.testing.assert_allclose(same.matrix[:, order], found.matrix)
    crossed = design("x * year", documents)
    assert crossed.terms == ("Intercept", "x=yes", "year", "x=yes:year")
    np.testing.assert_allclose(crossed.matrix[:, 3], crossed.matrix[:, 1] * crossed.matrix[:, 2])


@pytest.mark.parametrize(
    "fields, message",
    [
        ("z", r"no field 'z'; their fields are 'x', 'one', 'tags', 'twice'"),
        ("one", r"the term 'one' is the same for all documents"),
        ("tags", r"the field 'tags' of document '0' holds a list"),
        (["x", "twice"], r"the term 'twice=yes' follows from the terms before it"),
        ("x * z", r"no field 'z'"),
        ("x ~ one", r"has a left side"),
        ("x + ", r"cannot be used"),
        ([], r"fields must be a field"),
    ],
)
def test_fields_that_have_no_effect(fields, message):
    documents, _ = corpus(4)
    x = documents.fields["x"].tolist()
    named = {"x": x, "one": [1] * 120, "tags": [("a",)] * 120, "twice": x}
    documents = ps.Corpus.from_counts(documents.counts(), fields=named)
    if isinstance(fields, str) and len(fields) > 4:
        pytest.importorskip("formulaic")
    with pytest.raises(InputError, match=message):
        design(fields, documents)


def test_the_table_of_a_model():
    documents, _ = corpus(5)
    counts = documents.counts().toarray()
    counts[7] = 0
    documents = ps.Corpus.from_counts(counts, fields={"x": documents.fields["x"], "n": np.arange(120.0)})
    predictor = ps.fit(documents, ps.Model(4, alpha=0.5, beta=0.1), sweeps=60)
    table = effects(predictor, ["x", "n"], documents)
    assert table.columns == ("topic", "term", "estimate", "se", "lower", "upper", "p") and len(table) == 12
    assert "119 documents, 25 draws given the words (1 documents without" in table.title
    assert table.title.endswith("95% intervals; x against 'no'")
    estimate = np.reshape(table["estimate"], (4, 3))
    np.testing.assert_allclose(estimate.sum(axis=0), [1, 0, 0], atol=1e-6)  # proportions add up to 1
    some = effects(predictor, ["x", "n"], documents, topics=[2], labels=["moons"], level=0.5)
    assert some["label"] == ["moons"] * 3 and some["topic"].tolist() == [2, 2, 2]
    np.testing.assert_allclose(some["estimate"], estimate[2])
    assert (some["upper"] < table["upper"][6:9]).all()
    with pytest.raises(InputError, match="topics must be numbers from 0 to 3"):
        effects(predictor, "x", documents, topics=[4])
    with pytest.raises(ValueError, match="level must lie between"):
        effects(predictor, "x", documents, level=95)


def test_draws_that_do_not_fit_in_memory(monkeypatch):
    documents, phi = corpus(6)
    monkeypatch.setattr("plugsamp.system.memory.available_bytes", lambda: 10_000)
    with pytest.raises(InputError, match=r"25 draws of 4 topics for 120 documents need 47 kB.*10 kB are"):
        proportions(fold_in(phi), documents, 25, np.arange(4))


def hits(seed: int, n: int) -> np.ndarray:
    """Whether the interval of topic 0 holds its effect, for n simulated corpora with known topics."""
    found = []
    for i in range(n):
        documents, phi = corpus(seed + i)
        drawn, known = proportions(fold_in(phi), documents, 25, np.arange(4))
        table = effects_of_draws(drawn[:, known], design("x", documents.take(known)))
        found.append(table["lower"][1] <= DELTA[0] <= table["upper"][1])
    return np.array(found)


@pytest.mark.slow
def test_intervals_hold_the_effect(chance):
    """Of 95 % intervals 90 % or more do; half as wide they would hold it in 67 %."""
    chance.holds(lambda seed, scale: stats.binom.cdf(hits(seed, 60 * scale).sum(), 60 * scale, 0.9), seed=1)
