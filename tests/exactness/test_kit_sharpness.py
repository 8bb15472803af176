"""The checks see what they are for: the correct plain sampler passes, every named mutant fails."""

from dataclasses import replace

import numpy as np
import pytest

from plugsamp.losses.hinge import Hinge
from plugsamp.losses.none import NoLoss
from plugsamp.testing import (
    MUTANTS,
    Case,
    Enumeration,
    ReferenceSampler,
    cases_for,
    check_invariance,
)
from plugsamp.testing.reference import fast_topic


def p_value(exact, seed, scale, restarts=250, **options):
    """Of runs of the plain sampler from exact draws."""
    sampler = ReferenceSampler(exact.case, seed=seed, **options)
    return check_invariance(sampler, exact, restarts=restarts * scale, sweeps=10, seed=seed).p_value


CORRECT = [
    ("hinge", 0, {"kernel": "dense", "collapse": "full", "weight_update": "block"}),
    ("hinge", 0, {"kernel": "dense", "collapse": "partial", "weight_update": "coordinate"}),
    ("hinge", 0, {"kernel": "composed", "collapse": "full", "composition": "mixture", "steps": 3}),
    ("hinge", 1, {"kernel": "composed", "collapse": "partial", "composition": "cycle", "steps": 3}),
    ("hinge", 2, {"kernel": "composed", "collapse": "partial", "composition": "mixture", "steps": 2}),
    ("none", 1, {"kernel": "fastlda"}),
    ("none", 0, {"kernel": "composed", "proposals": ("doc", "word"), "composition": "cycle", "steps": 1}),
]


@pytest.mark.parametrize(
    "loss, index, options",
    [pytest.param(*one, marks=[pytest.mark.slow] * (one[:2] == ("hinge", 1))) for one in CORRECT],
)
def test_correct_reference_passes(loss, index, options, chance):
    exact = Enumeration(cases_for(loss)[index])
    chance.holds(lambda seed, scale: p_value(exact, seed, scale, **options))


#: Where each mistake shows: short documents, few words, little prior mass.
SMALL = Case("small", ((0, 1, 2, 3), (0, 1)), n_words=4, n_topics=2, alpha=(0.5, 0.4), beta=0.1)
WRONG = {
    "doc-counts-with-token": (SMALL, {"kernel": "composed", "proposals": ("doc",), "steps": 1}),
    "word-counts-with-token": (SMALL, {"kernel": "dense"}),
    "fastlda-min-with-token": (SMALL, {"kernel": "fastlda"}),
    "inverted-test": (SMALL, {"kernel": "composed", "proposals": ("doc", "word"), "steps": 2}),
}


@pytest.mark.parametrize("mutant", WRONG)
def test_mutant_fails(mutant, chance):
    case, options = WRONG[mutant]
    exact = Enumeration(case)
    chance.holds(lambda seed, scale: p_value(exact, seed, scale, **options))
    chance.fails(lambda seed, scale: p_value(exact, seed, scale, restarts=500, mutant=mutant, **options))


class Held(ReferenceSampler):
    """Topics alone are sampled: (kappa, omega, eta) stay as they are set."""

    def _augment(self):
        pass

    def _draw_weights(self):
        pass


HELD = {
    "exp-own-scores": {"kernel": "composed", "proposals": ("exp",), "steps": 1},
    "stale-response": {"kernel": "dense"},
}


@pytest.mark.parametrize("collapse", ["full", "partial"])
@pytest.mark.parametrize("mutant", HELD)
def test_mutant_of_the_response_fails(mutant, collapse, chance):
    """With the augmentation held, z alone is sampled and mixes well, whatever the size of omega."""
    case = Case("held", ((0, 1, 1), (0, 1)), 2, 2, (0.5, 0.8), (0.6, 0.7), Hinge(), np.array([1, 0]))
    eta, kappa, omega = np.array([[2.0, -1.5]]), np.array([[1.0], [-0.5]]), np.array([[1.5], [1.0]])
    plain = replace(case, loss=NoLoss())
    exact = Enumeration(plain)
    f = np.array([case.design(z) @ eta[0] for z in exact.z])
    exact = exact.tilted((kappa[:, 0] * f - 0.5 * omega[:, 0] * f * f).sum(axis=1))

    def held(seed, scale, flag):
        sampler = Held(case, seed=seed, collapse=collapse, mutant=flag, **HELD[mutant])
        sampler.eta[:], sampler.kappa, sampler.omega = eta, kappa, omega
        restarts = 500 if flag else 250
        return check_invariance(sampler, exact, restarts=restarts * scale, sweeps=10, seed=seed).p_value

    chance.holds(lambda seed, scale: held(seed, scale, None))
    chance.fails(lambda seed, scale: held(seed, scale, mutant))


def test_every_mutant_is_tried():
    assert {*WRONG, *HELD} == set(MUTANTS)


def test_fast_topic_draws_from_the_product():
    """Over an even grid of u each topic gets its share; with too small a norm it does not."""
    rng = np.random.default_rng(5)
    u = (np.arange(20_000) + 0.5) / 20_000
    worst = 0.0
    for _ in range(3):
        a, b, c = rng.random(4) + 0.1, rng.random(4) + 0.1, rng.random(4) + 0.1
        p = a * b * c / (a * b * c).sum()
        lists = [v.tolist() for v in (a, b, c)]

        def share(norm, lists=lists):
            return np.bincount([fast_topic(*lists, norm, x) for x in u], minlength=4) / len(u)

        np.testing.assert_allclose(share(c.max()), p, atol=4e-4)
        worst = max(worst, np.abs(share(0.4 * c.max()) - p).max())
    assert worst > 1e-2
