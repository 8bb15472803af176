"""Losses: options, labels, weights, likelihoods, probabilities. Their posteriors are in tests/exactness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import log_ndtr

from plugsamp.corpus import Corpus
from plugsamp.fitting.fit import fit
from plugsamp.losses import EpsilonInsensitive, Gaussian, Hinge, Logistic, Probit
from plugsamp.losses.coding import Coding
from plugsamp.model import Model
from plugsamp.registry import resolve

from .chance import of_mean, smallest

LIKELIHOODS = [
    (EpsilonInsensitive(1.7, 0.4), {}),
    (EpsilonInsensitive(0.3, 0.0), {}),
    (Gaussian(0.6), {}),
    (Gaussian("sample"), {"parameters": {"variance": np.array([2.3])}}),
]


def named(*labels):
    classes = np.empty(len(labels), dtype=object)
    classes[:] = labels
    return classes


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Logistic(0.0), "logistic: cost must be a number above 0"),
        (lambda: Logistic(float("nan")), "logistic: cost"),
        (lambda: Logistic(float("inf")), "logistic: cost"),
        (lambda: EpsilonInsensitive(-1.0), "epsilon_insensitive: cost must be"),
        (lambda: EpsilonInsensitive(1.0, -1e-3), "epsilon_insensitive: epsilon must be 0 or a number above"),
        (lambda: EpsilonInsensitive(1.0, float("nan")), "epsilon_insensitive: epsilon"),
        (lambda: Gaussian("fixed"), 'variance must be a number or "sample"'),
    ],
)
def test_options_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "name, options",
    [("logistic", {"cost": 2.56}), ("probit", {}), ("epsilon_insensitive", {"cost": 3.0, "epsilon": 0.1})],
)
def test_registered_and_rebuilt_from_options(name, options):
    loss = resolve("losses", name, **options)
    assert loss.options() == options
    assert repr(type(loss)(**loss.options())) == repr(loss)


def test_what_is_a_likelihood():
    assert Logistic().calibrated and Logistic(1).calibrated and not Logistic(256.0).calibrated
    assert Probit().calibrated and EpsilonInsensitive().calibrated and not Hinge().calibrated


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_probit_has_an_output_a_class(n_classes):
    coding = Probit().code(np.arange(6) % n_classes)
    assert coding.task == "multiclass" and coding.n_outputs == n_classes
    np.testing.assert_array_equal((coding.y > 0).sum(axis=1), 1)


@pytest.mark.parametrize("loss, options", LIKELIHOODS, ids=repr)
def test_density_distribution_and_draws_agree(loss, options, chance):
    f = 0.7

    def density(y):
        return float(np.exp(loss.log_psi(np.array([[y]]), np.array([[f]]), **options))[0, 0])

    kinks = [f - getattr(loss, "epsilon", 0.0), f + getattr(loss, "epsilon", 0.0)]
    for y in (-3.0, 0.1, 0.5, 0.7, 0.95, 2.5):
        inside = [k for k in kinks if k < y]
        mass = integrate.quad(density, -60, y, points=[*inside, f - 5], limit=200)[0]
        found = loss.cdf(np.array([[y]]), np.array([[f]]), **options)[0, 0]
        assert found == pytest.approx(mass, abs=1e-7)
    cdf = lambda v: loss.cdf(v[:, None], np.full((len(v), 1), f), **options)[:, 0]  # noqa: E731

    def p_value(seed, scale):
        n = 50_000 * scale
        draws = loss.simulate(np.full((n, 1), f), np.random.default_rng([0, seed]), **options)
        assert draws.shape == (n, 1)
        return stats.kstest(draws[:, 0], cdf).pvalue

    chance.holds(p_value)


@pytest.mark.parametrize("loss", [Logistic(), Probit()], ids=repr)
def test_labels_are_drawn_with_the_probability_that_psi_gives(loss, chance):
    chance.holds(lambda seed, scale: smallest([*labels_p_values(loss, 100_000 * scale, seed)]))
    assert Logistic(2.0).simulate(np.zeros((2, 1)), np.random.default_rng(1)) is None


def labels_p_values(loss, n, seed):
    for f in (-2.0, 0.0, 0.8):
        one = np.array([[1.0]])
        p = np.exp(loss.log_psi(one, one * f))[0, 0]
        assert p + np.exp(loss.log_psi(-one, one * f))[0, 0] == pytest.approx(1.0)
        drawn = loss.simulate(np.full((n, 1), f), np.random.default_rng([1, seed, int(10 * f) + 20]))
        assert set(np.unique(drawn)) <= {-1.0, 1.0}
        yield of_mean(drawn > 0, p, np.sqrt(p * (1 - p)))


def test_binary_probabilities_of_the_logistic_loss():
    coding = Coding(np.empty((0, 1)), "binary", named("a", "b"))
    f = np.array([[-800.0], [-1.0], [0.0], [2.0], [800.0]])
    with np.errstate(all="raise", under="ignore"):
        p = Logistic().probabilities(f, coding)
    np.testing.assert_allclose(p[:, 1], [0.0, 1 / (1 + np.e), 0.5, 1 / (1 + np.exp(-2)), 1.0], atol=1e-15)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_published_class_probabilities_are_those_of_one_label_and_no_other():
    loss = Probit(probabilities="magnusson2020")
    coding = Coding(np.empty((0, 3)), "multiclass", named("a", "b", "c"))
    f = np.random.default_rng(2).normal(0, 1.5, (20, 3))
    exact = np.empty((20, 3))
    for c in range(3):
        y = np.where(np.arange(3) == c, 1.0, -1.0)
        exact[:, c] = np.exp(loss.log_psi(np.broadcast_to(y, f.shape), f).sum(axis=1))
    np.testing.assert_allclose(
        loss.probabilities(f, coding), exact / exact.sum(axis=1, keepdims=True), rtol=1e-9
    )


@pytest.mark.parametrize("loss", [Logistic(), Probit()], ids=repr)
def test_class_probabilities_are_those_of_each_model_divided_by_their_sum(loss):
    coding = Coding(np.empty((0, 3)), "multiclass", named("a", "b", "c"))
    f = np.random.default_rng(2).normal(0, 1.5, (20, 3))
    own = np.exp(loss.log_psi(1.0, f))
    np.testing.assert_allclose(loss.positive(f), own)
    np.testing.assert_allclose(loss.probabilities(f, coding), own / own.sum(axis=1, keepdims=True), rtol=1e-9)


def test_a_normalisation_is_named_and_kept_where_it_is_not_the_default():
    assert Probit().options() == {}
    assert Probit("magnusson2020").options() == {"probabilities": "magnusson2020"}
    coding = Coding(np.empty((0, 2)), "multiclass", named("a", "b"))
    assert Probit().calibrated_for(coding) and not Probit("magnusson2020").calibrated_for(coding)
    with pytest.raises(ValueError, match="probabilities must be one of sum, magnusson2020, not 'odds'"):
        Probit("odds")


@pytest.mark.parametrize("loss", [Logistic(), Probit(), Probit("magnusson2020")], ids=repr)
@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
def test_probabilities_at_the_extremes(loss, task):
    coding = Coding(np.empty((0, 3)), task, named("a", "b", "c"))
    f = np.array([[4.0, 5.0, -40.0], [-40.0, -41.0, -1e3], [1e3, -1e3, 0.0], [1e6, 1e6, -1e6]])
    with np.errstate(all="raise", under="ignore"):
        p = loss.probabilities(f, coding)
    assert np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()
    if task == "multiclass":
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert np.argmax(p[:3], axis=1).tolist() == [1, 0, 0]
        np.testing.assert_allclose(p[3, :2], 0.5)


def test_probit_probabilities_keep_their_ratio_far_out():
    """Far below 0, Phi(f)/Phi(-f) tends to Phi(f): its logarithms differ by those of the tails."""
    coding = Coding(np.empty((0, 2)), "multiclass", named("a", "b"))
    f = np.array([[-40.0, -40.02]])
    p = Probit().probabilities(f, coding)
    assert np.log(p[0, 0] / p[0, 1]) == pytest.approx(log_ndtr(-40.0) - log_ndtr(-40.02), rel=1e-9)


def weighted_ratios(loss, y, g, n, seed) -> tuple[np.ndarray, float]:
    """Gaussian ratios of n augmentations at weight 1.9 between f = .4 and g, and the power of psi's ratio."""
    f, weight, one, full = 0.4, 1.9, np.ones((1, 1)), np.ones((n, 1))
    rng = np.random.default_rng([3, seed, int(10 * g)])
    kappa, omega = loss.augment(f * full, y * full, rng, weight=weight * full)
    logs = loss.log_psi(y * one, g * one) - loss.log_psi(y * one, f * one)
    expected = np.exp(weight * logs)[0, 0]
    assert abs(expected ** (1 / weight) - expected) > 0.02  # a lost weight would be seen
    return np.exp(kappa * (g - f) - 0.5 * omega * (g * g - f * f)), expected


