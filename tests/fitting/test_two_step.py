"""Topics without responses, then a regression."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.fitting import fixed_features as regression
from plugsamp.fitting.second_step import SecondStep
from plugsamp.fitting.two_step import without_responses
from plugsamp.losses.coding import code_classes, code_real

from ..regression.moments import moments_p_value


def corpus(n=60, responses=None, seed=0, **given):
    """Two kinds of documents, by halves of the vocabulary."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    counts = rng.poisson(0.3, (n, 8))
    for d in range(n):
        counts[d, 4 * kind[d] : 4 * kind[d] + 4] += rng.poisson(4.0, 4)
    labels = np.array(["ham", "spam"])[kind] if responses is None else responses(kind, rng)
    return ps.Corpus.from_counts(counts, responses=labels, **given)


@pytest.mark.parametrize("name", ["same", "linear_svc", "logistic_regression"])
def test_classes(name, tmp_path):
    model = ps.Model(2, loss="hinge")
    step = SecondStep(name, sweeps=40)
    result = ps.fit(corpus(), model, sweeps=30, supervised="two_step", second_step=step)
    test = corpus(seed=1)
    prediction = result.predict(test)
    assert (prediction.labels == test.responses).mean() > 0.95
    saved = ps.save_model(tmp_path / "model", result, model)
    assert (ps.load_model(saved).predict(test).f == prediction.f).all()


def test_the_topics_are_those_of_a_model_without_responses():
    model = ps.Model(2, loss="hinge")
    result = ps.fit(corpus(), model, "dense", sweeps=7, supervised="two_step", seed=3)
    plain = ps.Chain(corpus(), without_responses(model), "dense", seed=3).run(7)
    assert (result.chain.z == plain.z).all()
    assert result.chain.coding.n_outputs == 0


@pytest.mark.parametrize("name", ["same", "ridge"])
def test_real_responses_with_covariates(name):
    x = np.random.default_rng(5).standard_normal((60, 1))

    def responses(kind, rng):
        return 3.0 * kind + 2.0 * x[:, 0] + 0.1 * rng.standard_normal(len(kind))

    train = corpus(responses=responses, covariates=x)
    model = ps.Model(2, loss="gaussian", weights=ps.priors.Normal(variance=100.0))
    step = SecondStep(name, cost=100.0)
    predictor = ps.fit(train, model, sweeps=30, supervised="two_step", second_step=step)
    predicted = predictor.predict(train).labels.reshape(-1)
    assert np.corrcoef(predicted, train.responses)[0, 1] ** 2 > 0.95
    if name == "same":  # the sampled variances of the kept draws are kept too
        assert predictor.predict(train).interval(0.9).shape == (60, 1, 2)


def test_missing_responses_and_weights():
    def responses(kind, rng):
        labels = np.array(["ham", "spam"], dtype=object)[kind]
        labels[::5] = None
        labels[1] = "ham"  # wrong, and of weight 0
        return labels

    weights = np.ones(60)
    weights[1] = 0.0
    train = corpus(responses=responses, weights=weights)
    for name in ("same", "linear_svc"):
        step = SecondStep(name, sweeps=30)
        fitted = ps.fit(train, ps.Model(2, loss="hinge"), sweeps=20, supervised="two_step", second_step=step)
        test = corpus(seed=1)
        assert (fitted.predict(test).labels == test.responses).mean() > 0.95


def test_the_same_regression_has_the_exact_posterior(chance):
    """Gaussian with a fixed variance is conjugate: moments are known."""
    rng = np.random.default_rng(2)
    topics = rng.dirichlet(np.ones(3), 40)
    y = topics @ [1.0, -2.0, 0.5] + 0.5 * rng.standard_normal(40)
    features = regression.Features(topics, rng.standard_normal((40, 1)), True)
    loss, prior = ps.losses.Gaussian(variance=0.25), ps.priors.Normal(variance=2.0)
    u = np.column_stack([topics, features.covariates, np.ones(40)])
    precision = u.T @ u / 0.25 + np.diag(prior.precision({}, 0, features.columns))
    covariance = np.linalg.inv(precision)
    mean = covariance @ u.T @ y / 0.25

    def p_value(seed, scale):
        n = 4000 * scale
        draws, _, _ = regression.sample(
            features, code_real(y), loss, prior, sweeps=n, kept=range(1, n + 1), seed=seed
        )
        return moments_p_value(draws[:, 0], mean, covariance)

    chance.holds(p_value)


def test_a_label_that_nobody_has_is_never_predicted():
    table = np.zeros((10, 2))
    table[:5, 0] = 1
    features = regression.Features(np.repeat(np.eye(2), 5, axis=0), None, True)
    eta = regression.fit_linear(features, code_classes(table), "linear_svc")
    assert eta[0, 1].tolist() == [0, 0, -1]


@pytest.mark.parametrize(
    "loss, step, message",
    [
        ("hinge", {"regression": "ridge"}, "ridge does not fit multiclass|ridge does not fit binary"),
        ("hinge", {"regression": "tree"}, "second_step: regression must be one of same"),
        ("hinge", {"cost": 0.0}, "second_step: cost must be"),
        ("hinge", {"sweeps": 1}, "second_step: sweeps must be a whole number, 2"),
    ],
)
def test_what_does_not_fit_is_said(loss, step, message):
    with pytest.raises(ValueError, match=message):
        wrong = SecondStep(**step)
        ps.fit(corpus(), ps.Model(2, loss=loss), sweeps=4, supervised="two_step", second_step=wrong)


def test_a_way_that_does_not_exist():
    with pytest.raises(ValueError, match="joint or two_step, not 'both'"):
        ps.fit(corpus(), ps.Model(2, loss="hinge"), sweeps=4, supervised="both")


@pytest.mark.parametrize("loss", [ps.losses.Logistic(cost=1.0), ps.losses.Probit()])
def test_only_the_same_regression_gives_probabilities(loss):
    """Margins of a linear model are no linear predictors of the loss, so nothing calibrates them."""
    train = corpus()
    found = {}
    for name in ("same", "linear_svc", "logistic_regression"):
        step = SecondStep(name, sweeps=20)
        fit = ps.fit(train, ps.Model(2, loss=loss), sweeps=10, supervised="two_step", second_step=step)
        prediction = fit.predict(train)
        found[name] = prediction.calibrated, prediction.probabilities is not None
    assert found == {"same": (True, True), "linear_svc": (None, False), "logistic_regression": (None, False)}


def test_weighted_documents_leave_scores():
    """psi to a power is no likelihood, in the second step as in a joint model."""
    train = corpus().with_weights(np.where(np.arange(60) < 30, 1.0, 2.0))
    model = ps.Model(2, loss=ps.losses.Logistic(cost=1.0))
    for options in ({}, {"supervised": "two_step", "second_step": SecondStep(sweeps=20)}):
        prediction = ps.fit(train, model, sweeps=10, **options).predict(train)
        assert prediction.calibrated is False and prediction.probabilities is not None
