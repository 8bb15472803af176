"""`check_loss`, `check_prior` and `check_proposal` fail what is wrong, and pass what is right."""

import numpy as np
import pytest
from scipy import stats

import plugsamp as ps
from plugsamp.errors import NonFinite
from plugsamp.kernels.composed import ComposedMH
from plugsamp.losses.base import DrawError
from plugsamp.losses.gaussian import Gaussian
from plugsamp.losses.hinge import Hinge
from plugsamp.priors.base import WeightPrior
from plugsamp.proposals.table import TableProposal
from plugsamp.regression.precision import WeightError
from plugsamp.testing import CheckFailed, check_loss, check_prior, check_proposal, registered

pytestmark = pytest.mark.usefixtures("blas_limited")

# -- losses --------------------------------------------------------------------------------------------


def changed(base, **methods):
    """A subclass in which some results pass through a function."""

    def method(name, change):
        original = getattr(base, name)

        def wrapped(self, *arguments, **options):
            return change(original(self, *arguments, **options))

        return wrapped

    return type(base.__name__, (base,), {name: method(name, change) for name, change in methods.items()})


def _nan_far_out(pair):
    kappa, omega = pair
    return np.where(np.abs(kappa) > 1e4, np.nan, kappa), omega


HALF = {"cost": 1.1}
WRONG_LOSSES = {
    "kappa off by a tenth": (changed(Hinge, augment=lambda p: (1.1 * p[0], p[1])), HALF, "psi"),
    "omega off by a tenth": (changed(Hinge, augment=lambda p: (p[0], 1.1 * p[1])), HALF, "psi"),
    "negative omega": (changed(Hinge, augment=lambda p: (p[0], -p[1])), HALF, "omega 0 or more"),
    "another psi": (changed(Hinge, log_psi=lambda v: 0.5 * v), HALF, "log_psi says"),
    "not finite far out": (changed(Gaussian, augment=_nan_far_out), {"variance": 1.0}, "must be finite"),
    "biased simulate": (changed(Gaussian, simulate=lambda y: y + 0.1), {"variance": 1.0}, "simulate"),
    "another cdf": (changed(Gaussian, cdf=lambda p: p**1.1), {"variance": 1.0}, "not proportional to psi"),
    "a mean that is not": (changed(Gaussian, mean=lambda m: 1.1 * m), {"variance": 1.0}, "mean"),
}


@pytest.mark.parametrize("mistake", WRONG_LOSSES)
def test_a_wrong_loss_fails(mistake, chance):
    cls, options, said = WRONG_LOSSES[mistake]
    for seed in chance.shifts():
        with pytest.raises(CheckFailed, match=said):
            check_loss(cls(**options), chains=False, seed=seed)


class WrongShape(Gaussian):
    """One degree of freedom less in the update of the variance."""

    def update(self, parameters, total, rng):
        super().update(parameters, total - np.array([[1.0], [0.0]]), rng)


class WrongPower(Hinge):
    """The weight multiplies omega alone."""

    def augment(self, f, y, rng, weight=None):
        kappa, omega = super().augment(f, y, rng)
        return kappa, omega if weight is None else omega * weight


class OwnRandomness(Hinge):
    def augment(self, f, y, rng, weight=None):
        return super().augment(f, y, np.random.default_rng(), weight)


class NoForward(Gaussian):
    def simulate_parameters(self, n_outputs, rng):
        return self.start(n_outputs)


@pytest.mark.parametrize(
    "loss, said",
    [
        (WrongShape(shape=3.0, rate=2.0), "update is no draw"),
        (WrongPower(1.1), "weight 0.4"),
        (OwnRandomness(1.1), "something else than the generator"),
        (NoForward(shape=3.0, rate=2.0), "gives the same twice"),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, Hinge | Gaussian) else "",
)
def test_a_loss_wrong_in_other_ways_fails(loss, said, chance):
    for seed in chance.shifts():
        with pytest.raises(CheckFailed, match=said):
            check_loss(loss, chains=False, seed=seed)


WRONG_AUGMENTS = {
    "omega alone": (
        lambda kappa, omega: omega,
        r"must return \(kappa, omega\), not an array of shape \(6, 2\)",
    ),
    "nothing": (lambda kappa, omega: None, r"must return \(kappa, omega\), not None"),
    "a number": (lambda kappa, omega: (kappa, 1.0), r"omega has shape \(\) for f of shape \(6, 2\)"),
    "a column": (lambda kappa, omega: (kappa[:, 0], omega), r"kappa has shape \(6,\)"),
    "NaN": (lambda kappa, omega: (kappa, omega * np.nan), r"^[^-]*- kappa and omega must be finite.*all\)$"),
}


@pytest.mark.parametrize("mistake", WRONG_AUGMENTS)
def test_what_augment_may_not_return(mistake):
    change, said = WRONG_AUGMENTS[mistake]
    loss = changed(Hinge, augment=lambda drawn: change(*drawn))(1.1)
    with pytest.raises(CheckFailed, match=said) as failed:
        check_loss(loss, chains=False)
    assert "something else than the generator" not in str(failed.value)
    corpus = ps.Corpus.from_counts([[1, 2], [2, 0], [1, 1]], responses=["a", "b", "a"])
    with pytest.raises((DrawError, WeightError, NonFinite), match=r"augment|drawn by"):
        ps.Chain(corpus, ps.Model(2, loss=loss), seed=0).run(1)


