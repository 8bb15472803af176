"""Class probabilities against simulation: of documents given .8, so many have the class."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit, softmax

import plugsamp as ps

#: Shares of the classes where words say nothing.
SHARES = {
    "even2": [0.5, 0.5],
    "skewed2": [0.9, 0.1],
    "even3": [1 / 3] * 3,
    "skewed3": [0.9, 0.07, 0.03],
    "even5": [0.2] * 5,
    "skewed5": [0.6, 0.2, 0.1, 0.07, 0.03],
}
LOSSES = ["logistic", "probit", "multinomial"]
WAYS = {"multitask": {}, "ovr": {"multiclass": "ovr"}, "chains": {"chains": 2}}
N_TRAIN, N_TEST = 1200, 400


def simulated(loss, shares, signal, n, rng, n_topics=4, n_words=80, length=30):
    """Counts (n, 80), classes (n,) and P(class | topics) of documents of 30 words.

    P(class) is a softmax, or by stick-breaking for the loss that is a model of all classes.
    """
    phi = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    topics = np.array([rng.multinomial(length, t) for t in rng.dirichlet(np.full(n_topics, 0.5), n)])
    counts = sum(rng.multinomial(topics[:, k], phi[k]) for k in range(n_topics))
    f = topics / length @ rng.normal(0, signal, (n_topics, len(shares)))
    f -= f.mean(axis=0)
    if loss == "multinomial":
        later = np.cumsum(shares[::-1])[::-1]
        stick = expit(f[:, :-1] + logit(shares[:-1] / later[:-1]))
        rest = np.cumprod(1 - stick, axis=1)
        p = np.column_stack([stick, rest[:, -1]])
        p[:, 1:-1] *= rest[:, :-1]
    else:
        p = softmax(f + np.log(shares), axis=1)
    return counts, (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, len(shares) - 1), p


def fitted(loss, way, shares, signal, seed, n_test=N_TEST):
    """Predictions of new documents, their classes, and P(class | topics)."""
    rng = np.random.default_rng(seed)
    counts, y, p = simulated(loss, np.array(shares), signal, N_TRAIN + n_test, rng)
    prior = ps.priors.Normal(variance=max(signal, 1.0) ** 2)
    loss = ps.losses.Multinomial(order="label") if loss == "multinomial" else loss
    model = ps.Model(4, alpha=0.5, beta=0.1, loss=loss, weights=prior, intercept=True)
    train = ps.Corpus.from_counts(counts[:N_TRAIN], responses=y[:N_TRAIN])
    found = ps.fit(train, model, sweeps=60, seed=seed % 2**31, **WAYS[way])
    return found.predict(ps.Corpus.from_counts(counts[N_TRAIN:])), y[N_TRAIN:], p[N_TRAIN:]


def reliability(p, hit, n_bins=4):
    """z of the number of hits in each bin of the probability of one class.

    The model's own error is that of an estimate from N_TRAIN documents, so it adds to the variance.
    """
    bins = np.array_split(np.argsort(p), n_bins)
    expected = np.array([p[b].sum() for b in bins])
    variance = np.array([(p[b] * (1 - p[b])).sum() for b in bins])
    return (np.array([hit[b].sum() for b in bins]) - expected) / np.sqrt(
        variance * (1 + len(p) / N_TRAIN) + 0.05
    )


def one_model(loss, way, shares):
    return (loss == "multinomial" and way != "ovr") or len(SHARES[shares]) == 2


def p_of_reliability(loss, way, shares, signal):
    def p_value(seed, scale):
        squares, n = 0.0, 0
        for s in range(scale):
            prediction, y, _ = fitted(loss, way, SHARES[shares], signal, seed + s)
            assert prediction.calibrated is one_model(loss, way, shares) and prediction.likelihood
            # The most frequent class alone: those of the others add up to the same.
            z = reliability(prediction.probabilities[:, 0], y == 0)
            squares, n = squares + (z**2).sum(), n + len(z)
        return stats.chi2.sf(squares, n)

    return p_value


#: Each loss, each way and each strength of signal once at least.
FEW = [
    ("multinomial", "multitask", "skewed3", 8.0),
    ("multinomial", "chains", "skewed5", 8.0),
    ("logistic", "ovr", "skewed2", 0.0),
    ("probit", "multitask", "skewed2", 0.0),
]

#: All but strong signals where each class has a model of its own: see the test of those.
ALL = [
    case
    for case in itertools.product(LOSSES, WAYS, SHARES, (0.0, 8.0))
    if case[3] == 0.0 or one_model(*case[:3])
]


@pytest.mark.parametrize("loss, way, shares, signal", FEW)
def test_probabilities_are_calibrated(chance, loss, way, shares, signal):
    chance.holds(p_of_reliability(loss, way, shares, signal))


@pytest.mark.slow
@pytest.mark.parametrize("loss, way, shares, signal", ALL)
def test_probabilities_are_calibrated_in_all_ways(chance, loss, way, shares, signal):
    chance.holds(p_of_reliability(loss, way, shares, signal))


@pytest.mark.parametrize(
    "loss", [pytest.param(loss, marks=[pytest.mark.slow] * (loss != "multinomial")) for loss in LOSSES]
)
def test_without_signal_the_log_loss_is_that_of_the_shares(loss):
    prediction, y, p = fitted(loss, "multitask", SHARES["skewed3"], 0.0, seed=5)
    rows = np.arange(len(y))
    ours, best = -np.log(prediction.probabilities[rows, y]), -np.log(p[rows, y])
    assert ours.mean() == pytest.approx(best.mean(), abs=0.02)
    assert np.allclose(prediction.probabilities.sum(axis=1), 1)


def test_normalised_odds_are_seen_to_be_off(chance):
    def p_value(seed, scale):
        loss = ps.losses.Probit(probabilities="magnusson2020")
        prediction, y, _ = fitted(loss, "multitask", SHARES["skewed2"], 0.0, seed, N_TEST * scale)
        assert prediction.calibrated is False
        return stats.chi2.sf((reliability(prediction.probabilities[:, 0], y == 0) ** 2).sum(), 4)

    chance.fails(p_value)


@pytest.mark.slow
def test_a_model_of_each_class_is_seen_to_be_too_cautious(chance):
    """Why they say that they are not calibrated; the probability is that of the class that is predicted."""

    def p_value(seed, scale):
        z = []
        for s in range(4 * scale):  # one of them has z of 3.5 +- .8
            prediction, y, _ = fitted("logistic", "multitask", SHARES["even5"], 8.0, seed + s, 800)
            assert prediction.calibrated is False and prediction.likelihood
            p = prediction.probabilities
            z += reliability(p.max(axis=1), p.argmax(axis=1) == y).tolist()
        return stats.norm.sf(sum(z) / np.sqrt(len(z)))

    chance.fails(p_value)