@pytest.mark.parametrize(
    "loss, y, places",
    [(Logistic(0.7), 1.0, (0.1, 0.7)), (EpsilonInsensitive(0.7, 0.2), 1.3, (0.1, 0.7))],
    ids=repr,
)
def test_a_weight_is_a_power_of_psi(loss, y, places, chance):
    """The mean over augmentations of the Gaussian ratio is the power of psi's ratio."""

    def p_value(seed, scale):
        return smallest([of_mean(*weighted_ratios(loss, y, g, 200_000 * scale, seed)) for g in places])

    chance.holds(p_value)


@pytest.mark.parametrize("g", [0.1, 0.7])
def test_a_weight_is_a_power_of_the_gaussian_psi(g):
    """Which is Gaussian itself: nothing is drawn."""
    ratio, expected = weighted_ratios(Gaussian(0.8), 1.3, g, 10, 0)
    np.testing.assert_allclose(ratio, expected, rtol=1e-9)


@pytest.mark.parametrize("loss", [Logistic(1e30), Logistic(1e-30), Logistic(256.0), Probit()], ids=repr)
def test_augmentation_of_classes_is_finite_at_any_score(loss):
    f = np.array([[0.0, 1e-300, 1.0, 40.0, 1e3, 1e6, 1e30], [0.0, -1e-300, -1.0, -40.0, -1e3, -1e6, -1e30]])
    for y in (-1.0, 1.0):
        kappa, omega = loss.augment(f, np.full(f.shape, y), np.random.default_rng(4))
        assert np.isfinite(kappa).all() and np.isfinite(omega).all() and (omega >= 0).all()