def test_other_parts_of_the_wrong_kind():
    corpus = ps.Corpus.from_counts([[1, 2], [2, 0], [1, 1]], responses=["a", "b", "a"])
    for change, shape in ((np.sum, r"\(\)"), (lambda v: float(v.sum()), r"\(\)"), (np.ravel, r"\((12|3),\)")):
        loss = changed(Hinge, log_psi=change)(1.1)
        said = rf"log_psi of Hinge has shape {shape} for f of shape \(\d, \d\), \(documents, outputs\)"
        with pytest.raises(CheckFailed, match=f"{said}: it is elementwise"):
            check_loss(loss)
        with pytest.raises(DrawError, match=said):
            ps.fit(corpus, ps.Model(2, loss=loss), sweeps=2)
    loss = changed(Hinge, log_psi=lambda v: v * np.nan)(1.1)
    with pytest.raises(
        NonFinite, match=r"sweep 1: the responses part .* is nan, by log_psi of Hinge\(cost=1\.1"
    ):
        ps.fit(corpus, ps.Model(2, loss=loss), sweeps=2)
    with pytest.raises(CheckFailed, match="code must return a Coding"):
        check_loss(changed(Hinge, code=lambda coding: coding.y)(1.1))
    with pytest.raises(TypeError, match=r"subclass of plugsamp\.losses\.Loss"):
        check_loss(object())


def test_an_exception_says_which_plugin_it_comes_from():
    loss = changed(Hinge, augment=lambda drawn: {}["key"])(1.1)
    with pytest.raises(KeyError) as failed:
        check_loss(loss)
    assert failed.value.__notes__ == ["in `augment` of the loss Hinge"]


class Drifting(Hinge):
    """Wrong for blocks of documents of the size that chains of the kit have, and nowhere else."""

    def augment(self, f, y, rng, weight=None):
        kappa, omega = super().augment(f, y, rng, weight)
        return kappa * (1.0 + 0.6 * (f.shape in ((4, 1), (3, 3)))), omega


@pytest.mark.slow
def test_chains_see_more_than_the_parts(chance):
    chance.sound(lambda seed: check_loss(Drifting(1.1), chains=False, seed=seed))
    for seed in chance.shifts():
        with pytest.raises(CheckFailed, match="enumerated posterior"):
            check_loss(Drifting(1.1), seed=seed)


@pytest.mark.parametrize("loss", registered("losses"))
def test_registered_losses_pass(loss, chance):
    # chains have files of their own here
    chance.sound(lambda seed: check_loss(loss, chains=False, seed=seed))


# -- priors --------------------------------------------------------------------------------------------


class Student(WeightPrior):
    """eta_cj ~ t: a precision of gamma(shape, rate) for each weight, the intercept's fixed."""

    half = 0.5

    def start(self, n_outputs, columns):
        return {"precision": np.ones((n_outputs, len(columns)))}

    def simulate(self, n_outputs, columns, rng):
        state = self.start(n_outputs, columns)
        state["precision"][:, columns.shrunk] = (
            rng.standard_gamma(2.0, (n_outputs, columns.shrunk.sum())) / 2.0
        )
        return state

    def precision(self, state, c, columns):
        return np.clip(state["precision"][c], 1e-200, None)

    def update(self, state, c, columns, eta, rng):
        rate = 2.0 + self.half * eta[columns.shrunk] ** 2
        state["precision"][c, columns.shrunk] = rng.standard_gamma(2.5, len(rate)) / rate

    def log_density(self, state, eta, columns):
        return float(stats.norm.logpdf(eta, scale=state["precision"] ** -0.5).sum())


class ForgottenHalf(Student):
    half = 1.0


class OtherDensity(Student):
    def log_density(self, state, eta, columns):
        return 2.0 * super().log_density(state, eta, columns)


@pytest.mark.parametrize("prior, said", [(ForgottenHalf, "update is no draw"), (OtherDensity, "log_density")])
def test_a_wrong_prior_fails(prior, said, chance):
    chance.sound(lambda seed: check_prior(Student(), seed=seed))
    for seed in chance.shifts():
        with pytest.raises(CheckFailed, match=said):
            check_prior(prior(), seed=seed)


@pytest.mark.parametrize("prior", registered("priors"))
def test_registered_priors_pass(prior, chance):
    chance.sound(lambda seed: check_prior(prior, seed=seed))


# -- proposals -----------------------------------------------------------------------------------------


class ByRank(TableProposal):
    """An absurd table, which is right all the same."""

    by = "word"

    def tables(self, view):
        return np.arange(view.n_words * view.n_topics).reshape(view.n_words, -1) % 3


class Peeking(TableProposal):
    """A table by document of the topics that its tokens have, smuggled in, as AliasLDA was published."""

    by = "document"

    def tables(self, view):
        doc_topic = np.full((len(view), view.n_topics), 0.1)
        np.add.at(doc_topic, (np.repeat(np.arange(len(view)), view.lengths), view._z), 1.0)
        return doc_topic


def test_a_table_that_peeks_fails(chance):
    chance.sound(lambda seed: check_proposal(ByRank, losses=["none"], seed=seed))
    for seed in chance.shifts():
        with pytest.raises(CheckFailed, match="own topic is used"):
            check_proposal(Peeking, losses=["none"], seed=seed)


#: Ours are in the battery with all that this looks at; two of them show that it finds nothing wrong in them.
OURS = {"exp", "sparse", "word"}


@pytest.mark.parametrize(
    "proposal",
    [pytest.param(p, marks=[pytest.mark.slow] * (p in OURS)) for p in registered("proposals")],
)
def test_registered_proposals_pass(proposal, chance):
    chance.sound(lambda seed: check_proposal(proposal, losses=["hinge"], seed=seed))


def test_a_proposal_is_a_name_a_class_or_an_object():
    for given in ("doc", ByRank, ByRank()):
        assert ComposedMH([given]).proposals == [given]
    assert ComposedMH(ByRank).proposals == [ByRank]
