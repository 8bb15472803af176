"""The predictive distribution: mixtures over kept draws, in the user's units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from plugsamp.corpus import Corpus
from plugsamp.fitting.fit import fit
from plugsamp.fitting.recording import Recording
from plugsamp.losses import Gaussian, Hinge, Logistic, Probit
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding, code_real
from plugsamp.model import Model
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.saved import load_model, save_model
from plugsamp.prediction.evaluation import evaluate
from plugsamp.prediction.predictive import Predictive

VARIANCE = np.array([[0.5, 1.0], [2.0, 0.3], [0.8, 0.1]])


def named(*labels):
    classes = np.empty(len(labels), dtype=object)
    classes[:] = labels
    return classes


def real(n_outputs=2, **units):
    return Coding(np.empty((0, n_outputs)), "real", named(*"uvw"[:n_outputs]), **units)


def predictor(loss=None, n_topics=3, n_words=12, **options):
    """Three kept draws of two real responses."""
    rng = np.random.default_rng(0)
    coding = options.get("coding", real())
    loss = loss if loss is not None else Gaussian()
    arguments = {
        "phi": rng.dirichlet(np.full(n_words, 0.3), n_topics),
        "eta": rng.normal(0, 2, size=(3, coding.n_outputs, n_topics)),
        "alpha": np.full(n_topics, 0.4),
        "loss": loss,
        "coding": coding,
        "vocabulary": [f"w{i}" for i in range(n_words)],
    }
    if loss.start(1):
        arguments["parameters"] = {"variance": VARIANCE[:, : coding.n_outputs]}
    return Draws(**arguments | options)


def documents(n_documents=6, n_words=12):
    counts = np.random.default_rng(1).poisson(0.7, size=(n_documents, n_words))
    counts[2] = 0
    return Corpus.from_counts(counts, require_tokens=False)


def components(found):
    """(loss bound to a kept draw, f (D, C)) of every component of the mixture."""
    ((_, parts),) = found.predictive.mixtures()
    return [(bound, one) for bound, f in parts for one in f]


def mixture_of(model, found, d, c):
    """Means and standard deviations of the mixture for one document."""
    pairs = components(found)
    assert len(pairs) >= 64
    return (
        np.array([f[d, c] for _, f in pairs]),
        np.sqrt([bound.parameters["variance"][c] for bound, _ in pairs]),
    )


def test_components_pair_kept_draws_with_draws_of_the_topics():
    model = predictor()
    found = model.predict(documents())
    draws = found.predictive.draw_topics(0, 6)
    possible = np.einsum("sck,rdk->srdc", model.eta, draws).reshape(-1, 12)
    for _, f in components(found):
        assert np.abs(possible - f.ravel()).max(axis=1).min() < 1e-6


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_intervals_are_quantiles_of_the_mixture(level):
    model, corpus = predictor(), documents()
    found = model.predict(corpus)
    assert found.calibrated is True
    ends = found.interval(level)
    assert ends.shape == (6, 2, 2)
    for d in range(6):
        for c in range(2):
            mean, sd = mixture_of(model, found, d, c)
            mass = [stats.norm.cdf(y, mean, sd).mean() for y in ends[d, c]]
            np.testing.assert_allclose(mass, [0.5 - level / 2, 0.5 + level / 2], atol=1e-8)


def test_density_is_that_of_the_mixture_and_integrates_to_one():
    model = predictor(coding=real(center=np.array([10.0, 0.0]), scale=np.array([3.0, 1.0])))
    found = model.predict(documents())
    y = np.random.default_rng(2).normal(5, 5, (6, 2))
    y[4, 1] = np.nan
    density = found.predictive.log_density(y)
    assert np.isnan(density[4, 1]) and np.isfinite(np.delete(density.ravel(), 9)).all()
    mean, sd = mixture_of(model, found, 3, 0)
    assert density[3, 0] == pytest.approx(np.log(stats.norm.pdf(y[3, 0], 10 + 3 * mean, 3 * sd).mean()))
    one = lambda v: float(np.exp(found.predictive.log_density(np.full((6, 2), v))[0, 0]))  # noqa: E731
    assert integrate.quad(one, -60, 80, limit=200)[0] == pytest.approx(1.0, abs=1e-5)


def test_units_of_the_user():
    plain, corpus = predictor(), documents()
    scaled = predictor(coding=real(center=np.array([1990.0, -3.0]), scale=np.array([4.0, 0.5])))
    # the digest keys the streams, and units are part of it
    assert scaled.digest != plain.digest
    found = scaled.predict(corpus)
    np.testing.assert_allclose(found.labels, found.f * [4.0, 0.5] + [1990.0, -3.0])
    ends = found.interval(0.9)
    assert (ends[..., 0] < found.labels).all() and (found.labels < ends[..., 1]).all()
    mean, sd = mixture_of(scaled, found, 0, 0)
    mass = stats.norm.cdf((ends[0, 0] - 1990.0) / 4.0, mean[:, None], sd[:, None]).mean(axis=0)
    np.testing.assert_allclose(mass, [0.05, 0.95], atol=1e-8)


def test_draws_of_topics_are_around_their_mean_and_the_priors_without_words():
    model = predictor().with_options(restarts=100, passes=18)
    found = model.predict(documents())
    draws = found.predictive.draw_topics(0, 6)
    assert draws.shape == (7 * 256, 6, 3)
    known = found.n_known > 0
    np.testing.assert_allclose(draws[:, known].mean(axis=0), found.zbar[known], atol=0.12)
    counts = draws[:, known] * found.n_known[known][:, None]
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-4)  # whole tokens
    np.testing.assert_allclose(draws[:, ~known], 1 / 3)
    np.testing.assert_array_equal(found.predictive.draw_topics(1, 4), draws[:, 1:4])


def test_an_interval_does_not_depend_on_company():
    model, corpus = predictor(), documents()
    together = model.predict(corpus).interval()
    for row in (0, 2, 5):
        alone = model.predict(corpus.take([row])).interval()
        np.testing.assert_array_equal(alone[0], together[row])


@pytest.mark.parametrize("scale", [1e-9, 1e12])
def test_any_scale_of_noise(scale):
    model = predictor(Gaussian(scale**2), coding=real(1), eta=np.zeros((1, 1, 3)))
    ends = model.predict(documents()).interval(0.9)
    np.testing.assert_allclose(ends[:, 0, 1] / scale, 1.6448536, rtol=1e-6)
    np.testing.assert_allclose(ends[:, 0, 0] / scale, -1.6448536, rtol=1e-6)


def test_what_has_no_interval_says_why():
    coding = Coding(np.empty((0, 1)), "binary", named("a", "b"))
    corpus = documents()
    hinge = predictor(Hinge(), coding=coding).predict(corpus)
    assert hinge.calibrated is None
    with pytest.raises(ValueError, match="intervals are for real responses, these are binary"):
        hinge.interval()

    class Scores(Hinge):
        def code(self, responses, names=None):
            return code_real(responses, names)

    with pytest.raises(ValueError, match="no likelihood of a real response"):
        predictor(Scores()).predict(corpus).interval()
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        predictor().predict(corpus).interval(90)


@pytest.mark.parametrize("cost, likelihood", [(1.0, True), (256.0, False)])
def test_probabilities_decide_and_say_what_they_are(cost, likelihood):
    coding = Coding(np.empty((0, 3)), "multiclass", named("x", "y", "z"))
    model = predictor(Logistic(cost), coding=coding)
    found = model.predict(documents())
    assert found.likelihood is likelihood and found.calibrated is False  # three binary models
    own = np.mean([expit(f) for _, f in components(found)], axis=0)
    expected = own / own.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.probabilities, expected, rtol=1e-8)
    assert found.labels.tolist() == ["xyz"[i] for i in expected.argmax(axis=1)]


def test_several_labels_are_those_above_one_half():
    coding = Coding(np.empty((0, 3)), "multilabel", named("x", "y", "z"))
    found = predictor(Probit(), coding=coding).predict(documents())
    np.testing.assert_array_equal(found.labels, found.probabilities > 0.5)


class Counts(Loss):
    """A loss of counts with a parameter; its mean is no linear predictor."""

    calibrated = True

    def code(self, responses, names=None):
        return replace(code_real(responses, names), task="count")

    def start(self, n_outputs):
        return {"variance": np.ones(n_outputs)}

    def augment(self, f, y, rng, weight=None, parameters=None):
        raise NotImplementedError

    def log_psi(self, y, f, parameters=None):
        return stats.poisson.logpmf(y, self.mean(f, parameters))

    def mean(self, f, parameters=None):
        return parameters["variance"] * np.exp(f)

    def cdf(self, y, f, parameters=None):
        return stats.poisson.cdf(y, self.mean(f, parameters))


def test_counts():
    model = predictor(Counts(), coding=Coding(np.empty((0, 1)), "count", named("n")))
    found = model.predict(documents())
    each = [bound.mean(f) for bound, f in components(found)]
    np.testing.assert_allclose(found.labels, np.mean(each, axis=0), rtol=1e-9)
    ends = found.interval(0.9)
    np.testing.assert_array_equal(ends, np.rint(ends))
    rates = [bound.mean(f)[0, 0] for bound, f in components(found)]
    for end, p in zip(ends[0, 0], (0.05, 0.95), strict=True):
        assert stats.poisson.cdf(end, rates).mean() >= p > stats.poisson.cdf(end - 1, rates).mean()


def test_parameters_are_kept_checked_and_in_the_digest(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.normal([50.0, 0.0], 1.0, (20, 2))
    corpus = Corpus.from_counts(rng.poisson(1.0, (20, 5)), responses=y)
    model = Model(2, loss=Gaussian(), standardise=True)
    result = fit(corpus, model, sweeps=6, burn_in=2, thin=1)
    kept = result.parts[0]
    assert kept.parameters["variance"].shape == (4, 2)
    np.testing.assert_array_equal(kept.parameters["variance"][-1], result.chain.parameters["variance"])
    assert len(np.unique(kept.parameters["variance"])) == 8
    loaded = load_model(save_model(tmp_path / "model", kept, model))
    assert loaded.digest == kept.digest
    before, after = kept.predict(corpus), loaded.predict(corpus)
    np.testing.assert_array_equal(before.labels, after.labels)
    assert 45 < after.labels[:, 0].mean() < 55  # the user's units
    np.testing.assert_array_equal(before.interval(), after.interval())
    assert replace(kept, parameters={"variance": 2 * kept.parameters["variance"]}).digest != kept.digest
    with pytest.raises(ValueError, match="read-only"):
        kept.parameters["variance"][0] = 1.0
    with pytest.raises(ValueError, match=r"parameter variance of shape \(3, 2\), expected \(4, 2\)"):
        replace(kept, parameters={"variance": kept.parameters["variance"][:3]})
    with pytest.raises(ValueError, match="has the parameters variance, given are scale"):
        replace(kept, parameters={"scale": kept.parameters["variance"]})


def test_weights_of_another_regression_have_labels_alone():
    bare = predictor(parameters={}, source="estimate")
    found = bare.predict(documents())
    assert found.calibrated is None
    np.testing.assert_array_equal(found.labels, found.f)
    with pytest.raises(ValueError, match="has the parameters variance, given are none"):
        predictor(parameters={})
    with pytest.raises(ValueError, match="source must be one of posterior, weighted, estimate, not 'guess'"):
        predictor(source="guess")


def test_a_keeper_copies_the_parameters():
    from plugsamp.chain import Chain

    rng = np.random.default_rng(4)
    corpus = Corpus.from_counts(rng.poisson(1.0, (10, 4)), responses=rng.normal(size=10))
    chain = Chain(corpus, Model(2, loss="gaussian"), seed=0)
    keeper = Recording(chain)
    drawn = []
    for _ in chain.sweeps(3):
        keeper.keep()
        drawn.append(chain.parameters["variance"].copy())
    np.testing.assert_array_equal(keeper.draws().parameters["variance"], drawn)


@pytest.mark.parametrize("length", [8, pytest.param(30, marks=pytest.mark.slow)])
def test_intervals_cover_what_they_say(length):
    """Of new documents as those fitted, 90 % of the responses lie inside.

    With 8 tokens they do because the mixture runs over draws of the document's topics, too.
    """
    rng = np.random.default_rng(5)
    phi = rng.dirichlet(np.full(40, 0.1), 3)
    theta = rng.dirichlet(np.full(3, 0.5), 3000)
    z = np.array([rng.choice(3, length, p=t) for t in theta])
    words = (rng.random(z.shape)[..., None] > np.cumsum(phi, axis=1)[z]).sum(axis=2).clip(max=39)
    counts = np.array([np.bincount(w, minlength=40) for w in words])
    zbar = np.array([np.bincount(row, minlength=3) for row in z]) / length
    y = zbar @ [4.0, -3.0, 0.5] + rng.normal(0, 0.5, 3000)
    train = Corpus.from_counts(counts[:1000], responses=y[:1000])
    test = Corpus.from_counts(counts[1000:], responses=y[1000:])
    model = Model(3, alpha=0.5, beta=0.1, loss=Gaussian())
    model.weights = type(model.weights)(variance=10.0)
    found = evaluate(fit(train, model, sweeps=200, seed=1), test)
    assert 0.87 < found.measures["coverage_90"] < 0.93
    assert isinstance(found.prediction.predictive, Predictive)