@pytest.mark.parametrize("cost", [1e-30, 102.4, 1e30])
def test_augmentation_of_real_responses_is_finite_on_the_kinks(cost):
    loss = EpsilonInsensitive(cost)
    f = np.array([[0.0, 1e-3, -1e-3, 1.0, 1e6, -1e6, 1e30]])
    kappa, omega = loss.augment(f, np.zeros(f.shape), np.random.default_rng(5))
    assert np.isfinite(kappa).all() and np.isfinite(omega).all() and (omega > 0).all()


LABELS = {"strings": ("cat", "dog"), "ints": (3, 100), "bools": (False, True), "floats": (-1.5, 2.0)}


@pytest.mark.filterwarnings("ignore:the responses are")
@pytest.mark.parametrize("loss", ["hinge", "logistic", "probit"])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_come_back_as_they_went_in(loss, labels):
    rng = np.random.default_rng(6)
    which = np.arange(40) % 2
    counts = rng.poisson(np.where(which[:, None] == 0, [5, 5, 0.1, 0.1], [0.1, 0.1, 5, 5]))
    truth = [labels[i] for i in which]
    corpus = Corpus.from_counts(counts, responses=truth)
    cost = {} if loss == "probit" else {"cost": 5.0}
    model = Model(2, alpha=0.1, beta=0.1, loss=resolve("losses", loss, **cost))
    found = fit(corpus, model, sweeps=40).predict(corpus)
    assert {type(v) for v in found.labels.tolist()} == {type(labels[0])}
    assert np.mean([a == b for a, b in zip(found.labels.tolist(), truth, strict=True)]) > 0.9
    if found.probabilities is not None:
        assert found.probabilities.shape == (40, 2)
        chosen = [labels[i] for i in found.probabilities.argmax(axis=1)]
        assert chosen == found.labels.tolist()


def test_a_variance_that_cannot_be_sampled_is_refused():
    loss = Gaussian()
    parameters = loss.start(1)
    with pytest.raises(ValueError, match=r"variance is above 1e\+30.*larger units or standardise=true"):
        loss.update(parameters, np.array([[10.0], [10.0 * 1e40]]), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("task", "weights", "found"),
    [
        ("multiclass", [1.0, -3.0, 2.0], [2, 0]),
        ("multilabel", [-1.0, -3.0, -2.0], [1]),
        ("multiclass", [-1.0, 0.5, -2.0], [1]),
        ("real", [1.0, -3.0, 2.0], [1, 2]),
        ("count", [1.0, -3.0, 2.0], [1, 2]),
        ("binary", [-0.5], [0]),
    ],
)
def test_what_a_topic_speaks_for(task, weights, found):
    coding = Coding(np.empty((0, len(weights))), task, np.array(["a", "b", "c"], dtype=object))
    assert coding.strongest(np.array(weights), 2) == found
